/** A process with its roles: config → parts → app → listen → drain on SIGTERM. */
import { setTimeout as delay } from 'node:timers/promises'
import manifest from '../package.json' with { type: 'json' }
import { announce } from './announce.ts'
import type { App } from './app.ts'
import type { Config } from './config.ts'
import { assertRegistryChosen, type ChainConnection, connectChain } from './connect-chain.ts'
import { type Installation, openInstallation } from './installation.ts'
import { startLoops } from './loops.ts'
import { createHttpServer, type HttpHandler, type HttpServer } from './platform/http/http-server.ts'
import { repeat } from './platform/jobs/repeat.ts'
import { createLifecycleLog } from './platform/lifecycle-log.ts'
import { createLog } from './platform/log.ts'
import { BEAT_EVERY_MS, createPresence } from './platform/processes.ts'
import { ABANDON_MS, type StopReason, stopSignal } from './platform/stop-signal.ts'
import { openTelemetry } from './platform/telemetry/telemetry.ts'
import { logUnhandledRejections } from './platform/unhandled-rejections.ts'
import type { SupervisorLink } from './platform/workers/supervisor-link.ts'
import { createProbes, createProbesOnly, findAwayParts } from './rest/probes.ts'
import { presentError } from './rest/status.ts'
import { createServices, type ServiceLayer } from './services.ts'

/** Requests, jobs and commits that are under way: all of them at once. Jobs that take longer are done again by another process. */
const DRAIN_MS = 9_000
/** All of stopping, or of what was left of starting and then stopping, but for SHUTDOWN_DELAY_SECONDS: less than supervisors wait before they kill. */
const STOP_MS = 15_000

/** What is open, the last first, and how it is closed. */
type Opened = (() => Promise<void>)[]

/**
 * Does what its roles say until a signal stops it, and then ends the process. `supervisor`: whoever has forked it, and opens what is
 * embedded. Raises what keeps it from starting; what it had opened by then is closed, so that nothing embedded is left behind.
 */
export async function runProcess(config: Config, supervisor?: SupervisorLink): Promise<never> {
  const opened: Opened = []
  try {
    return await run(config, supervisor, opened)
  } catch (error) {
    await Promise.race([closeAll(opened), delay(STOP_MS)])
    throw error
  }
}

async function closeAll(opened: Opened): Promise<void> {
  // One that cannot be closed, or is already, keeps none from being closed.
  for (const close of opened) await close().catch(() => undefined)
}

async function run(config: Config, supervisor: SupervisorLink | undefined, opened: Opened): Promise<never> {
  const worker = supervisor?.name
  const telemetry = await openTelemetry({
    hasMetrics: config.metrics.isOn,
    tracing: config.tracing,
    version: manifest.version,
    worker,
  })
  const log = createLog(config.logLevel, { tracer: telemetry.tracer, worker })
  const lifecycle = createLifecycleLog(log, { version: manifest.version, isWorker: supervisor !== undefined })
  logUnhandledRejections(log)
  // A worker's port is open for the others: what is not yet accepted is not lost with it.
  const shutdownDelayMs = supervisor ? 0 : config.shutdownDelayMs
  let opening: Promise<Installation> | undefined
  let connecting: Promise<ChainConnection> | undefined
  const abandon = async (reason: StopReason) => {
    lifecycle.stopped(reason)
    await Promise.allSettled([connecting?.then((chain) => chain.close()), opening?.then((parts) => parts.abandon())])
  }
  // Also while it starts: what is half started is not left behind.
  const stopped = stopSignal(shutdownDelayMs + STOP_MS - ABANDON_MS, abandon)
  void stopped.then(lifecycle.shuttingDown)
  const handlers: HttpHandler[] = []
  const server = createHttpServer({
    handlers,
    presentError,
    log,
    publicUrl: config.publicUrl,
    telemetry: telemetry.requests({ log, sampleRate: config.requestSampleRate }),
  })
  // A port is taken first: a second start is told at once, and nothing of the first is touched.
  const listensFirst = supervisor?.listensFirst ?? true
  const taken = listensFirst ? await listen(server, config, supervisor !== undefined) : undefined
  const publicUrl = (await supervisor?.opened) ?? config.publicUrl ?? `http://localhost:${taken!.port}`

  let isStopping = false
  const leave = () => {
    isStopping = true
    server.endConnections()
  }
  void supervisor?.leaving.then(leave)
  opening = openInstallation(config, log, { mayMigrate: true, telemetry })
  const installation = await opening
  opened.unshift(installation.close)
  await assertRegistryChosen(config, installation)
  const { database } = installation
  const presence = createPresence({ database, roles: config.roles, worker })
  connecting = connectChain(installation, publicUrl)
  const chain = await connecting
  opened.unshift(chain.close)
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
    async missing() {
      if (isStopping) return ['stopping']
      return (await database.isReachable()) && (await installation.isDatabaseThere()) ? [] : ['database']
    },
    degraded: async () => [...(await presence.missingRoles().catch(() => [])).map((role) => `role ${role}`)],
    version: manifest.version,
  }
  const backgroundProbes = {
    ...probes,
    degraded: async () => [...(await findAwayParts(installation)), ...(await probes.degraded())],
  }
  const layer: ServiceLayer & Partial<App> = config.roles.has('http')
    ? (await import('./app.ts')).createApp({ ...parts, ...probes })
    : createServices(parts)
  await layer.prepare()
  await presence.beat()
  database.watchStandstills()
  const beats = repeat(presence.beat, BEAT_EVERY_MS, log, 'heartbeat')
  const watched = { ...layer.watched, database, relay: chain.relay }
  const access = { token: config.metrics.token, port: taken?.healthPort }
  handlers.push(
    ...telemetry.createHandlers({ watched, access, log, supervisor }),
    ...(layer.handlers ?? [createProbesOnly(createProbes(backgroundProbes), telemetry.watch)]),
  )
  await (taken ?? (await listen(server, config, true))).openRequests()
  const loops = await startLoops({ installation, chain, layer }, config.roles)
  lifecycle.ready({ url: publicUrl, roles: config.roles })
  if (supervisor) supervisor.ready()
  else announce(installation, { publicUrl, rpcHost: chain.registry.rpc.host })

  await stopped
  leave()
  await delay(shutdownDelayMs)
  await Promise.all([server.drain(DRAIN_MS), loops.stop(DRAIN_MS), chain.close(), beats.stop()])
  await layer.services.sessions
    .recordUse()
    .catch((error: unknown) => log.warn({ err: error }, 'Failed to record when sessions were last used'))
  await presence.leave().catch(() => undefined)
  await installation.close()
  await telemetry.close()
  lifecycle.stopped()
  return process.exit(0)
}

/**
 * Takes the ports that this process answers at. A process without requests has probes alone, at one port; a supervisor has those of its workers. Where
 * probes have a port of their own, that of requests opens by `openRequests`, once they are answered: balancers send elsewhere what is refused
 * a connection, while a change that was told 503 is the caller's to repeat. A port that the system chooses is known once it is taken.
 */
async function listen(server: HttpServer, { roles, port, healthPort, host }: Config, isSupervised: boolean) {
  const probesApart = healthPort !== undefined && !isSupervised
  const isAtPort = roles.has('http') || !(probesApart || isSupervised)
  const isLate = isAtPort && probesApart && port !== 0
  const open = () => server.listen(port, host)
  return {
    healthPort: probesApart ? await server.listen(healthPort, host, 'HEALTH_PORT') : undefined,
    port: isAtPort && !isLate ? await open() : port,
    openRequests: async () => {
      if (isLate) await open()
    },
  }
}
