/** Data of the jobs of each queue. `enqueueSql` adds jobs. IDs are UUIDs unless described otherwise. */
import type { OrderMessage } from '../mail/mail-types.ts'

interface MailRequest {
  /** Time-sortable ID. A retry with the same ID creates the same mail and token. */
  requestId: string
  /** Time of the reported event, in ISO 8601 format. */
  at: string
}

/** Mail about an account. `email` is unverified user input. */
export type AccountMailJob = MailRequest &
  (
    | { template: 'password-reset'; email: string }
    | { template: 'password-changed'; userId: string }
    /** `email`: the previous address of the account. */
    | { template: 'email-change-requested'; userId: string; email: string; newEmail: string }
    | { template: 'email-changed'; userId: string; email: string; newEmail: string }
    | { template: 'withdrawal-requested'; userId: string; withdrawalId: string }
    | { template: 'withdrawal-settled'; userId: string; withdrawalId: string }
    | ({ template: 'email-verification' } & ({ userId: string } | { email: string; requester: string | null }))
  )

export type OrderMailJob =
  | { template: Exclude<OrderMessage['template'], 'administrator-refund'>; orderId: string }
  | { template: 'administrator-refund'; orderId: string; refundId: string }

export interface JobData {
  'abandoned-delivery': { deliveryId: string }
  'account-mail': AccountMailJob
  'forget-key': { userId: string }
  mail: OrderMailJob
  maintenance: { task: string }
  manifest: { assetId: string }
  thumbnail: { assetId: string }
  'webhook-delivery': { deliveryId: string }
}

/** Handlers of the queues. The queue `maintenance` runs the tasks of `background.ts`. */
export type JobHandlers = {
  [Name in Exclude<keyof JobData, 'maintenance'>]: (data: JobData[Name]) => Promise<void>
}

export type SqlOf<Data> = Data extends unknown ? { readonly [Name in keyof Data]: string } : never

export type JobParts = {
  [Queue in keyof JobData]: {
    queue: Queue
    /** CTE or join with one row per job, and no row if the statement adds no job. */
    from: string
    data: SqlOf<JobData[Queue]>
    /** SQL expression of the group, for concurrency limits. Default: no group. */
    group?: string
    /** True to run jobs of groups with fewer waiting jobs first. Default: oldest first. */
    fairly?: true
    startAfter?: string
    /** SQL expression of the trace context of the job's cause. Default: the trace context of the statement. */
    trace?: string
  }
}[keyof JobData]

const selectSql = ({ queue, from, data, group, fairly, startAfter, trace = '$trace' }: JobParts) => {
  const facts = Object.entries(data).map(([name, value]) => `'${name}', ${value}`)
  // The job continues the trace of its cause.
  const payload = `jsonb_build_object(${facts.join(', ')}) || jsonb_strip_nulls(jsonb_build_object('trace', ${trace}))`
  const given = [`'${queue}'`, payload]
  if (group) given.push(`lane => ${group}::text`)
  if (startAfter) given.push(`due => ${startAfter}`)
  return `select ${fairly ? 'enqueue_fairly' : 'enqueue'}(${given.join(', ')}) from ${from}`
}

/** Returns the CTE `name` with one row per job. It runs only if the statement reads it, for example with `count(*)`. */
export const enqueueSql = (name: string, ...jobs: JobParts[]): string => `
  ${name} as materialized (
    ${jobs.map(selectSql).join(' union all ')}
  )`
