/** Background jobs on pg-boss (schema `jobs`). If a process is killed, other processes retry its jobs within 30 seconds. */
import { setTimeout as delay } from 'node:timers/promises'
import { type ConstructorOptions, type JobWithMetadata, PgBoss, type Queue } from 'pg-boss'
import { asOutage, DatabaseClient } from '../db/database-client.ts'
import { isDatabaseOutage, isUnavailable, NonRetryableError } from '../shared/errors.ts'
import { toId } from '../shared/ids.ts'
import type { Log } from '../shared/log.ts'
import { noopTelemetry, type SpanOptions, type Telemetry } from '../telemetry/telemetry-types.ts'
import * as sql from './jobs.sql.ts'
import type { JobData } from './queues.ts'

const schema = 'jobs'
const QUEUE_FAILED = 'Job queue error; retrying'

/** Seconds without a heartbeat after which a job is given to another process. */
const HEARTBEAT_SECONDS = 10
const BEAT_EVERY_SECONDS = 3
const EXPIRE_SECONDS = 20
const LOOK_EVERY_SECONDS = 3
const LOG_EVERY_MS = 3_600_000
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS
const LONGEST_REASON = 300
const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 30_000
/** Timeout of the installation of pg-boss, in milliseconds. Creating an index on many jobs takes long. */
const INSTALL_TIMEOUT_MS = 600_000
const TIDY_EVERY_SECONDS = 300
/** Dead letters per statement. A small number keeps row locks short. */
const REDACTED_AT_ONCE = 500

const later = { retries: 30, pause: 600 }
const longerPauses: Partial<Record<QueueName, typeof later>> = { mail: later, 'account-mail': later }

/** Queues whose jobs finish within the hour. Only their final failure is logged. */
const loggedAtTheEnd: readonly QueueName[] = ['thumbnail', 'manifest']

/** Queues whose jobs need only the database. A database outage, such as a full disk, does not use up their retries. */
const databaseOnlyQueues: readonly QueueName[] = ['webhook-delivery', 'abandoned-delivery']

const backoff = (retryLimit: number, retryDelay: number, retryDelayMax: number) => ({
  ...{ retryLimit, retryDelay, retryDelayMax, retryBackoff: true },
})

/** Unfinished jobs are kept for ten years, longer than any outage. */
const durable = {
  expireInSeconds: EXPIRE_SECONDS,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  deleteAfterSeconds: HOUR_SECONDS,
  retentionSeconds: 3_650 * DAY_SECONDS,
  deadLetter: 'dead-letter',
}

/** Retries every 30 seconds for 15 minutes, then every ten minutes for a day. Old mails are deleted, because a mail may contain an address. */
const mail = { ...durable, ...backoff(180, 5, 30), retentionSeconds: 30 * DAY_SECONDS }

/**
 * All queues. A queue must come after the queue of its dead letters. pg-boss counts an attempt before the attempt starts, so an attempt that kills
 * its process counts too.
 */
const queues = {
  /** Dead letters: jobs that failed permanently, for `annal jobs`. Personal data except IDs is removed from them. */
  'dead-letter': { retentionSeconds: 365 * DAY_SECONDS },
  'abandoned-delivery': { ...durable, ...backoff(50, 30, 3_600) },
  mail,
  /** The data may contain an address, so completed jobs are deleted soon. */
  'account-mail': { ...mail, deleteAfterSeconds: 60 },
  'webhook-delivery': { ...durable, ...backoff(200, 1, 20), deadLetter: 'abandoned-delivery' },
  'forget-key': { ...durable, ...backoff(300, 5, 3_600) },
  manifest: { ...durable, ...backoff(5, 30, 900) },
  thumbnail: { ...durable, ...backoff(5, 30, 900) },
  /** Scheduled tasks. Each has at most one unfinished job. An interrupted task is retried once. */
  maintenance: {
    policy: 'exclusive',
    ...backoff(1, 1, 60),
    expireInSeconds: 6 * HOUR_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: HOUR_SECONDS,
    retentionSeconds: HOUR_SECONDS,
  },
} satisfies Record<'dead-letter' | keyof JobData, Omit<Queue, 'name'>>

/** The queue of scheduled tasks has no dead letters, because a failed task runs again at its next scheduled time. */
const SCHEDULED = 'maintenance'

export type QueueName = keyof typeof queues

export interface WorkOptions {
  concurrency: number
  /** Maximum number of concurrent jobs per group in all processes together. */
  groupConcurrency?: number
  pollEvery?: number
}

export type Jobs = Awaited<ReturnType<typeof startJobs>>

const open = (databaseUrl: string, options: object) =>
  new PgBoss({
    Client: DatabaseClient,
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    schema,
    application_name: 'annal-jobs',
    ...options,
  } as ConstructorOptions)

/** Output of a failed attempt, stored by pg-boss. `loggedAt`: time of the last log line, in milliseconds. */
type Failed = { message: string; loggedAt: number }

const describeError = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON)

/** Creates or updates pg-boss's tables, the queues, and the function `enqueue`. Processes may call it concurrently. */
export async function installJobs(databaseUrl: string): Promise<void> {
  const boss = open(databaseUrl, { schedule: false, supervise: false, max: 1, query_timeout: INSTALL_TIMEOUT_MS })
  const failures: Error[] = []
  boss.on('error', (error) => failures.push(error))
  await boss.start()
  for (const [name, options] of Object.entries(queues)) {
    await boss.createQueue(name, options)
    // `createQueue` does not change an existing queue, and a queue's policy cannot change.
    const { policy: _, ...changeable } = { policy: undefined, ...options }
    await boss.updateQueue(name, changeable)
  }
  // This must run before pg-boss's own maintenance deletes expired jobs.
  await boss.getDb().executeSql(sql.extendRetention)
  await boss.getDb().executeSql(sql.enqueueFunctionSql)
  await boss.getDb().executeSql(sql.jobIndexesSql)
  await boss.stop({ graceful: false })
  if (failures[0]) throw failures[0]
}

export async function startJobs({
  databaseUrl,
  log,
  telemetry: { tracer } = noopTelemetry,
  keepsQueues = true,
  schedules = {},
}: {
  databaseUrl: string
  log: Log
  /** True if this process maintains the queues: retries jobs of killed processes, deletes completed jobs, and enqueues scheduled tasks. */
  keepsQueues?: boolean
  schedules?: Readonly<Record<string, string>>
  telemetry?: Telemetry
}) {
  const boss = open(databaseUrl, {
    max: 3,
    migrate: false,
    supervise: keepsQueues,
    schedule: Object.keys(schedules).length > 0,
    superviseIntervalSeconds: LOOK_EVERY_SECONDS,
    monitorIntervalSeconds: LOOK_EVERY_SECONDS,
    maintenanceIntervalSeconds: TIDY_EVERY_SECONDS,
  })
  const onError = (error: unknown) => {
    const { message } = error as { message?: string }
    log[isDatabaseOutage(asOutage(error)) ? 'debug' : 'warn']({ reason: message ?? String(error) }, QUEUE_FAILED)
    return undefined
  }
  boss.on('error', onError)
  await boss.start()
  for (const [task, cron] of Object.entries(schedules))
    await boss.schedule(SCHEDULED, cron, { task }, { key: task, singletonKey: task, missed: 'once' })
  // pg-boss waits before its first check. A process that dies before it would never retry jobs of dead processes.
  if (keepsQueues) boss.supervise().catch(onError)
  const stopping = new AbortController()
  /** Cancels running tasks. They end after their current step. */
  const cancelling = new AbortController()
  async function redact() {
    try {
      while (!stopping.signal.aborted) {
        const { rows } = await boss.getDb().executeSql(sql.redactDeadLetters, [REDACTED_AT_ONCE])
        if (rows.length === 0) return
      }
    } catch (error) {
      onError(error)
    }
  }
  // Redacts the dead letters of processes that died before the redaction.
  if (keepsQueues) redact()
  const loops: Promise<void>[] = []
  const beats: NodeJS.Timeout[] = keepsQueues ? [setInterval(redact, TIDY_EVERY_SECONDS * 1_000)] : []

  async function nidOf(data: { assetId?: string }): Promise<string | null> {
    if (data.assetId === undefined) return null
    const { rows } = await boss.getDb().executeSql(sql.findNid, [data.assetId])
    return (rows[0] as { nid: string } | undefined)?.nid ?? null
  }

  /** Logs a failure. Returns the time when any process last logged a failure of this job. */
  async function report(queue: QueueName, job: JobWithMetadata<object>, error: unknown, isLast: boolean) {
    const subject = sql.subjectOf(job.data, await nidOf(job.data).catch(() => null))
    const about = { err: error, queue, job: toId('job', job.id), attempt: job.retryCount + 1, subject }
    const loggedAt = (job.output as Partial<Failed> | null)?.loggedAt ?? 0
    if (queue === SCHEDULED) log.error(about, 'Scheduled task failed; it runs again at its next time')
    else if (isLast) log.error(about, 'Job failed permanently; moved to the dead letters')
    else if (loggedAtTheEnd.includes(queue) || Date.now() - loggedAt < LOG_EVERY_MS) {
      log.debug(about, 'Job failed; retrying')
      return loggedAt
    } else log.warn(about, 'Job failed; retrying')
    return Date.now()
  }

  async function fail(queue: QueueName, job: JobWithMetadata<object>, error: unknown) {
    const isPermanent = error instanceof NonRetryableError
    const isOutage = databaseOnlyQueues.includes(queue) && isUnavailable(error)
    const isLast = isPermanent || queue === SCHEDULED || (!isOutage && job.retryCount >= job.retryLimit)
    const output: Failed = { message: describeError(error), loggedAt: await report(queue, job, error, isLast) }
    if (isPermanent || queue === SCHEDULED) await boss.getDb().executeSql(sql.makeLastAttempt, [queue, job.id])
    if (isOutage) await boss.getDb().executeSql(sql.allowAnother, [queue, job.id])
    await boss.fail(queue, job, output)
    if (isLast) return void (queue !== SCHEDULED && (await redact()))
    const longer = longerPauses[queue]
    if (!longer || job.retryCount < longer.retries || job.retryDelayMax === longer.pause) return
    await boss.update(queue, undefined, { id: job.id, retryBackoff: true, retryDelayMax: longer.pause })
  }

  return {
    /**
     * Starts to process a queue. A job whose handler throws is retried, and becomes a dead letter after the last
     * attempt. `cancel` aborts when the process stops.
     */
    async work<Name extends keyof JobData>(
      queue: Name,
      { concurrency, groupConcurrency, pollEvery = 1 }: WorkOptions,
      handler: (data: JobData[Name], cancel: AbortSignal) => Promise<void>,
    ) {
      const groups = groupConcurrency === undefined ? {} : { groupConcurrency }
      const span: SpanOptions = {
        kind: 'consumer',
        facts: { 'messaging.system': 'pg-boss', 'messaging.destination.name': queue },
      }
      const running = new Map<JobWithMetadata<object>, Promise<void>>()
      const beat = () => running.size && boss.touch(queue, [...running.keys()]).catch(onError)
      beats.push(setInterval(beat, BEAT_EVERY_SECONDS * 1_000))
      let hasFinishedJob = false
      let endPause = () => {}
      const wake = () => {
        hasFinishedJob = true
        endPause()
      }
      cancelling.signal.addEventListener('abort', wake)

      async function run(job: JobWithMetadata<JobData[Name]>) {
        try {
          const { trace } = job.data as { trace?: string }
          await tracer.resume([trace], `process ${queue}`, span, () => handler(job.data, cancelling.signal))
          await boss.complete(queue, job)
        } catch (error) {
          // If the failure cannot be recorded now, the missing heartbeat makes another process retry the job.
          const isCancelled = cancelling.signal.aborted && error === cancelling.signal.reason
          await (isCancelled ? boss.fail(queue, job) : fail(queue, job, error)).catch(onError)
        } finally {
          running.delete(job)
          wake()
        }
      }

      /**
       * Fetches jobs for all free slots with one query, and again after each job, because that job may have blocked others of its group. pg-boss's
       * `work()` was measured on all queues, idle and with 1,000 jobs of 20 ms in 50 groups. This loop: 14 transactions per second, 10 seconds.
       * `localConcurrency: 100`: 218 per second, 37 seconds. The same with polls every 10 s: jobs start up to 9 seconds late. With `notify`, each
       * job wakes all 100 workers, but nothing wakes them when a group becomes free. A batch waits for its slowest job. With `notify` and
       * with `perJobResults`, an endpoint that hangs delays the others: `test/api/webhooks/lanes.test.ts` fails.
       */
      async function loop() {
        while (!cancelling.signal.aborted) {
          hasFinishedJob = false
          const batchSize = concurrency - running.size
          const fetching = { batchSize, includeMetadata: true, ...groups } as const
          const jobs = batchSize > 0 ? await boss.fetch<JobData[Name]>(queue, fetching).catch(onError) : undefined
          for (const job of jobs ?? []) running.set(job, run(job))
          if (jobs?.length || hasFinishedJob) continue
          const { promise, resolve } = Promise.withResolvers<void>()
          const timer = setTimeout(resolve, pollEvery * 1_000)
          endPause = resolve
          await promise
          clearTimeout(timer)
        }
        await Promise.all(running.values())
      }
      loops.push(loop())
    },
    /** Stops fetching jobs and waits at most `milliseconds` for running ones. Other processes retry unfinished jobs. */
    async stop(milliseconds = EXPIRE_SECONDS * 1_000) {
      cancelling.abort()
      const patience = delay(milliseconds, undefined, { ref: false })
      await Promise.race([Promise.all(loops), patience])
      stopping.abort()
      for (const beat of beats) clearInterval(beat)
      await boss.stop({ graceful: false })
    },
  }
}
