/** The process: config → parts → app → listen → drain on SIGTERM. */
import manifest from '../package.json' with { type: 'json' }
import { createApp } from './app.ts'
import { readConfig } from './config.ts'
import { deliveryWork } from './domain/store/delivery-service.ts'
import { schema } from './graphql/schema.ts'
import { readTrustedDocuments } from './graphql/trusted-documents.ts'
import { connectChain, openInstallation } from './installation.ts'
import { createHttpServer, type HttpHandler } from './platform/http/http-server.ts'
import { startJobs } from './platform/jobs/jobs.ts'
import { done, repeat } from './platform/jobs/repeat.ts'
import { createLog } from './platform/log.ts'
import { stopSignal } from './platform/stop-signal.ts'
import { openTelemetry } from './platform/telemetry/telemetry.ts'
import { presentError } from './rest/status.ts'

/** Requests, jobs and commits that are under way: all of them at once. Jobs that take longer are done again by another process. */
const DRAIN_MS = 9_000
/** All of stopping, or of what was left of starting and then stopping: less than supervisors wait before they kill. */
const STOP_MS = 15_000

const say = (text: string) => process.stdout.write(`${text}\n`)

/**
 * Serves until a signal stops it, and then ends the process. Raises ConfigError, and what keeps the service from starting.
 */
export async function serve(): Promise<never> {
  const config = readConfig()
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
  const port = await server.listen(config.port, config.host)
  const healthPort =
    config.healthPort === undefined ? undefined : await server.listen(config.healthPort, config.host, 'HEALTH_PORT')
  const publicUrl = config.publicUrl ?? `http://localhost:${port}`

  let isStopping = false
  const installation = await openInstallation(config, log, { mayMigrate: true, telemetry })
  const chain = await connectChain(installation, publicUrl)
  const app = createApp({
    ...installation,
    relay: chain.relay,
    coins: chain.chainCoins,
    gasFee: chain.gasQuote?.current,
    histories: chain.histories,
    publicUrl,
    missing: async () => (isStopping ? ['stopping'] : (await installation.database.isReachable()) ? [] : ['database']),
  })
  await app.prepare()
  chain.relay.start()
  chain.deposits.start()
  chain.coins.start()
  chain.foreign.start()
  const watched = { ...app.watched, database: installation.database, relay: chain.relay }
  const access = { token: config.metrics.token, port: healthPort }
  handlers.push(...telemetry.createHandlers({ watched, access, log }), ...app.handlers)

  const jobs = await startJobs(installation)
  await jobs.work('webhook-delivery', deliveryWork, app.jobs.webhookDelivery)
  await jobs.work('abandoned-delivery', { concurrency: 1 }, app.jobs.abandonedDelivery)
  await jobs.work('mail', { concurrency: 2 }, app.jobs.mail)
  await jobs.work('account-mail', { concurrency: 2 }, app.jobs.accountMail)
  await jobs.work('forget-key', { concurrency: 1 }, app.jobs.forgetKey)
  await jobs.work('manifest', { concurrency: 1 }, app.jobs.manifest)
  await jobs.work('thumbnail', { concurrency: 1 }, app.jobs.thumbnail)
  const { orders, grants, sessions, thumbnails } = app.services
  const { sweep, collectGarbage } = app.maintenance
  // Each for itself: one that fails keeps nothing else from being done.
  const { deletions } = app.services
  // What a backup brought back is found once in a process: backups are restored while none runs.
  const reapply = async () => ((await deletions.reapply()) ? done : undefined)
  const forgetAgain = async (cancel: AbortSignal) => {
    await deletions.forgetAgain(cancel)
    return done
  }
  const { gasQuote } = chain
  const tidying = [deletions.sweep, orders.sweepArguments, sweep, collectGarbage]
  const chores = [
    repeat(orders.expire, 1_000, log, 'Orders could not be expired; it is tried again soon'),
    repeat(grants.sweep, 30_000, log, 'Points could not be expired; it is tried again in half a minute'),
    repeat(sessions.recordUse, 60_000, log, 'The use of sessions could not be recorded; it is tried again in a minute'),
    repeat(thumbnails.sweep, 10_000, log, 'Thumbnails could not be asked for; it is tried again soon'),
    repeat(reapply, 10_000, log, 'A deleted account that came back could not be deleted again; it is tried again soon'),
    repeat(
      forgetAgain,
      1_000,
      log,
      'A destroyed key that came back could not be destroyed again; it is tried again soon',
    ),
    ...(gasQuote
      ? [repeat(gasQuote.look, 15_000, log, 'What gas costs could not be read; commits are charged as before')]
      : []),
    ...tidying.map((step) => repeat(step, 3_600_000, log, 'Tidying up failed; it is tried again in an hour')),
  ]

  const { parts } = installation
  say(`Annal is ready.
  Playground  ${publicUrl}/graphql
  REST        ${publicUrl}/api/v3
  Data        ${config.dir}
    database  ${parts.database}
    chain     ${parts.chain} (${chain.registry.rpc.host})
    files     ${parts.files}
    keys      ${parts.keys}
    mail      ${parts.mail}
Stop with Ctrl-C; the data stays.`)

  const signal = await stopped
  log.info({ signal }, 'Draining')
  isStopping = true
  await Promise.all([
    server.drain(DRAIN_MS),
    jobs.stop(DRAIN_MS),
    chain.close(),
    ...chores.map((chore) => chore.stop()),
  ])
  await sessions.recordUse().catch((error: unknown) => log.warn({ err: error }, 'The use of sessions was not recorded'))
  await installation.close()
  await telemetry.close()
  return process.exit(0)
}

if (import.meta.main) {
  serve().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  })
}
