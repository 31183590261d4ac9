import { writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import manifest from '../package.json' with { type: 'json' }
import { createApp, loadModules, type OpenChain, openChain } from './app.ts'
import { startLoops } from './background.ts'
import { assertRegistryChosen } from './chain/create-chain.ts'
import type { Config } from './config.ts'
import { BEAT_EVERY_MS, createPresence } from './db/processes.ts'
import { createHttpServer, type HttpServer } from './http/http-server.ts'
import { addProbes, createProbes, findUnavailableParts } from './http/probes.ts'
import { type Infrastructure, openInfrastructure } from './infrastructure.ts'
import { repeat } from './jobs/repeat.ts'
import { ABANDON_MS, roles as allRoles, type StopReason, stopSignal } from './shared/process.ts'
import { createLifecycleLog, createLog, logUnhandledRejections } from './telemetry/log.ts'
import { openTelemetry } from './telemetry/telemetry.ts'

/** Time for running requests and jobs to finish, in milliseconds. */
const DRAIN_MS = 9_000
/** Maximum duration of a shutdown without SHUTDOWN_DELAY_SECONDS, in milliseconds. */
const STOP_MS = 15_000

/** Functions that close the open parts, in reverse order of opening. */
type Opened = (() => Promise<void>)[]
const STDOUT = 1

/** If an error prevents the start, closes all open parts and throws the error. */
export async function runProcess(config: Config): Promise<never> {
  const opened: Opened = []
  // An error while one part closes must not keep other parts open.
  const closeAll = async () => {
    for (const close of opened) await close().catch(() => undefined)
  }
  try {
    return await run(config, opened)
  } catch (error) {
    await Promise.race([closeAll(), delay(STOP_MS)])
    throw error
  }
}

async function run(config: Config, opened: Opened): Promise<never> {
  const { version } = manifest
  const telemetry = await openTelemetry({ hasMetrics: config.metrics.isOn, tracing: config.tracing, version })
  const log = createLog(config.logLevel, { tracer: telemetry.tracer })
  const lifecycle = createLifecycleLog(log, version)
  logUnhandledRejections(log)
  const { shutdownDelayMs } = config
  let opening: Promise<Infrastructure> | undefined
  let connecting: Promise<OpenChain> | undefined
  const abandon = async (reason: StopReason) => {
    lifecycle.stopped(reason)
    await Promise.allSettled([connecting?.then((chain) => chain.close()), opening?.then((parts) => parts.abandon())])
  }
  // A signal during the start also stops the parts that are still starting.
  const stopped = stopSignal(shutdownDelayMs + STOP_MS - ABANDON_MS, abandon)
  void stopped.then(lifecycle.shuttingDown)
  const server = createHttpServer({
    log,
    publicUrl: config.publicUrl,
    telemetry: telemetry.requests(log),
  })
  // The ports are opened first: a second start on the same port fails before it can affect the running service.
  const ports = await listen(server, config)
  const publicUrl = config.publicUrl ?? `http://localhost:${ports.port}`

  let isStopping = false
  const modules = await loadModules()
  modules.contentCredentials?.checkContentCredentials({ config: config.contentCredentials, dir: config.dir })
  opening = openInfrastructure(config, log, { isService: true, telemetry })
  const infrastructure = await opening
  opened.unshift(infrastructure.close)
  await assertRegistryChosen(config, infrastructure)
  const { database } = infrastructure
  const presence = createPresence(database, config.roles)
  connecting = openChain(infrastructure, publicUrl, modules)
  const chain = await connecting
  opened.unshift(chain.close)
  const { relay, coins, histories } = chain
  const parts = { ...infrastructure, modules, publicUrl, relay, coins, histories, gasFee: chain.gasQuote?.current }
  const probes = {
    async missing() {
      if (isStopping) return ['stopping']
      return (await database.isReachable()) && (await infrastructure.isDatabaseThere()) ? [] : ['database']
    },
    degraded: async () => (await presence.missingRoles().catch(() => [])).map((role) => `role ${role}`),
    version,
  }
  const backgroundProbes = {
    ...probes,
    degraded: async () => [...(await findUnavailableParts(infrastructure)), ...(await probes.degraded())],
  }
  const layer = createApp(parts)
  const routes = config.roles.has('http')
    ? await (await import('./http/create-routes.ts')).createRoutes(layer, { ...infrastructure, ...probes })
    : undefined
  await layer.prepare()
  await presence.beat()
  database.startStallDetection()
  const beats = repeat(presence.beat, BEAT_EVERY_MS, log, 'heartbeat')
  const watched = { ...(routes ?? layer).watched, database, relay }
  const access = { token: config.metrics.token, port: ports.healthPort }
  await server.serve((app) => {
    telemetry.addRoutes(app, { watched, access, log })
    if (routes) routes.addRoutes(app)
    else addProbes(app, createProbes(backgroundProbes), telemetry.watch)
  })
  await ports.openRequests()
  const loops = await startLoops({ infrastructure, chain, layer }, config.roles)
  lifecycle.ready(publicUrl, config.roles)
  await printBanner(infrastructure, publicUrl, chain.registry.rpc.host)

  await stopped
  isStopping = true
  server.endConnections()
  await delay(shutdownDelayMs)
  await Promise.all([server.drain(DRAIN_MS), loops.stop(DRAIN_MS), chain.close(), beats.stop()])
  await layer.context.credentials
    .recordTokenUse()
    .catch((error: unknown) => log.warn({ err: error }, 'Failed to record when sessions were last used'))
  await presence.leave().catch(() => undefined)
  await infrastructure.close()
  await telemetry.close()
  lifecycle.stopped()
  return process.exit(0)
}

/** With HEALTH_PORT, opens PORT when ready: load balancers retry refused connections, but no mutation with status 503. */
async function listen(server: HttpServer, { roles, port, healthPort, host }: Config) {
  const probesApart = healthPort !== undefined
  const isAtPort = roles.has('http') || !probesApart
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

async function pagesOf({ graphql }: Config, publicUrl: string): Promise<[name: string, url: string][]> {
  const { hasDocumentation } = await import('./modules/pages/home.ts')
  return [
    ...(graphql.playground ? [['Playground', `${publicUrl}/graphql`] as [string, string]] : []),
    ['REST', `${publicUrl}/api/v3`],
    ...(hasDocumentation() ? [['Documentation', `${publicUrl}/docs/`] as [string, string]] : []),
  ]
}

async function printBanner({ config, parts }: Infrastructure, publicUrl: string, rpcHost: string | undefined) {
  const facts = [
    ...(config.roles.has('http') ? await pagesOf(config, publicUrl) : []),
    ...(config.roles.size < allRoles.length ? [['Roles', [...config.roles].join(', ')]] : []),
    ['Data', config.dir],
    ['  database', parts.database],
    ['  chain', `${parts.chain}${rpcHost === undefined ? '' : ` (${rpcHost})`}`],
    ['  files', parts.files],
    ['  keys', parts.keys],
    ['  mail', parts.mail],
  ] as const
  const lines = [
    'Annal is ready.',
    ...facts.map(([name, value]) => `  ${name!.padEnd(13)}  ${value}`),
    'Press Ctrl-C to stop. The data is kept.',
  ]
  try {
    writeSync(STDOUT, `${lines.join('\n')}\n`)
  } catch {
    // A full disk or a closed pipe must not stop the service.
  }
}
