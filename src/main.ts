/** The process: config → parts → app → listen → drain on SIGTERM. */
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { connectChain, openInstallation } from './installation.ts'
import { createHttpServer, type Door } from './platform/http-server.ts'
import { createLog } from './platform/log.ts'

const DRAIN_MILLISECONDS = 10_000
const SWEEP_MILLISECONDS = 3_600_000

const say = (text: string) => process.stdout.write(`${text}\n`)

async function main() {
  const config = readConfig()
  const log = createLog(config.logLevel)
  // The port is taken first: a second start is told at once, and nothing of the first is touched.
  const doors: Door[] = []
  const server = createHttpServer({ doors, log })
  const port = await server.listen(config.port, config.host)
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`

  const installation = await openInstallation(config, log)
  const chain = await connectChain(installation, publicUrl)
  const app = createApp({
    ...installation,
    relay: chain.relay,
    publicUrl,
    missing: async () => ((await installation.database.isReachable()) ? [] : ['database']),
  })
  await app.prepare()
  chain.relay.start()
  doors.push(...app.doors)

  const sweep = setInterval(() => {
    const tidy = async () => {
      await app.maintenance.sweep()
      await app.maintenance.collectGarbage()
    }
    tidy().catch((error: unknown) => log.warn({ err: error }, 'Tidying up failed; it is tried again in an hour'))
  }, SWEEP_MILLISECONDS)

  const { parts } = installation
  say(`Annal is ready.
  Playground  ${publicUrl}/graphql
  REST        ${publicUrl}/api/v3
  Data        ${config.dir}
    database  ${parts.database}
    chain     ${parts.chain} (${new URL(chain.rpcUrl).host})
    files     ${parts.files}
    keys      ${parts.keys}
Stop with Ctrl-C; the data stays.`)

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'Draining')
    clearInterval(sweep)
    await server.drain(DRAIN_MILLISECONDS)
    await chain.close()
    await installation.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
