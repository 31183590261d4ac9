/**
 * HAProxy in front of a primary and its standby, as Patroni's documentation configures it: HAProxy asks a health endpoint per server,
 * and leads connections to the server that answers 200. Here the proof itself is the cluster manager that names the leader.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '../../test/support/eventually.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import type { PostgresServer } from '../../test/support/postgres-server.ts'
import type { ProofContext } from './proof.ts'

export interface DatabaseEndpoint {
  /** URL of the current leader's database. */
  url: string
  /** Names the leader. HAProxy ends the sessions of the previous one. */
  leadTo(server: PostgresServer): void
}

/** Starts a health endpoint that answers 200 while `isLeader`. Returns its port. */
async function startHealth(context: ProofContext, isLeader: () => boolean): Promise<number> {
  const server = createServer((_req, res) => res.writeHead(isLeader() ? 200 : 503).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.afterwards(async () => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function startDatabaseEndpoint(
  context: ProofContext,
  first: PostgresServer,
  others: readonly PostgresServer[],
): Promise<DatabaseEndpoint> {
  let leader = first.name
  const port = await findFreePort()
  const lines = await Promise.all(
    [first, ...others].map(async ({ name }, at) => {
      const health = await startHealth(context, () => leader === name)
      return `  server server-${at + 1} ${name} check addr 127.0.0.1 port ${health}`
    }),
  )
  const file = join(context.dir, 'haproxy-database.cfg')
  await writeFile(
    file,
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions
${lines.join('\n')}
`,
  )
  const log = openSync(join(context.dir, 'haproxy-database.log'), 'a')
  const haproxy = spawn('haproxy', ['-f', file], { stdio: ['ignore', log, log] })
  haproxy.on('error', () => {})
  context.afterwards(async () => {
    if (haproxy.exitCode === null && haproxy.kill()) await once(haproxy, 'exit')
  })
  await until('HAProxy runs (on Debian: apt-get install haproxy)', async () => haproxy.pid !== undefined)
  const url = new URL(first.url)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    leadTo({ name }) {
      leader = name
    },
  }
}
