import { statement } from '../domain/ports.ts'

/** A holder's session bears its name, so that one whose process has ended is known at once. */
export const sessionOf = (holder: string) => `annal relay ${holder}`

/** A lease lasts so many milliseconds (the parameter) from its last renewal, on the database's clock. */
const after = (parameter: string) => `clock_timestamp() + ${parameter}::int * interval '1 millisecond'`

/** $1 name, $2 who wants it, $3 for how long. No row while another process has it. */
export const takeLease = statement<{ epoch: string }>(
  'lease_take',
  `insert into leases (name, holder, epoch, expires_at) values ($1, $2::uuid, 1, ${after('$3')})
   on conflict (name) do update set holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
   where leases.holder = excluded.holder or leases.expires_at <= clock_timestamp() or not exists (
     select from pg_stat_activity where application_name = '${sessionOf('')}' || leases.holder::text)
   returning epoch::text`,
)

/** $1 name, $2 holder, $3 epoch, $4 for how long. Locks the lease until the transaction ends; no row when somebody has taken it over. */
export const holdLease = statement<{ name: string }>(
  'lease_hold',
  `update leases set expires_at = ${after('$4')} where name = $1 and holder = $2::uuid and epoch = $3::bigint returning name`,
)

/** $1 names, $2 epochs, $3 holder, $4 for how long. Returns those that are still held. */
export const renewLeases = statement<{ name: string }>(
  'lease_renew',
  `update leases l set expires_at = ${after('$4')} from unnest($1::text[], $2::bigint[]) as item (name, epoch)
   where l.name = item.name and l.epoch = item.epoch and l.holder = $3::uuid returning l.name`,
)

export const endLeases = statement<never>(
  'lease_end',
  `update leases set expires_at = '-infinity' where holder = $1::uuid`,
)
