/**
 * Crash points without hooks in the service. A trigger in the proof's database blocks the gateway at a named point of its work. The gateway
 * is killed there.
 */
import pg from 'pg'
import type { ProofContext } from './proof.ts'

export interface Gate {
  name: string
  /** SQL of the trigger: the table and the condition under which it blocks. */
  trigger: string
}

export interface Gates {
  /** Blocks gateways at a gate until `open`. */
  close(name: string): Promise<void>
  /**
   * Returns the gateway and the database backend that are blocked at a gate. The gateway is identified by its database role, or by its
   * application name.
   */
  findWaiting(name: string): Promise<{ gateway: string; backend: number } | undefined>
  open(name: string): Promise<void>
  /** Terminates a backend, which rolls back its open transaction. */
  terminate(backend: number): Promise<void>
}

/** First half of the advisory lock keys. */
const space = 0x70726f66

export async function createGates(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  databaseUrl: string,
  gates: readonly Gate[],
): Promise<Gates> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'proof gates' })
  client.on('error', () => undefined)
  await client.connect()
  afterwards(() => client.end())
  await client.query(`create or replace function proof_gate() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${space}, tg_argv[0]::int);
      return new;
    end $$`)
  const keys = new Map(gates.map(({ name }, index) => [name, index + 1]))
  for (const { name, trigger } of gates) {
    await client.query(
      `create trigger proof_gate_${keys.get(name)} ${trigger} execute function proof_gate('${keys.get(name)}')`,
    )
  }
  return {
    async close(name) {
      await client.query('select pg_advisory_lock($1, $2)', [space, keys.get(name)])
    },
    async findWaiting(name) {
      const { rows } = await client.query<{ gateway: string; backend: number }>(
        `select case when a.usename = current_user then a.application_name else a.usename end as gateway, a.pid as backend
         from pg_locks l join pg_stat_activity a using (pid)
         where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and not l.granted limit 1`,
        [space, keys.get(name)],
      )
      return rows[0]
    },
    async open(name) {
      await client.query('select pg_advisory_unlock($1, $2)', [space, keys.get(name)])
    },
    async terminate(backend) {
      await client.query('select pg_terminate_backend($1, 5000)', [backend])
    },
  }
}
