/**
 * Background jobs on pg-boss (schema `jobs`). The SQL function `enqueue` adds a job inside the statement that causes it
 * (`jobs/enqueue-sql.ts`). A job of a killed process is retried within half a minute.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type ConstructorOptions, type JobWithMetadata, PgBoss, type Queue } from 'pg-boss'
import { DatabaseClient } from '../db/database-client.ts'
import { isUnavailable, NonRetryableError } from '../shared/errors.ts'
import { toId } from '../shared/ids.ts'
import type { Log } from '../shared/log.ts'
import { noopTelemetry, type SpanOptions, type Telemetry } from '../telemetry/telemetry-types.ts'
import { enqueueFunctionSql } from './enqueue-function.ts'
import { jobIndexesSql } from './job-indexes.ts'
import { type JobLoop, startJobLoop } from './job-loop.ts'
import { allowAnother, findNid, keepWaiting, makeLastAttempt, subjectOf } from './jobs.sql.ts'
import type { JobData } from './queues.ts'
import { redactDeadLetters } from './redact-dead-letters.ts'

const schema = 'jobs'
const QUEUE_FAILED = 'Job queue error; retrying'

/** A job is given to another process when its process sent no heartbeat for this time, in seconds. */
const HEARTBEAT_SECONDS = 10
const BEAT_EVERY_SECONDS = 3
/** Time limit of a job, in seconds. */
const EXPIRE_SECONDS = 20
const LOOK_EVERY_SECONDS = 3
/** Milliseconds between two log lines of a job that keeps failing. */
const LOG_EVERY_MS = 3_600_000
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS
/** Maximum length of a recorded reason, in characters. */
const LONGEST_REASON = 300
const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 30_000
/** Creating an index on many jobs takes long, and the service does not start before. */
const INSTALL_TIMEOUT_MS = 600_000
/** Seconds between deletions of completed jobs. */
const TIDY_EVERY_SECONDS = 300

/** After how many retries the jobs of a queue have longer pauses, in seconds. */
const later = { retries: 30, pause: 600 }
const longerPauses: Partial<Record<QueueName, typeof later>> = { mail: later, 'account-mail': later }

/** Queues whose jobs end within the hour. Only their final failure is logged. */
const loggedAtTheEnd: readonly QueueName[] = ['thumbnail', 'manifest']

/** Queues whose jobs need only the database. A database outage, such as a full disk, does not use up their retries. */
const outlastsOutages: readonly QueueName[] = ['webhook-delivery', 'abandoned-delivery']

const backoff = (retryLimit: number, retryDelay: number, retryDelayMax: number) => ({
  ...{ retryLimit, retryDelay, retryDelayMax, retryBackoff: true },
})

/** Unfinished jobs are kept for ten years, longer than any outage or backup, so that none is lost. */
const durable = {
  expireInSeconds: EXPIRE_SECONDS,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  deleteAfterSeconds: HOUR_SECONDS,
  retentionSeconds: 3_650 * DAY_SECONDS,
  deadLetter: 'dead-letter',
}

/** Mails are retried every half minute for a quarter of an hour, then every ten minutes for a day. Old mails are deleted: they may hold an address. */
const mail = { ...durable, ...backoff(180, 5, 30), retentionSeconds: 30 * DAY_SECONDS }

/**
 * All queues. `jobs/queues.ts` describes the data of their jobs, and `loops.ts` names their handlers. pg-boss counts an attempt before it
 * starts, so an attempt that kills its process counts too. A queue must come after the queue of its dead letters.
 */
const queues = {
  /** Jobs that failed finally, for `annal jobs`. Only identifiers of people remain in them. */
  'dead-letter': { retentionSeconds: 365 * DAY_SECONDS },
  'abandoned-delivery': { ...durable, ...backoff(50, 30, 3_600) },
  mail,
  /** The data may hold an address, so completed jobs are deleted soon. */
  'account-mail': { ...mail, deleteAfterSeconds: 60 },
  /** The group of a delivery is its network app. */
  'webhook-delivery': { ...durable, ...backoff(200, 1, 20), deadLetter: 'abandoned-delivery' },
  'forget-key': { ...durable, ...backoff(300, 5, 3_600) },
  manifest: { ...durable, ...backoff(5, 30, 900) },
  thumbnail: { ...durable, ...backoff(5, 30, 900) },
  /** Scheduled tasks. Each has at most one job that is not completed. A task that was interrupted is retried once. */
  maintenance: {
    policy: 'exclusive',
    ...backoff(1, 1, 60),
    expireInSeconds: 6 * HOUR_SECONDS,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    deleteAfterSeconds: HOUR_SECONDS,
    retentionSeconds: HOUR_SECONDS,
  },
} satisfies Record<'dead-letter' | keyof JobData, Omit<Queue, 'name'>>

/** The queue of scheduled tasks. It has no dead letters: a failed task runs again at its next time. */
const SCHEDULED = 'maintenance'

/** Name of a queue. */
export type QueueName = keyof typeof queues

/** Options of working on a queue. */
export interface WorkOptions {
  /** Maximum jobs that this process runs at the same time. */
  concurrency: number
  /** Maximum jobs of one group that all processes together run at the same time. */
  groupConcurrency?: number
  /** Seconds between polls of an empty queue. */
  pollEvery?: number
}

/** The queues that this process works on. */
export interface Jobs {
  /** Starts to work on a queue. A job whose handler throws is retried, and becomes a dead letter in the end. `cancel` aborts when the process stops. */
  work<Name extends keyof JobData>(
    queue: Name,
    options: WorkOptions,
    handler: (data: JobData[Name], cancel: AbortSignal) => Promise<void>,
  ): Promise<void>
  /** Takes no more jobs, and waits at most `milliseconds` for running jobs. Other processes repeat the rest. */
  stop(milliseconds?: number): Promise<void>
}

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

/** Trace context that `enqueue` adds to the data of a job. */
interface Traced {
  trace?: string
}

/** Output of a failed attempt, stored by pg-boss. */
interface Failed {
  /** For operators. */
  message: string
  /** Time of the last log line, in milliseconds. */
  loggedAt: number
}

const describeError = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON)

/** Creates or updates pg-boss's tables, the queues, and the function `enqueue`. Safe in several processes at the same time. */
export async function installJobs(databaseUrl: string): Promise<void> {
  const boss = open(databaseUrl, { schedule: false, supervise: false, max: 1, query_timeout: INSTALL_TIMEOUT_MS })
  const failures: Error[] = []
  boss.on('error', (error) => failures.push(error))
  await boss.start()
  for (const [name, options] of Object.entries(queues)) {
    await boss.createQueue(name, options)
    // createQueue does not change an existing queue, and the policy of a queue is fixed.
    const { policy: _, ...changeable } = { policy: undefined, ...options }
    await boss.updateQueue(name, changeable)
  }
  // Before the maintenance of pg-boss deletes jobs.
  await boss.getDb().executeSql(keepWaiting)
  await boss.getDb().executeSql(enqueueFunctionSql)
  await boss.getDb().executeSql(jobIndexesSql)
  await boss.stop({ graceful: false })
  if (failures[0]) throw failures[0]
}

/** Opens the queues. `work` starts to work on one. */
export async function startJobs({
  databaseUrl,
  log,
  telemetry: { tracer } = noopTelemetry,
  keepsQueues = true,
  schedules = {},
}: {
  databaseUrl: string
  log: Log
  /** True if this process retries jobs of killed processes, deletes completed jobs, and enqueues scheduled tasks. Default: true. */
  keepsQueues?: boolean
  /** Tasks of the queue `maintenance`, each with the cron expression of its times. */
  schedules?: Readonly<Record<string, string>>
  telemetry?: Telemetry
}): Promise<Jobs> {
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
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, QUEUE_FAILED)
    return undefined
  }
  boss.on('error', onError)
  await boss.start()
  for (const [task, cron] of Object.entries(schedules))
    await boss.schedule(SCHEDULED, cron, { task }, { key: task, singletonKey: task, missed: 'once' })
  // Immediately, too: a process that soon dies would never retry the jobs of others.
  if (keepsQueues) boss.supervise().catch(onError)
  const stopping = new AbortController()
  /** Aborts running tasks, which end between two steps. */
  const cancelling = new AbortController()
  const unredacted = new Set<string>()
  const redact = () =>
    redactDeadLetters({
      ask: (text, values) => boss.getDb().executeSql(text, [...values]),
      tell(id, error) {
        const level = unredacted.has(id) ? 'debug' : 'error'
        unredacted.add(id)
        log[level]({ err: error, job: toId('job', id) }, 'Failed to redact a dead letter; retrying')
      },
      cancel: stopping.signal,
    }).catch(onError)
  // A process that died in the last attempt of a job left its dead letter unredacted.
  if (keepsQueues) redact()
  const loops: JobLoop[] = []
  const beats: NodeJS.Timeout[] = keepsQueues ? [setInterval(redact, TIDY_EVERY_SECONDS * 1_000)] : []

  async function nidOf(data: { assetId?: string }): Promise<string | null> {
    if (data.assetId === undefined) return null
    const { rows } = await boss.getDb().executeSql(findNid, [data.assetId])
    return (rows[0] as { nid: string } | undefined)?.nid ?? null
  }

  /** Logs a failure. Returns when any process last logged a failure of this job. */
  async function report(queue: QueueName, job: JobWithMetadata<object>, error: unknown, isLast: boolean) {
    const subject = subjectOf(job.data, await nidOf(job.data).catch(() => null))
    const about = { err: error, queue, job: toId('job', job.id), attempt: job.retryCount + 1, subject }
    const loggedAt = (job.output as Partial<Failed> | null)?.loggedAt ?? 0
    if (queue === SCHEDULED) log.error(about, 'Scheduled task failed; it runs again at its next time')
    else if (isLast) log.error(about, 'Job failed finally; moved to the dead letters')
    else if (loggedAtTheEnd.includes(queue) || Date.now() - loggedAt < LOG_EVERY_MS) {
      log.debug(about, 'Job failed; retrying')
      return loggedAt
    } else log.warn(about, 'Job failed; retrying')
    return Date.now()
  }

  async function fail(queue: QueueName, job: JobWithMetadata<object>, error: unknown) {
    const isHopeless = error instanceof NonRetryableError
    const isSpared = outlastsOutages.includes(queue) && isUnavailable(error)
    const isLast = isHopeless || queue === SCHEDULED || (!isSpared && job.retryCount >= job.retryLimit)
    const output: Failed = { message: describeError(error), loggedAt: await report(queue, job, error, isLast) }
    if (isHopeless || queue === SCHEDULED) await boss.getDb().executeSql(makeLastAttempt, [queue, job.id])
    if (isSpared) await boss.getDb().executeSql(allowAnother, [queue, job.id])
    await boss.fail(queue, job, output)
    if (isLast) return void (queue !== SCHEDULED && (await redact()))
    const longer = longerPauses[queue]
    if (!longer || job.retryCount < longer.retries || job.retryDelayMax === longer.pause) return
    // Holds from the next pause on.
    await boss.update(queue, undefined, { id: job.id, retryBackoff: true, retryDelayMax: longer.pause })
  }

  return {
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
      const inHand = new Set<JobWithMetadata<object>>()
      const beat = () => inHand.size && boss.touch(queue, [...inHand]).catch(onError)
      beats.push(setInterval(beat, BEAT_EVERY_SECONDS * 1_000))
      const loop = startJobLoop({
        concurrency,
        pollEvery,
        onError,
        take: (batchSize) => boss.fetch<JobData[Name]>(queue, { batchSize, includeMetadata: true, ...groups }),
        async carryOut(job) {
          inHand.add(job)
          try {
            const { trace } = job.data as Traced
            await tracer.resume([trace], `process ${queue}`, span, () => handler(job.data, cancelling.signal))
            await boss.complete(queue, job)
          } catch (error) {
            // A failure that cannot be recorded now is noticed when the heartbeat is overdue.
            const isCancelled = cancelling.signal.aborted && error === cancelling.signal.reason
            await (isCancelled ? boss.fail(queue, job) : fail(queue, job, error)).catch(onError)
          } finally {
            inHand.delete(job)
          }
        },
      })
      loops.push(loop)
    },
    async stop(milliseconds = EXPIRE_SECONDS * 1_000) {
      cancelling.abort()
      const patience = delay(milliseconds, undefined, { ref: false })
      await Promise.race([Promise.all(loops.map((loop) => loop.stop())), patience])
      stopping.abort()
      for (const beat of beats) clearInterval(beat)
      await boss.stop({ graceful: false })
    },
  }
}
