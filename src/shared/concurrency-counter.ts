/** Limits concurrent use over all processes, such as open streams. An entry of a process expires unless it is renewed. */
import { randomUUID } from 'node:crypto'
import type { Database } from '../db/database-types.ts'
import { arrayOf, bigint, float, statement, text } from '../db/sql.ts'
import type { Log } from './log.ts'

const ENTRY_SECONDS = 60

const entrySql = (amount: string) =>
  `jsonb_build_object($process, jsonb_build_object('amount', ${amount}, 'until', extract(epoch from now()) + $seconds))`

/** Aggregate over the valid entries of other processes. */
const ofOthersSql = (what: string) =>
  `(select ${what} from jsonb_each(c.holders - $process) as other (process, held)
    where (held->>'until')::float8 > extract(epoch from now()))`

const othersSql = ofOthersSql(`coalesce(jsonb_object_agg(process, held), '{}')`)
/** The wanted amount, or the rest of the maximum if it is smaller. */
const grantedSql = `least($wanted, $max - ${ofOthersSql(`coalesce(sum((held->>'amount')::bigint), 0)::bigint`)})`

/** Returns no row if less than `needed` is available. The row lock serializes processes, so the maximum is exact. */
const acquireAmount = statement(
  'concurrency_acquire',
  {
    parameters: { subject: text, process: text, needed: bigint, wanted: bigint, max: bigint, seconds: float },
    columns: { amount: bigint },
  },
  `insert into concurrency_counters as c (subject, holders, until)
   values ($subject, ${entrySql('$wanted')}, now() + make_interval(secs => $seconds))
   on conflict (subject) do update set
     holders = ${othersSql} || ${entrySql(grantedSql)}, until = excluded.until
   where ${grantedSql} >= $needed
   returning (holders->$process->>'amount')::bigint as amount`,
)

const setAmounts = statement(
  'concurrency_set',
  { parameters: { subjects: arrayOf(text), amounts: arrayOf(bigint), process: text, seconds: float } },
  `insert into concurrency_counters as c (subject, holders, until)
   select subject, case when amount > 0 then ${entrySql('amount')} else '{}' end, now() + make_interval(secs => $seconds)
   from unnest($subjects, $amounts) as item (subject, amount) order by subject
   on conflict (subject) do update set holders = ${othersSql} || excluded.holders, until = excluded.until`,
)

const deleteExpired = statement(
  'concurrency_delete_expired',
  {},
  'delete from concurrency_counters where until < now()',
)

interface Acquisition {
  max: number
  needed: number
  wanted?: number
}

export type ConcurrencyCounter = ReturnType<typeof createConcurrencyCounter>

export function createConcurrencyCounter({ database, log }: { database: Pick<Database, 'query'>; log: Log }) {
  const process = randomUUID()
  /** A subject with 0 stays until the database has stored its release. */
  const held = new Map<string, number>()
  /** Statements of a subject run in sequence, so the newest amount is written last. */
  const lastStatements = new Map<string, Promise<unknown>>()

  const heldOf = (subject: string) => held.get(subject) ?? 0

  function inOrder<T>(subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = subjects.map((subject) => lastStatements.get(subject))
    const result = Promise.all(before).then(work)
    const settled = result.catch(() => {})
    for (const subject of subjects) lastStatements.set(subject, settled)
    void settled.then(() => {
      for (const subject of subjects) if (lastStatements.get(subject) === settled) lastStatements.delete(subject)
    })
    return result
  }

  const write = (subjects: readonly string[]) =>
    inOrder(subjects, async () => {
      const amounts = subjects.map(heldOf)
      await database.query(setAmounts, { subjects, amounts: amounts.map(String), process, seconds: ENTRY_SECONDS })
      for (const [index, subject] of subjects.entries())
        if (amounts[index] === 0 && heldOf(subject) === 0) held.delete(subject)
    })

  const hasRoomHere = (subject: string, { max, needed }: Acquisition) => heldOf(subject) + needed <= max

  return {
    hasRoomHere,
    /** Acquires `needed` to `wanted` (default: `needed`), or 0 above `max`. Returns the amount. Throws UNAVAILABLE. */
    acquire: (subject: string, acquisition: Acquisition) =>
      inOrder([subject], async () => {
        if (!hasRoomHere(subject, acquisition)) return 0
        const { max, needed, wanted = needed } = acquisition
        const before = heldOf(subject)
        // The database may have executed the statement even if it fails. The next renewal corrects the entry.
        held.set(subject, before)
        const [acquired] = await database.query(acquireAmount, {
          ...{ subject, process, max: String(max), seconds: ENTRY_SECONDS },
          needed: String(before + needed),
          wanted: String(Math.min(before + wanted, max)),
        })
        if (!acquired) {
          if (heldOf(subject) === 0) held.delete(subject)
          return 0
        }
        const granted = Number(acquired.amount) - before
        // A concurrent release may have changed the held amount.
        held.set(subject, heldOf(subject) + granted)
        return granted
      }),
    /** Never throws: the next renewal repeats a failed release. */
    async release(subject: string, amount: number) {
      held.set(subject, heldOf(subject) - amount)
      await write([subject]).catch((err: unknown) =>
        log.debug({ err, subject: subject.split(':', 1)[0] }, 'Failed to release a concurrency counter; retrying'),
      )
    },
    async renew() {
      if (held.size > 0) await write([...held.keys()])
    },
    async deleteExpired() {
      await database.query(deleteExpired, {})
    },
  }
}
