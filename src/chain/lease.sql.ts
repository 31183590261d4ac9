import { arrayOf, bigint, int, statement, text, uuid } from '../db/sql.ts'

/** A holder's session bears its name, so that one whose process has ended is known at once. */
export const sessionOf = (holder: string) => `annal relay ${holder}`

/** A lease lasts `duration` milliseconds from its last renewal, on the database's clock. */
const end = `clock_timestamp() + $duration * interval '1 millisecond'`

/** Takes a lease, for `duration` milliseconds, and raises its epoch. No row while another process has it. */
export const takeLease = statement(
  'lease_take',
  { parameters: { name: text, holder: uuid, duration: int }, columns: { epoch: bigint } },
  `insert into leases (name, holder, epoch, expires_at) values ($name, $holder, 1, ${end})
   on conflict (name) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
   where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp() or not exists (
     select from pg_stat_activity where application_name = '${sessionOf('')}' || leases.holder::text)
   returning epoch`,
)

/** Locks a lease until the transaction ends, and renews it; no row when somebody has taken it over. */
export const holdLease = statement(
  'lease_hold',
  { parameters: { name: text, holder: uuid, epoch: bigint, duration: int }, columns: { name: text } },
  `update leases set expires_at = ${end} where name = $name and holder = $holder and epoch = $epoch returning name`,
)

/** Renews leases, `names` and `epochs` in pairs. Returns those that are still held. */
export const renewLeases = statement(
  'lease_renew',
  {
    parameters: { names: arrayOf(text), epochs: arrayOf(bigint), holder: uuid, duration: int },
    columns: { name: text },
  },
  `update leases l set expires_at = ${end} from unnest($names, $epochs) as item (name, epoch)
   where l.name = item.name and l.epoch = item.epoch and l.holder = $holder returning l.name`,
)

/** Gives up all leases of a holder: whoever asks next has them. */
export const endLeases = statement(
  'lease_end',
  { parameters: { holder: uuid } },
  `update leases set expires_at = '-infinity' where holder = $holder`,
)
