/**
 * Several processes on one machine: the supervisor opens what is embedded and migrates, forks so many workers for requests and one
 * for all other roles, and answers operators for all of them (decision 42).
 */
import { extname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import { announce } from './announce.ts'
import type { Config } from './config.ts'
import { assertRegistryChosen, startEmbeddedChain } from './connect-chain.ts'
import { type Installation, openInstallation } from './installation.ts'
import { createHttpServer, type HttpHandler } from './platform/http/http-server.ts'
import { createLifecycleLog } from './platform/lifecycle-log.ts'
import { createLog } from './platform/log.ts'
import { createPresence } from './platform/processes.ts'
import { ABANDON_MS, type StopReason, stopSignal } from './platform/stop-signal.ts'
import { createRequestTelemetry } from './platform/telemetry/request-telemetry.ts'
import { logUnhandledRejections } from './platform/unhandled-rejections.ts'
import { createCrew, type Member } from './platform/workers/crew.ts'
import { createProbes, createProbesOnly, findAwayParts } from './rest/probes.ts'
import { presentError } from './rest/status.ts'

/** All of stopping: the workers have fifteen seconds, and then what is embedded stops. Less than supervisors of ours wait. */
const STOP_MS = 19_000

const program = fileURLToPath(new URL(`worker${extname(import.meta.url)}`, import.meta.url))

const isDatabaseAway = async ({ database, isDatabaseThere }: Installation) =>
  !((await database.isReachable()) && (await isDatabaseThere()))

/** A worker for each number, and one for what is left to do. */
function membersOf({ workers, roles }: Config): Member[] {
  const left = [...roles].filter((role) => role !== 'http').join(',')
  const numbers = Array.from({ length: workers }, (_, index) => index + 1)
  return [
    ...numbers.map((number) => ({ name: `http-${number}`, args: [`http-${number}`, 'http'] })),
    ...(left ? [{ name: 'background', args: ['background', left] }] : []),
  ]
}

/** Serves with workers until a signal stops it, and then ends the process. Raises what keeps it, or a worker, from starting. */
export async function supervise(config: Config): Promise<never> {
  const log = createLog(config.logLevel)
  const lifecycle = createLifecycleLog(log, { version: manifest.version, isWorker: false })
  logUnhandledRejections(log)
  const stopped = stopSignal(config.shutdownDelayMs + STOP_MS - ABANDON_MS, abandon)
  void stopped.then(lifecycle.shuttingDown)
  const readAllMetrics = async () => {
    const { mergeMetrics } = await import('./platform/telemetry/merge-metrics.ts')
    return mergeMetrics(await crew.readMetrics())
  }
  const crew = createCrew({ program, log, readAllMetrics })
  const handlers: HttpHandler[] = []
  const { watch, follow } = createRequestTelemetry()
  const server = createHttpServer({
    handlers,
    presentError,
    log,
    publicUrl: config.publicUrl,
    telemetry: follow({ log, sampleRate: config.requestSampleRate }),
  })
  let opening: Promise<Installation> | undefined
  let installation: Installation | undefined
  let startingChain: ReturnType<typeof startEmbeddedChain> | undefined
  let chain: { stop(): Promise<void> } | undefined
  let isStopping = false

  async function start() {
    if (config.healthPort !== undefined) await server.listen(config.healthPort, config.host, 'HEALTH_PORT')
    const [first, ...others] = membersOf(config)
    // A port that is taken is told once, and before anything is opened.
    const port = await crew.startFirst(first!)
    opening = openInstallation(config, log, { mayMigrate: true })
    installation = await opening
    await assertRegistryChosen(config, installation)
    startingChain = startEmbeddedChain(config, log, installation)
    chain = await startingChain
    handlers.push(...(await operatorsHandlers(installation)))
    for (const member of others) crew.start(member)
    const publicUrl = config.publicUrl ?? `http://localhost:${port}`
    await crew.open(publicUrl)
    lifecycle.ready({ url: publicUrl, roles: config.roles, workers: config.workers })
    announce(installation, { publicUrl, workers: config.workers })
  }

  /** What supervisors and Prometheus ask at the port of operators. */
  async function operatorsHandlers(parts: Installation): Promise<HttpHandler[]> {
    const { database } = parts
    const presence = createPresence({ database, roles: new Set() })
    const probes = createProbes({
      version: manifest.version,
      async missing() {
        if (isStopping) return ['stopping']
        const serving = config.workers - crew.absent().filter((name) => name.startsWith('http-')).length
        return [...(serving ? [] : ['workers']), ...((await isDatabaseAway(parts)) ? ['database'] : [])]
      },
      degraded: async () => [
        ...crew.absent().map((name) => `worker ${name}`),
        ...(await findAwayParts(parts)),
        ...(await presence.missingRoles().catch(() => [])).map((role) => `role ${role}`),
      ],
    })
    const { createMetricsHandler } = await import('./platform/telemetry/metrics-handler.ts')
    const access = { token: config.metrics.token, port: config.healthPort }
    return [createMetricsHandler({ access, watch, scrape: readAllMetrics }), createProbesOnly(probes, watch)]
  }

  async function stop() {
    isStopping = true
    await crew.stop()
    await server.drain(0)
    await chain?.stop()
    await installation?.close()
  }

  /** Workers that are told again end at once. They use what is embedded, so it stops after them. */
  async function abandon(reason: StopReason) {
    lifecycle.stopped(reason)
    await crew.stop()
    await Promise.allSettled([
      startingChain?.then((embedded) => embedded?.stop()),
      opening?.then((parts) => parts.abandon()),
    ])
  }

  const failed = start().then(
    () => new Promise<never>(() => {}),
    (error: unknown) => ({ error }),
  )
  const end = await Promise.race([failed, stopped])
  if (typeof end === 'object') {
    await stop()
    throw end.error
  }
  isStopping = true
  crew.leave()
  await delay(config.shutdownDelayMs)
  await stop()
  lifecycle.stopped()
  return process.exit(0)
}
