/** SQL statements of `annal doctor`. */
import { bigint, boolean, int, orNull, statement, text, timestamp } from '../../db/sql.ts'

/** Returns version, load and durability settings of the database server. */
export const readServer = statement(
  'doctor_server',
  {
    columns: {
      /** Version number, such as 180004. */
      number: int,
      version: text,
      mostConnections: int,
      connections: int,
      isDurable: boolean,
      mayLoseLast: boolean,
      /** True if JIT compilation is enabled. */
      isCompiling: boolean,
      bytes: bigint,
    },
  },
  `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
     current_setting('max_connections')::int as "mostConnections",
     (select count(*)::int from pg_stat_activity) as connections,
     current_setting('fsync')::boolean and current_setting('full_page_writes')::boolean as "isDurable",
     current_setting('synchronous_commit') = 'off' as "mayLoseLast",
     current_setting('jit')::boolean and pg_jit_available() as "isCompiling",
     pg_database_size(current_database()) as bytes`,
)

/**
 * Returns the numbers of standby servers. `synchronous`: number of synchronous ones, or null without the required
 * privilege.
 */
export const readReplication = statement(
  'doctor_replication',
  { columns: { synchronousCommit: text, waitsForStandbys: boolean, standbys: int, synchronous: orNull(int) } },
  `select current_setting('synchronous_commit') as "synchronousCommit",
     current_setting('synchronous_standby_names') <> '' as "waitsForStandbys", count(*)::int as standbys,
     case when count(*) = count(sync_state) then (count(*) filter (where sync_state in ('sync', 'quorum')))::int end as synchronous
   from pg_stat_replication`,
)

export const readClock = statement('doctor_clock', { columns: { now: timestamp } }, 'select clock_timestamp() as now')

/** Returns the state of write-ahead log (WAL) archiving. */
export const readArchiver = statement(
  'doctor_archiver',
  {
    columns: {
      isOn: boolean,
      archivedAt: orNull(timestamp),
      failedAt: orNull(timestamp),
      standbys: int,
      now: timestamp,
    },
  },
  `select current_setting('archive_mode') <> 'off' as "isOn", last_archived_time as "archivedAt",
     last_failed_time as "failedAt", (select count(*)::int from pg_stat_replication) as standbys, now() as now
   from pg_stat_archiver`,
)

/** Counts webhook deliveries with problems. `overdue`: due for more than ten minutes. */
export const readWebhooks = statement(
  'doctor_webhooks',
  { columns: { givenUp: int, overdue: int, waiting: int, disabled: int } },
  `select
     (select count(*)::int from webhook_deliveries
      where status = 'GIVEN_UP' and order_id is not null and settled_at > now() - interval '7 days') as "givenUp",
     (select count(*)::int from webhook_deliveries
      where status = 'PENDING' and next_attempt_at < now() - interval '10 minutes') as overdue,
     (select count(*)::int from webhook_deliveries where status = 'PENDING' and attempt_count > 0) as waiting,
     (select count(*)::int from network_apps
      where webhook_disabled_at is not null and deactivated_at is null) as disabled`,
)

/** Returns the transaction of the newest final commit. */
export const findNewestFinal = statement(
  'doctor_newest_final',
  { columns: { hash: text } },
  `select r.transaction_hash as hash from commit_relays r
   where r.status = 'FINAL' and r.transaction_hash is not null order by r.commit_id desc limit 1`,
)
