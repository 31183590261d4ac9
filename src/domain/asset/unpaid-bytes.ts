/**
 * Bytes of uploads that processes have on their disks and that are not paid for yet, by account: each takes room before it writes, tells
 * for a minute how much it has, and says so again before that is over. So the room of a process that was killed is free a minute later.
 */
import { randomUUID } from 'node:crypto'
import type { Database } from '../ports/database.ts'
import type { Log } from '../ports/log.ts'
import { arrayOf, bigint, float, statement, text } from '../sql.ts'

/** Seconds that a word holds. */
const HELD_SECONDS = 60

/** What this process has, for `holders`. */
const entrySql = (amount: string) =>
  `jsonb_build_object($process, jsonb_build_object('bytes', ${amount}, 'until', extract(epoch from now()) + $seconds))`

/** Of what others have in the row `u`, as far as their words hold. */
const ofOthersSql = (what: string) =>
  `(select ${what} from jsonb_each(u.holders - $process) as other (process, held)
    where (held->>'until')::float8 > extract(epoch from now()))`

const othersSql = ofOthersSql(`coalesce(jsonb_object_agg(process, held), '{}')`)
/** As much as is wished, and no more than is left. */
const grantedSql = `least($wanted, $most - ${ofOthersSql(`coalesce(sum((held->>'bytes')::bigint), 0)::bigint`)})`

/**
 * Takes room, up to `wanted` in all for this process, if it gets as much as `needed`; no row: there is not so much. The row's lock makes
 * the processes come one after the other, each with what the one before it said.
 */
const takeRoom = statement(
  'unpaid_bytes_take',
  {
    parameters: { owner: text, process: text, needed: bigint, wanted: bigint, most: bigint, seconds: float },
    columns: { bytes: bigint },
  },
  `insert into unpaid_bytes as u (owner, holders, until)
   values ($owner, ${entrySql('$wanted')}, now() + make_interval(secs => $seconds))
   on conflict (owner) do update set
     holders = ${othersSql} || ${entrySql(grantedSql)}, until = excluded.until
   where ${grantedSql} >= $needed
   returning (holders->$process->>'bytes')::bigint as bytes`,
)

/** What this process has of each of these accounts, whoever else has how much. */
const tellRoom = statement(
  'unpaid_bytes_tell',
  { parameters: { owners: arrayOf(text), amounts: arrayOf(bigint), process: text, seconds: float } },
  `insert into unpaid_bytes as u (owner, holders, until)
   select owner, case when amount > 0 then ${entrySql('amount')} else '{}' end, now() + make_interval(secs => $seconds)
   from unnest($owners, $amounts) as item (owner, amount) order by owner
   on conflict (owner) do update set holders = ${othersSql} || excluded.holders, until = excluded.until`,
)

/** Accounts of which nobody's word holds. */
const forget = statement('unpaid_bytes_forget', {}, 'delete from unpaid_bytes where until < now()')

/** Room that an account's uploads have, at all processes together. */
export interface UnpaidBytes {
  /** Takes room for `needed` bytes, and for up to `wanted` where there is so much. Returns for how many, 0 when there is not enough. Raises UNAVAILABLE. */
  take(owner: string, needed: number, wanted: number): Promise<number>
  /** Gives room back. Fulfilled when the other processes can have it; raises nothing, and says it again later where it cannot. */
  giveBack(owner: string, bytes: number): Promise<void>
  /** Whether the account could have so much more if nobody else had any. */
  hasRoomHere(owner: string, bytes: number): boolean
  /** Tells the other processes again what is held here. Raises UNAVAILABLE. */
  tellAll(): Promise<void>
  /** Forgets what processes said that are gone. Raises UNAVAILABLE. */
  forget(): Promise<void>
}

/** Room for `most` bytes of each owner, in the table `unpaid_bytes`. */
export function createUnpaidBytes({
  database,
  most,
  log,
}: {
  database: Pick<Database, 'query'>
  most: number
  log: Log
}): UnpaidBytes {
  const process = randomUUID()
  /** By owner; with 0 as long as others may not have heard of it. */
  const held = new Map<string, number>()
  /** One word of an owner after the other: an older one must not come last. */
  const lines = new Map<string, Promise<unknown>>()

  const heldBy = (owner: string) => held.get(owner) ?? 0

  function inLine<T>(owners: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = owners.map((owner) => lines.get(owner))
    const said = Promise.all(before).then(work)
    const line = said.catch(() => {})
    for (const owner of owners) lines.set(owner, line)
    void line.then(() => {
      for (const owner of owners) if (lines.get(owner) === line) lines.delete(owner)
    })
    return said
  }

  const tell = (owners: readonly string[]) =>
    inLine(owners, async () => {
      const amounts = owners.map(heldBy)
      await database.query(tellRoom, { owners, amounts: amounts.map(String), process, seconds: HELD_SECONDS })
      for (const [index, owner] of owners.entries()) if (amounts[index] === 0 && heldBy(owner) === 0) held.delete(owner)
    })

  const hasRoomHere = (owner: string, bytes: number) => heldBy(owner) + bytes <= most

  return {
    hasRoomHere,
    take: (owner, needed, wanted) =>
      inLine([owner], async () => {
        if (!hasRoomHere(owner, needed)) return 0
        const has = heldBy(owner)
        // Whatever comes of it, it may have been heard.
        held.set(owner, has)
        const [room] = await database.query(takeRoom, {
          ...{ owner, process, most: String(most), seconds: HELD_SECONDS },
          needed: String(has + needed),
          wanted: String(Math.min(has + wanted, most)),
        })
        if (!room) {
          if (heldBy(owner) === 0) held.delete(owner)
          return 0
        }
        const granted = Number(room.bytes) - has
        // Some may have been given back meanwhile.
        held.set(owner, heldBy(owner) + granted)
        return granted
      }),
    async giveBack(owner, bytes) {
      held.set(owner, heldBy(owner) - bytes)
      await tell([owner]).catch((error: unknown) =>
        log.debug({ err: error }, 'Failed to release the upload quota; retrying'),
      )
    },
    async tellAll() {
      if (held.size > 0) await tell([...held.keys()])
    },
    async forget() {
      await database.query(forget, {})
    },
  }
}
