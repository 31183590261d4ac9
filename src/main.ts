/** The process: config → parts → app → listen → drain on SIGTERM. */
import manifest from '../package.json' with { type: 'json' }
import { type App, createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { roles as allRoles } from './domain/roles.ts'
import { schema } from './graphql/schema.ts'
import { readTrustedDocuments } from './graphql/trusted-documents.ts'
import { connectChain, type Installation, openInstallation } from './installation.ts'
import { startLoops } from './loops.ts'
import { createHttpServer, type HttpHandler, type HttpServer } from './platform/http/http-server.ts'
import { repeat } from './platform/jobs/repeat.ts'
import { createLog } from './platform/log.ts'
import { BEAT_EVERY_MS, createPresence } from './platform/processes.ts'
import { stopSignal } from './platform/stop-signal.ts'
import { openTelemetry } from './platform/telemetry/telemetry.ts'
import { createProbes, createProbesOnly } from './rest/probes.ts'
import { presentError } from './rest/status.ts'
import { createServices, type ServiceLayer } from './services.ts'

/** Requests, jobs and commits that are under way: all of them at once. Jobs that take longer are done again by another process. */
const DRAIN_MS = 9_000
/** All of stopping, or of what was left of starting and then stopping: less than supervisors wait before they kill. */
const STOP_MS = 15_000

const say = (text: string) => process.stdout.write(`${text}\n`)

/**
 * Serves until a signal stops it, and then ends the process. `overrides`: variables as the command line gives them. Raises
 * ConfigError, and what keeps the service from starting.
 */
export async function serve(overrides: Parameters<typeof readConfig>[1] = {}): Promise<never> {
  const config = readConfig(undefined, overrides)
  // Told before anything is opened.
  const { trustedDocuments, introspection } = config.graphql
  if (trustedDocuments) readTrustedDocuments(trustedDocuments, schema, introspection)
  const telemetry = await openTelemetry({
    hasMetrics: config.metrics.isOn,
    tracing: config.tracing,
    version: manifest.version,
  })
  const log = createLog(config.logLevel, { tracer: telemetry.tracer })
  // Also while it starts: what is half started is not left behind.
  const stopped = stopSignal(STOP_MS)
  // The port is taken first: a second start is told at once, and nothing of the first is touched.
  const handlers: HttpHandler[] = []
  const server = createHttpServer({
    handlers,
    presentError,
    log,
    publicUrl: config.publicUrl,
    telemetry: telemetry.requests,
  })
  const { port, healthPort } = await listen(server, config)
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`

  let isStopping = false
  const installation = await openInstallation(config, log, { mayMigrate: true, telemetry })
  const { database } = installation
  const presence = createPresence({ database, roles: config.roles })
  const chain = await connectChain(installation, publicUrl)
  const parts = {
    ...installation,
    // What makes commits ready in another process looks for them every second.
    relay: chain.relay,
    coins: chain.chainCoins,
    gasFee: chain.gasQuote?.current,
    histories: chain.histories,
    publicUrl,
  }
  const probes = {
    missing: async () => (isStopping ? ['stopping'] : (await database.isReachable()) ? [] : ['database']),
    degraded: async () => (await presence.missingRoles().catch(() => [])).map((role) => `role ${role}`),
    version: manifest.version,
  }
  const layer: ServiceLayer & Partial<App> = config.roles.has('http')
    ? createApp({ ...parts, ...probes })
    : createServices(parts)
  await layer.prepare()
  await presence.beat()
  const beats = repeat(presence.beat, BEAT_EVERY_MS, log, 'It could not be said that this process lives')
  const watched = { ...layer.watched, database, relay: chain.relay }
  const access = { token: config.metrics.token, port: healthPort }
  handlers.push(
    ...telemetry.createHandlers({ watched, access, log }),
    ...(layer.handlers ?? [createProbesOnly(createProbes(probes))]),
  )
  const loops = await startLoops({ installation, chain, layer }, config.roles)
  say(announce(installation, { publicUrl, rpcHost: chain.registry.rpc.host }))

  const signal = await stopped
  log.info({ signal }, 'Draining')
  isStopping = true
  await Promise.all([server.drain(DRAIN_MS), loops.stop(DRAIN_MS), chain.close(), beats.stop()])
  await layer.services.sessions
    .recordUse()
    .catch((error: unknown) => log.warn({ err: error }, 'The use of sessions was not recorded'))
  await presence.leave().catch(() => undefined)
  await installation.close()
  await telemetry.close()
  return process.exit(0)
}

/** Takes the ports that this process answers at. A process without requests has probes alone, at one port. */
async function listen(server: HttpServer, { roles, port: wanted, healthPort, host }: Config) {
  const listenForOperators = async () =>
    healthPort === undefined ? undefined : await server.listen(healthPort, host, 'HEALTH_PORT')
  if (roles.has('http') || healthPort === undefined) {
    const port = await server.listen(wanted, host)
    return { port, healthPort: await listenForOperators() }
  }
  return { port: wanted, healthPort: await listenForOperators() }
}

/** What is told to whoever has started it. */
function announce(
  { config: { roles, dir }, parts }: Installation,
  { publicUrl, rpcHost }: { publicUrl: string; rpcHost: string },
): string {
  const doors = `
  Playground  ${publicUrl}/graphql
  REST        ${publicUrl}/api/v3`
  return `Annal is ready.${roles.has('http') ? doors : ''}${
    roles.size < allRoles.length
      ? `
  Roles       ${[...roles].join(', ')}`
      : ''
  }
  Data        ${dir}
    database  ${parts.database}
    chain     ${parts.chain} (${rpcHost})
    files     ${parts.files}
    keys      ${parts.keys}
    mail      ${parts.mail}
Stop with Ctrl-C; the data stays.`
}

if (import.meta.main) {
  serve().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  })
}
