/** What the primary is asked about how far it has come, and replicas about how far they have. */
import { NIL_UUID } from '../../domain/ids.ts'
import { arrayOf, bigint, boolean, int, json, orNull, type RowOf, statement, text, uuid } from '../../domain/sql.ts'

/** Milliseconds that a replica may take to say how far it has come. */
export const LOOK_MS = 1_000

/** SQL: bytes of the log that were written, those of all that is committed among them. Looked up after what the statement sees. */
const placeSql = `(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint`
/** SQL: the timeline that is written. */
const timelineSql = `('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int`
/** Whose row says since when the table is kept. */
const nobody = `'${NIL_UUID}'::uuid`

const positionColumns = {
  timeline: int,
  place: bigint,
  withdrawals: bigint,
  since: orNull(bigint),
  users: json<Record<string, string>>(),
}
/** Where the database is, and was when users wrote last. */
export type Positions = RowOf<typeof positionColumns>

/** Where the database is. `since`: what was written before that is known of nobody any more; null when the table is empty. */
export const readPositions = statement(
  'replica_positions',
  {
    parameters: { users: arrayOf(uuid) },
    columns: positionColumns,
  },
  `select ${timelineSql} as timeline, ${placeSql} as place,
     (select coalesce(sum(count), 0)::bigint from withdrawals_of_sight) as withdrawals,
     (select position from read_positions where user_id = ${nobody}) as since,
     coalesce(
       (select json_object_agg(user_id, position::text) from read_positions where user_id = any ($users)), '{}'
     ) as users`,
)

/** Begins the table: what was written until now is known of nobody. */
export const beginPositions = statement(
  'replica_positions_begin',
  {},
  `insert into read_positions (user_id, position) values (${nobody}, ${placeSql}) on conflict do nothing`,
)

/** Notes of some users that they have written until now; tells where that is. */
export const notePositions = statement(
  'replica_positions_note',
  { parameters: { users: arrayOf(uuid) }, columns: { timeline: int, place: bigint } },
  `with here as materialized (select ${timelineSql} as timeline, ${placeSql} as place),
   noted as (
     insert into read_positions as r (user_id, position)
     select id, here.place from here, (select distinct id from unnest($users) as id order by id) asked
     on conflict (user_id) do update set position = greatest(r.position, excluded.position), noted_at = now()
   )
   select timeline, place from here`,
)

/** Notes a timeline, for replicas to show that they follow it; tells which database it is. */
export const noteTimeline = statement(
  'replica_timeline_note',
  { parameters: { timeline: int }, columns: { system: text } },
  `with noted as (insert into timelines (timeline) values ($timeline) on conflict do nothing)
   select system_identifier::text as system from pg_control_system()`,
)

const identitySql = `system_identifier || ' ' || pg_postmaster_start_time()`

/** Which server answers: another one, and the same after a new start, says something else. */
export const identifyServer = statement(
  'replica_identity',
  { columns: { server: text }, patience: LOOK_MS },
  `select ${identitySql} as server from pg_control_system()`,
)

/** How far a replica has come. */
export const lookAtReplica = statement(
  'replica_look',
  {
    columns: {
      server: text,
      system: text,
      isStandby: boolean,
      place: orNull(bigint),
      timeline: orNull(int),
    },
    patience: LOOK_MS,
  },
  `select ${identitySql} as server, system_identifier::text as system, pg_is_in_recovery() as "isStandby",
     (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint as place, (select max(timeline) from timelines) as timeline
   from pg_control_system()`,
)
