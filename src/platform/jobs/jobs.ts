/**
 * Background work on the database's own queue (pg-boss, schema `jobs`). Work is put there by the SQL function `enqueue`,
 * inside the statement that causes it (`domain/enqueue-sql.ts`); what a killed process leaves behind is taken up again within half a minute.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type ConstructorOptions, type JobWithMetadata, PgBoss, type Queue } from 'pg-boss'
import { HopelessError, isUnavailable } from '../../domain/errors.ts'
import { toId } from '../../domain/ids.ts'
import type { JobData } from '../../domain/jobs.ts'
import type { Log } from '../../domain/ports/log.ts'
import { type SpanOptions, silentTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import { DatabaseClient } from '../database/database-client.ts'
import { enqueueFunctionSql } from './enqueue-function.ts'
import { jobIndexesSql } from './job-indexes.ts'
import { type JobLoop, startJobLoop } from './job-loop.ts'
import { allowAnother, findNid, keepWaiting, makeLastAttempt, subjectOf } from './job-statements.ts'
import { redactDeadLetters } from './redact-dead-letters.ts'

const schema = 'jobs'
const QUEUE_FAILED = 'Job queue error; retrying'

/**
 * Seconds. A process says all the time which jobs it has in hand; one that nobody spoke of for `HEARTBEAT_SECONDS`, or that took
 * longer than `EXPIRE_SECONDS`, is given to another process at the next look.
 */
const HEARTBEAT_SECONDS = 10
const BEAT_EVERY_SECONDS = 3
const EXPIRE_SECONDS = 20
const LOOK_EVERY_SECONDS = 3
const abandoned = { expireInSeconds: EXPIRE_SECONDS, heartbeatSeconds: HEARTBEAT_SECONDS }
/** Milliseconds between two log lines of a job that keeps failing. */
const LOG_EVERY_MS = 3_600_000
/** Seconds. */
const DAY_SECONDS = 86_400
const KEPT_DEAD_SECONDS = 365 * DAY_SECONDS
/** What is done is of use to nobody, and the queue goes through all it has every few seconds. */
const KEPT_DONE_SECONDS = 3_600
/** A mail that nobody has sent by then is deleted without a trace: it tells old news, and its job may hold an address. */
const KEPT_MAIL_SECONDS = 30 * DAY_SECONDS
/** What is owed waits as long as a service may stand still, or as old as a backup may be that is restored: it is never deleted undone. */
const KEPT_OWED_SECONDS = 3_650 * DAY_SECONDS
/** Characters. */
const LONGEST_REASON = 300
/** Milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000
const ANSWER_TIMEOUT_MS = 30_000
/** An index on many jobs takes its time, and nobody is served before. */
const INSTALL_TIMEOUT_MS = 600_000
/** Jobs that are done are deleted when their queue says so, and a look like this one has come. */
const TIDY_EVERY_SECONDS = 300

/**
 * A mail arrives soon after a short outage, and a long one does not lose it: it is tried every half minute for a quarter of an
 * hour, and from then on every ten minutes for a day.
 */
const mailRetries = { retryLimit: 180, retryDelay: 5, retryBackoff: true, retryDelayMax: 30 }
const later = { retries: 30, pause: 600 }
/** After how many retries the jobs of a queue have longer pauses, in seconds. */
const longerPauses: Partial<Record<QueueName, typeof later>> = { mail: later, 'account-mail': later }

/** Queues whose jobs end within the hour. Only their final failure is logged. */
const loggedAtTheEnd: readonly QueueName[] = ['thumbnail', 'manifest']

/** Queues whose jobs need nothing but the database: while that takes nothing, as on a full disk, none of them is given up, however long it is. */
const outlastsOutages: readonly QueueName[] = ['webhook-delivery', 'abandoned-delivery']

/**
 * Every queue: what its jobs carry stands in `domain/jobs.ts`, and who handles it is said where the process is put together.
 * The queue counts an attempt before it hands the job out, so that one that kills its process counts, too. Attempts come ever
 * more rarely, and end: a job that failed for the last time goes to the queue of its dead letters, which must stand before it
 * here.
 */
const queues = {
  /** Jobs that were given up, for an operator to look at: `annal jobs`. They keep nothing that tells of a person but identifiers. */
  'dead-letter': { retentionSeconds: KEPT_DEAD_SECONDS },
  'abandoned-delivery': {
    retryLimit: 50,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 3_600,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_OWED_SECONDS,
    deadLetter: 'dead-letter',
  },
  mail: {
    ...mailRetries,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_MAIL_SECONDS,
    deadLetter: 'dead-letter',
  },
  /** The payload may hold an address, so a job that is done or given up is soon deleted, and its dead letter has no address. */
  'account-mail': {
    ...mailRetries,
    ...abandoned,
    deleteAfterSeconds: 60,
    retentionSeconds: KEPT_MAIL_SECONDS,
    deadLetter: 'dead-letter',
  },
  /** The group of a delivery is its network app. */
  'webhook-delivery': {
    retryLimit: 200,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 20,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_OWED_SECONDS,
    deadLetter: 'abandoned-delivery',
  },
  'forget-key': {
    retryLimit: 300,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 3_600,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_OWED_SECONDS,
    deadLetter: 'dead-letter',
  },
  /** What cannot be made soon is not made: it holds up nobody. */
  manifest: {
    retryLimit: 5,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 900,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_OWED_SECONDS,
    deadLetter: 'dead-letter',
  },
  thumbnail: {
    retryLimit: 5,
    retryDelay: 30,
    retryBackoff: true,
    retryDelayMax: 900,
    ...abandoned,
    deleteAfterSeconds: KEPT_DONE_SECONDS,
    retentionSeconds: KEPT_OWED_SECONDS,
    deadLetter: 'dead-letter',
  },
} satisfies Record<'dead-letter' | keyof JobData, Omit<Queue, 'name'>>

/** A queue. */
export type QueueName = keyof typeof queues

/** How many jobs are carried out at once. */
export interface WorkOptions {
  /** How many jobs this process carries out at once. */
  concurrency: number
  /** How many jobs of one group all processes together carry out at once. */
  groupConcurrency?: number
  /** Seconds between looks when nothing is due. */
  pollEvery?: number
}

/** The queues, as this process works on them. */
export interface Jobs {
  /** Carries out the jobs of a queue from now on. A handler that raises has its job tried again, until it is given up. */
  work<Name extends keyof JobData>(
    queue: Name,
    options: WorkOptions,
    handler: (data: JobData[Name]) => Promise<void>,
  ): Promise<void>
  /** Takes no more, and lets what runs come to its end for at most `milliseconds`; the rest is done again by others. */
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
    schedule: false,
    ...options,
  } as ConstructorOptions)

/** What a job carries besides its data: where what caused it began, if anybody follows that. */
interface Traced {
  trace?: string
}

/** What the queue keeps of a job's last failure. */
interface Failed {
  /** For operators. */
  message: string
  /** When a failure was last logged, in milliseconds. */
  loggedAt: number
}

/** What an operator is shown of a failure. */
const describeError = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON)

/** Makes or updates the queue's own tables, and the function that fills them. Several processes may do so at once. */
export async function installJobs(databaseUrl: string): Promise<void> {
  const boss = open(databaseUrl, { supervise: false, max: 1, query_timeout: INSTALL_TIMEOUT_MS })
  const failures: Error[] = []
  boss.on('error', (error) => failures.push(error))
  await boss.start()
  for (const [name, options] of Object.entries(queues)) {
    await boss.createQueue(name, options)
    // What an earlier version said about it does not stay.
    await boss.updateQueue(name, options)
  }
  // Before anybody clears away.
  await boss.getDb().executeSql(keepWaiting)
  await boss.getDb().executeSql(enqueueFunctionSql)
  await boss.getDb().executeSql(jobIndexesSql)
  await boss.stop({ graceful: false })
  if (failures[0]) throw failures[0]
}

/** Opens the queues; work begins with `work`. */
export async function startJobs({
  databaseUrl,
  log,
  telemetry: { tracer } = silentTelemetry,
  keepsQueues = true,
}: {
  databaseUrl: string
  log: Log
  /** Whether this process takes up what others left in hand, and clears away what is done; so it does when left out. */
  keepsQueues?: boolean
  /** Nobody follows jobs when it is missing. */
  telemetry?: Telemetry
}): Promise<Jobs> {
  const boss = open(databaseUrl, {
    max: 3,
    migrate: false,
    supervise: keepsQueues,
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
  // At once, too: a process that soon dies would never look for what others left behind.
  if (keepsQueues) boss.supervise().catch(onError)
  const stopping = new AbortController()
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
  // Also those of jobs whose process died in their last attempt.
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
    if (isLast) log.error(about, 'Job failed finally; moved to the dead letters')
    else if (loggedAtTheEnd.includes(queue) || Date.now() - loggedAt < LOG_EVERY_MS) {
      log.debug(about, 'Job failed; retrying')
      return loggedAt
    } else log.warn(about, 'Job failed; retrying')
    return Date.now()
  }

  async function fail(queue: QueueName, job: JobWithMetadata<object>, error: unknown) {
    const isHopeless = error instanceof HopelessError
    const isSpared = outlastsOutages.includes(queue) && isUnavailable(error)
    const isLast = isHopeless || (!isSpared && job.retryCount >= job.retryLimit)
    const output: Failed = { message: describeError(error), loggedAt: await report(queue, job, error, isLast) }
    if (isHopeless) await boss.getDb().executeSql(makeLastAttempt, [queue, job.id])
    if (isSpared) await boss.getDb().executeSql(allowAnother, [queue, job.id])
    await boss.fail(queue, job, output)
    if (isLast) return void (await redact())
    const longer = longerPauses[queue]
    if (!longer || job.retryCount < longer.retries || job.retryDelayMax === longer.pause) return
    // Holds from the next pause on.
    await boss.update(queue, undefined, { id: job.id, retryBackoff: true, retryDelayMax: longer.pause })
  }

  return {
    async work<Name extends keyof JobData>(
      queue: Name,
      { concurrency, groupConcurrency, pollEvery = 1 }: WorkOptions,
      handler: (data: JobData[Name]) => Promise<void>,
    ) {
      const groups = groupConcurrency === undefined ? {} : { groupConcurrency }
      const told: SpanOptions = {
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
            await tracer.resume([trace], `process ${queue}`, told, () => handler(job.data))
            await boss.complete(queue, job)
          } catch (error) {
            // What cannot be said now is found out when the job's time is over.
            await fail(queue, job, error).catch(onError)
          } finally {
            inHand.delete(job)
          }
        },
      })
      loops.push(loop)
    },
    async stop(milliseconds = EXPIRE_SECONDS * 1_000) {
      const patience = delay(milliseconds, undefined, { ref: false })
      await Promise.race([Promise.all(loops.map((loop) => loop.stop())), patience])
      stopping.abort()
      for (const beat of beats) clearInterval(beat)
      await boss.stop({ graceful: false })
    },
  }
}
