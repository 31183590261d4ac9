/**
 * Which processes live, and what each is there for: every process says so every five seconds, by the database's clock. So each
 * can tell when the installation lacks a role.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { roles as allRoles, type Role } from '../shared/process.ts'
import type { Database } from './database-types.ts'
import { arrayOf, float, statement, text, uuid } from './sql.ts'

/** Milliseconds between two signs of life. */
export const BEAT_EVERY_MS = 5_000
/** Seconds after which a process that said nothing counts no more, as long as a lease lasts. */
export const SILENT_SECONDS = 20
/** Seconds after which it is forgotten. */
const FORGOTTEN_SECONDS = 3_600

/** A sign of life. Whoever was silent for long is forgotten by the way. */
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

/** A process that ends by itself. */
const leave = statement('process_leave', { parameters: { id: uuid } }, `delete from processes where id = $id`)

/** Those that live, the oldest first. */
export const findProcesses = statement(
  'process_list',
  { parameters: { silent: float }, columns: { name: text, roles: arrayOf(text), seconds: float } },
  `select name, roles, extract(epoch from now() - started_at)::float8 as seconds
   from processes where seen_at > now() - make_interval(secs => $silent) order by started_at, id`,
)

/** A process that lives. */
export interface LivingProcess {
  /** Machine and number. */
  name: string
  roles: readonly Role[]
  /** Since it started. */
  seconds: number
}

/** Processes of the installation that live now. Raises UNAVAILABLE. */
export async function readProcesses(database: Pick<Database, 'query'>): Promise<LivingProcess[]> {
  const found = await database.query(findProcesses, { silent: SILENT_SECONDS })
  return found.map(({ roles, ...rest }) => ({ ...rest, roles: roles as Role[] }))
}

/** Roles that no living process has. */
export const rolesWithout = (processes: readonly LivingProcess[]): Role[] =>
  allRoles.filter((role) => !processes.some(({ roles }) => roles.includes(role)))

/** This process among the others. */
export interface Presence {
  /** Says that this process lives. Raises UNAVAILABLE. */
  beat(): Promise<void>
  /** Roles that no process has at this moment. Raises UNAVAILABLE. */
  missingRoles(): Promise<Role[]>
  /** Says that this process ends. */
  leave(): Promise<void>
}

/** Creates the presence of this process. Call `beat` to record it. */
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
