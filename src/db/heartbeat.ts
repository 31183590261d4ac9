/** Heartbeats of the running processes and their roles, by the database's clock. They show roles without a process. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import { roles as allRoles, type Role } from '../shared/process.ts'
import type { Database } from './database-types.ts'
import { arrayOf, float, statement, text, textOf, uuid } from './sql.ts'

/** Interval between two heartbeats, in milliseconds. */
export const BEAT_EVERY_MS = 5_000
/** Seconds without a heartbeat after which a process counts as dead. Equals the duration of a lease. */
export const SILENT_SECONDS = 20
/** Seconds without a heartbeat after which a process's row is deleted. */
const MAX_AGE_SECONDS = 3_600

/** Records a heartbeat, and deletes the rows of processes without a recent heartbeat. */
const beat = statement(
  'process_beat',
  { parameters: { id: uuid, name: text, roles: arrayOf(text), maxAge: float } },
  `with deleted_processes as (
     delete from processes where id in (
       select id from processes where seen_at < now() - make_interval(secs => $maxAge) and id <> $id
       limit 100 for update skip locked
     )
   )
   insert into processes (id, name, roles) values ($id, $name, $roles)
   on conflict (id) do update set seen_at = now(), roles = excluded.roles`,
)

/** Deletes the row of a process that shuts down. */
const leave = statement('process_leave', { parameters: { id: uuid } }, `delete from processes where id = $id`)

/** Returns the live processes, oldest first. */
export const findProcesses = statement(
  'process_list',
  { parameters: { silent: float }, columns: { name: text, roles: arrayOf(textOf<Role>()), seconds: float } },
  `select name, roles, extract(epoch from now() - started_at)::float8 as seconds
   from processes where seen_at > now() - make_interval(secs => $silent) order by started_at, id`,
)

/** Returns the live processes of the installation. Throws UNAVAILABLE. */
export const readProcesses = (database: Pick<Database, 'query'>) =>
  database.query(findProcesses, { silent: SILENT_SECONDS })

/** Returns the roles that no live process has. */
export const rolesWithout = (processes: readonly { roles: readonly Role[] }[]): Role[] =>
  allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)))

/** Creates the heartbeat of this process. Its functions throw UNAVAILABLE. */
export function createPresence(database: Pick<Database, 'query'>, roles: ReadonlySet<Role>) {
  const process = { id: randomUUID(), name: `${hostname()}:${pid}`, roles: [...roles], maxAge: MAX_AGE_SECONDS }
  return {
    beat: () => database.query(beat, process),
    /** Returns the roles that no live process has. */
    missingRoles: async () => rolesWithout(await readProcesses(database)),
    /** Removes this process from the live processes. */
    leave: () => database.query(leave, { id: process.id }),
  }
}
