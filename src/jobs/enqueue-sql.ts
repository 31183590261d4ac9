/** CTE of a writing statement that enqueues jobs. Effect and job are in one statement, so neither exists without the other. */
import type { JobData } from './queues.ts'

/** SQL expressions of a job's data, by field name. */
export type SqlOf<Data> = Data extends unknown ? { readonly [Name in keyof Data]: string } : never

/** Jobs for one queue. */
export type JobParts = {
  [Queue in keyof JobData]: {
    queue: Queue
    /** CTE or join with one row per job, and no row if nothing happened. */
    from: string
    data: SqlOf<JobData[Queue]>
    /** SQL expression of the group, for concurrency limits. Default: no group. */
    group?: string
    /** True to run jobs of groups with fewer waiting jobs first. Default: oldest first. */
    fairly?: true
    /** SQL expression of the time when the job is due. Default: now. */
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

/** Returns the CTE `name` with one row per job. PostgreSQL executes it only if the statement reads it, for example with `count(*)`. */
export const enqueueSql = (name: string, ...jobs: JobParts[]): string => `
  ${name} as materialized (
    ${jobs.map(selectSql).join(' union all ')}
  )`
