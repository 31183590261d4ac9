/**
 * The part of a writing statement that puts jobs on their queues. It stands in one statement with the effect: nothing is
 * done without its job, and no job is there for what was not done.
 */
import type { JobData } from './queues.ts'

/** SQL expressions of what a job carries, by name. */
export type SqlOf<Data> = Data extends unknown ? { readonly [Name in keyof Data]: string } : never

/** Jobs of one queue. */
export type JobParts = {
  [Queue in keyof JobData]: {
    queue: Queue
    /** The part or join that has a row for each job, and none when nothing happened. */
    from: string
    data: SqlOf<JobData[Queue]>
    /** SQL expression: of whom only so many jobs are carried out at once; of nobody when left out. */
    group?: string
    /** Whether jobs of a group that has more of them waiting come after those of one that has fewer; by age alone when left out. */
    fairly?: true
    /** SQL expression: when it is due; now when left out. */
    startAfter?: string
    /** SQL expression: where what caused it began; where the statement did when left out. */
    trace?: string
  }
}[keyof JobData]

const selectSql = ({ queue, from, data, group, fairly, startAfter, trace = '$trace' }: JobParts) => {
  const facts = Object.entries(data).map(([name, value]) => `'${name}', ${value}`)
  // Whoever follows what caused the job follows the job.
  const payload = `jsonb_build_object(${facts.join(', ')}) || jsonb_strip_nulls(jsonb_build_object('trace', ${trace}))`
  const given = [`'${queue}'`, payload]
  if (group) given.push(`lane => ${group}::text`)
  if (startAfter) given.push(`due => ${startAfter}`)
  return `select ${fairly ? 'enqueue_fairly' : 'enqueue'}(${given.join(', ')}) from ${from}`
}

/** The part `name`, with a row for each job. PostgreSQL carries it out only if the statement reads it, as by `count(*)`. */
export const enqueueSql = (name: string, ...jobs: JobParts[]): string => `
  ${name} as materialized (
    ${jobs.map(selectSql).join(' union all ')}
  )`
