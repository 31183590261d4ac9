/** Ends a gateway's connections to the database in the middle of what it asks there: where it first needs a certain table. */
import pg from 'pg'
import type { ProofContext } from './proof.ts'

export interface Cutter {
  /** Names of all tables. */
  tables: readonly string[]
  /**
   * Sends while nobody may use `table`, and ends every session of the role that comes to it, as often as it comes again. Says how many were
   * ended before there was an answer.
   */
  cutAt<Answer>(table: string, send: () => Promise<Answer>): Promise<{ answer: Answer; cuts: number }>
}

/** More often than anybody asks again. */
const MOST_CUTS = 20

/** `role`: whom the gateway signs in as. */
export async function createCutter(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  databaseUrl: string,
  role: string,
): Promise<Cutter> {
  const connect = async () => {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'proof cutter' })
    await client.connect()
    afterwards(() => client.end())
    return client
  }
  const [holder, looker] = [await connect(), await connect()]
  const { rows } = await holder.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
  )
  /** What waits for the table inside PostgreSQL is not the role's. */
  const cut = async (table: string) => {
    const { rowCount } = await looker.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity join pg_locks using (pid)
       where usename = $1 and relation = $2::regclass and not granted`,
      [role, `public.${table}`],
    )
    return rowCount ?? 0
  }
  return {
    tables: rows.map(({ name }) => name),
    async cutAt(table, send) {
      await holder.query(`begin; lock table public."${table}" in access exclusive mode`)
      let isAnswered = false
      const answering = send().finally(() => {
        isAnswered = true
      })
      let cuts = 0
      while (!isAnswered && cuts < MOST_CUTS) cuts += await cut(table)
      await holder.query('rollback')
      return { answer: await answering, cuts }
    },
  }
}
