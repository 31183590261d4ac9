/** Sets the deadlines of orders, and checks payments against them with the database clock. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConnectedDatabase } from '../../src/db/database.ts'
import { arrayOf, boolean, float, nothing, statement, text, uuid } from '../../src/db/sql.ts'
import { runSql } from './run-sql.ts'
import { orderUuid } from './store.ts'

/** Triggers that record when the statement of each payment began and when it wrote. */
const witness = [
  'create table proof_payments (order_id uuid, began_at timestamptz, written_at timestamptz)',
  `create function proof_witness() returns trigger language plpgsql as $$
   begin
     insert into proof_payments values (new.id, statement_timestamp(), clock_timestamp());
     return new;
   end $$`,
  `create trigger proof_witness before update on orders for each row
   when (old.paid_at is null and new.paid_at is not null) execute function proof_witness()`,
]

export async function callWitness(database: ConnectedDatabase): Promise<void> {
  for (const text of witness) await runSql(database, text)
}

const moveEdge = statement(
  'proof_move_edge',
  { parameters: { orders: arrayOf(uuid), seconds: float }, columns: { deadline: text } },
  `with edge as (select (clock_timestamp() + make_interval(secs => $seconds))::timestamptz(3) as at)
   update orders set created_at = edge.at - interval '15 minutes', expires_at = edge.at from edge
   where id = any($orders) returning edge.at::text as deadline`,
)

/** Moves the deadlines of orders to the given number of seconds from now. Returns the deadline as text from the database. */
export async function moveDeadline(database: ConnectedDatabase, orderIds: readonly string[], seconds: number) {
  const rows = await database.query(moveEdge, { orders: orderIds.map(orderUuid), seconds })
  if (rows.length !== orderIds.length) throw new Error('Not every order could be moved.')
  return rows[0]!.deadline
}

const sleep = statement(
  'proof_sleep',
  { parameters: { moment: text, seconds: float }, columns: { pg_sleep: nothing } },
  `select pg_sleep(greatest(extract(epoch from $moment::timestamptz + make_interval(secs => $seconds) - clock_timestamp()), 0)::float8)`,
)

/** Waits until the given number of seconds after a time, by the database clock. */
export const sleepUntil = (database: ConnectedDatabase, moment: string, seconds: number) =>
  database.query(sleep, { moment, seconds })

export interface Edge {
  status: string
  isPaid: boolean
  /** True if the recorded payment time is before the deadline. */
  inTime: boolean
  /** True if the payment statement began before the deadline. */
  beganInTime: boolean
  /** True if the recorded payment time is between the begin of the statement and the write, to the millisecond. */
  isTrue: boolean
  /** Time from the recorded payment time to the write, in milliseconds. */
  lag: number
}

const findEdges = statement(
  'proof_edges',
  {
    parameters: { orders: arrayOf(uuid) },
    columns: { status: text, isPaid: boolean, inTime: boolean, beganInTime: boolean, isTrue: boolean, lag: float },
  },
  `select o.status::text, o.paid_at is not null as "isPaid", coalesce(o.paid_at < o.expires_at, true) as "inTime",
     coalesce(p.began_at < o.expires_at, true) as "beganInTime",
     coalesce(o.paid_at between p.began_at - interval '1 ms' and p.written_at + interval '1 ms', true) as "isTrue",
     coalesce(extract(epoch from p.written_at - o.paid_at) * 1000, 0)::float8 as lag
   from orders o left join proof_payments p on p.order_id = o.id where o.id = any($orders)`,
)

export const readEdges = (database: ConnectedDatabase, orderIds: readonly string[]) =>
  database.query(findEdges, { orders: orderIds.map(orderUuid) })

/** Returns a message for each rule that the payments break. */
export function judgeEdges(edges: readonly Edge[]): string[] {
  const paid = edges.filter(({ isPaid }) => isPaid)
  const broken = {
    'were paid at or after the end, by their own word': paid.filter(({ inTime }) => !inTime).length,
    'were paid at or after the end, by the witness': paid.filter(({ beganInTime }) => !beganInTime).length,
    'tell a time of payment that is not the database’s': paid.filter(({ isTrue }) => !isTrue).length,
    'are paid and ended': edges.filter(({ isPaid, status }) => isPaid && status === 'EXPIRED').length,
  }
  return Object.entries(broken).flatMap(([what, count]) => (count ? [`${count} orders ${what}.`] : []))
}

/** Returns how far a gateway's clock is ahead, from the last line of its log, in milliseconds. Undefined without log lines. */
export async function readClockShift(dir: string, gateway: string): Promise<number | undefined> {
  const lines = (await readFile(join(dir, `${gateway}.log`), 'utf8')).split('\n')
  const last = lines.findLast((line) => line.startsWith('{'))
  return last === undefined ? undefined : new Date((JSON.parse(last) as { time: string }).time).getTime() - Date.now()
}
