/** A gateway behind PgBouncer: it works where sessions are its own, and says why it does not start where they are not. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { assertOwnSessions } from '../src/platform/database/assert-own-sessions.ts'
import { createGateway } from './harness/gateway.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** PgBouncer before `databaseUrl`. Returns the URL that leads through it. */
async function startPooler({ dir, afterwards }: ProofContext, databaseUrl: string, settings: object): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  const own = await freePort()
  const folder = join(dir, `pgbouncer-${own}`)
  mkdirSync(folder)
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    auth_type: 'plain',
    auth_file: join(folder, 'users'),
    default_pool_size: 20,
    ...settings,
  }
  const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(folder, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\n${text.join('\n')}\n`,
  )
  const isRoot = process.getuid?.() === 0
  // It refuses to run as root, and must come through to its files.
  if (isRoot) execFileSync('chmod', ['-R', 'a+rX', dir])
  const child: ChildProcess = spawn(
    'pgbouncer',
    [...(isRoot ? ['-u', 'postgres'] : []), join(folder, 'pgbouncer.ini')],
    {
      stdio: 'ignore',
    },
  )
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')])
  afterwards(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = new URL(databaseUrl)
  url.port = String(own)
  url.pathname = pathname
  for (let tries = 0; tries < 100; tries += 1) {
    const client = new pg.Client({ connectionString: url.href })
    client.on('error', () => {})
    if (
      await client.connect().then(
        () => true,
        () => false,
      )
    ) {
      await client.end()
      return url.href
    }
    if (child.exitCode !== null || child.pid === undefined) break
    await delay(100)
  }
  throw new Error('PgBouncer did not start. On Debian: apt-get install pgbouncer')
}

const ignored = { ignore_startup_parameters: 'extra_float_digits,statement_timeout,lock_timeout' }

/** What a start through this pooler says; empty when it is content. */
const refusal = (url: string) =>
  assertOwnSessions(url).then(
    () => '',
    (error: Error) => error.message,
  )

export async function provePooler(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  const cases = [
    { name: 'PostgreSQL itself', url: parts.databaseUrl, expected: /^$/ },
    {
      name: 'transaction mode',
      url: await startPooler(context, parts.databaseUrl, { pool_mode: 'transaction', ...ignored }),
      expected: /shares sessions/,
    },
    {
      name: 'transaction mode, taking turns',
      url: await startPooler(context, parts.databaseUrl, {
        pool_mode: 'transaction',
        server_round_robin: 1,
        ...ignored,
      }),
      expected: /shares sessions/,
    },
    {
      name: 'session mode that drops settings',
      url: await startPooler(context, parts.databaseUrl, { pool_mode: 'session', ...ignored }),
      expected: /drops the settings/,
    },
    {
      name: 'a pooler that takes no settings',
      url: await startPooler(context, parts.databaseUrl, { pool_mode: 'session' }),
      expected: /takes no settings/,
    },
  ]
  const reasons: string[] = []
  for (const { name, url, expected } of cases) {
    const said = await refusal(url)
    context.say(`${name}: ${said || 'starts'}`)
    if (!expected.test(said)) reasons.push(`${name}: said ${JSON.stringify(said)}`)
  }
  const gateway = await createGateway(context, 'pooled', { ...parts.env, DATABASE_URL: cases[1]!.url })
  const started = await gateway.start().then(
    () => true,
    () => false,
  )
  if (started) reasons.push('A gateway started on shared sessions.')
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${cases.length} ways to the database`,
    n: cases.length,
    faultsInjected: cases.length - 1,
    reasons,
  })
}
