/**
 * Crash points without a hook in the product: a trigger in the proof's own database, or a proxy before the chain, makes
 * the gateway wait at a named moment of its work, and says so. There it is killed.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import type { ProofContext } from './proof.ts'

export interface Gate {
  name: string
  /** SQL: when the trigger waits, and on which table. */
  trigger: string
}

export interface Gates {
  /** Makes gateways wait at a gate until `open`. */
  close(name: string): Promise<void>
  /** The gateway that waits there and its backend, if one does: by the role that it signs in as, else by its application's name. */
  findWaiting(name: string): Promise<{ gateway: string; backend: number } | undefined>
  open(name: string): Promise<void>
  /** Ends a backend: what its open transaction did is undone. */
  terminate(backend: number): Promise<void>
}

/** First half of the advisory locks' keys. */
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

export interface ChainProxy {
  url: string
  /**
   * Called for each request that sends transactions. `before`: nothing reached the node. `after`: the node took it, the
   * reply is still here. When it returns true, the request is dropped at this point.
   */
  ambush: ((moment: 'before' | 'after') => boolean) | undefined
}

/** Stands between one gateway and the chain. */
export async function startChainProxy(
  { afterwards }: Pick<ProofContext, 'afterwards'>,
  target: string,
): Promise<ChainProxy> {
  const proxy: ChainProxy = { url: '', ambush: undefined }
  const server = createServer(async (request, response) => {
    try {
      let body = ''
      for await (const chunk of request) body += chunk
      const sends = body.includes('eth_sendRawTransaction')
      if (sends && proxy.ambush?.('before')) return void request.socket.destroy()
      const answer = await fetch(target, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const text = await answer.text()
      if (sends && proxy.ambush?.('after')) return void request.socket.destroy()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    } catch {
      request.socket.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    server.closeAllConnections()
    server.close()
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
