/**
 * Heartbeats of the running processes and their roles. Every process writes one every five seconds with the
 * database's clock. A process can therefore detect that the installation lacks a role.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { roles as allRoles, type Role } from '../shared/process.ts'
import type { Database } from './database-types.ts'
import { arrayOf, float, statement, text, uuid } from './sql.ts'

/** Interval between two heartbeats, in milliseconds. */
export const BEAT_EVERY_MS = 5_000
/** Seconds without a heartbeat after which a process counts as dead. Equals the duration of a lease. */
export const SILENT_SECONDS = 20
/** Seconds without a heartbeat after which a process's row is deleted. */
const FORGOTTEN_SECONDS = 3_600

/** Records a heartbeat and deletes the rows of processes that are long dead. */
const beat = statement(
  'process_beat',
  { parameters: { id: uuid, name: text, roles: arrayOf(text), forgotten: float } },
  `with forgotten as (
     delete from processes where id in (
       select id from processes where seen_at < now() - make_interval(secs => $forgotten) and id <> $id
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
  { parameters: { silent: float }, columns: { name: text, roles: arrayOf(text), seconds: float } },
  `select name, roles, extract(epoch from now() - started_at)::float8 as seconds
   from processes where seen_at > now() - make_interval(secs => $silent) order by started_at, id`,
)

/** A process with a recent heartbeat. */
export interface LivingProcess {
  /** Host name and process ID. */
  name: string
  roles: readonly Role[]
  /** Uptime, in seconds. */
  seconds: number
}

/** Returns the live processes of the installation. Throws UNAVAILABLE. */
export async function readProcesses(database: Pick<Database, 'query'>): Promise<LivingProcess[]> {
  const found = await database.query(findProcesses, { silent: SILENT_SECONDS })
  return found.map(({ roles, ...rest }) => ({ ...rest, roles: roles as Role[] }))
}

/** Returns the roles that no live process has. */
export const rolesWithout = (processes: readonly LivingProcess[]): Role[] =>
  allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)))

/** The heartbeat of this process. */
export interface Presence {
  /** Records a heartbeat. Throws UNAVAILABLE. */
  beat(): Promise<void>
  /** Returns the roles that no live process has. Throws UNAVAILABLE. */
  missingRoles(): Promise<Role[]>
  /** Removes this process from the live processes. */
  leave(): Promise<void>
}

/** Creates the heartbeat of this process. Call `beat` to record it. */
export function createPresence({
  database,
  roles,
}: {
  database: Pick<Database, 'query'>
  roles: ReadonlySet<Role>
}): Presence {
  const id = randomUUID()
  const name = `${hostname()}:${process.pid}`
  return {
    async beat() {
      await database.query(beat, { id, name, roles: [...roles], forgotten: FORGOTTEN_SECONDS })
    },
    missingRoles: async () => rolesWithout(await readProcesses(database)),
    async leave() {
      await database.query(leave, { id })
    },
  }
}
