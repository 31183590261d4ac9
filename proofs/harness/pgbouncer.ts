/** PgBouncer as a process of its own, which can be killed and started again. Configured by `deploy/pgbouncer/pgbouncer.ini`. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findFreePort } from '../../src/platform/embedded/child-process.ts'
import { until } from '../../test/support/eventually.ts'
import type { ProofContext } from './proof.ts'

export interface PgBouncer {
  /** The database of `databaseUrl`, through it. */
  url: string
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
  /** Starts it, and waits until it lets somebody in. */
  start(): Promise<void>
}

/** Settings in place of those of the file; undefined: the line is left out. */
export type PoolerSettings = Record<string, string | number | undefined>

const binary = process.env.PGBOUNCER || 'pgbouncer'
const missing = 'PgBouncer did not start. On Debian: apt-get install pgbouncer; or PGBOUNCER=<path>.'

/** As `1.24`. */
export function versionOfPgBouncer(): string {
  try {
    return /(\d+\.\d+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' }))![1]!
  } catch (cause) {
    throw new Error(missing, { cause })
  }
}

/** From 1.21 on. */
export const keepsStatements = (version: string): boolean => Number(version.split('.')[1]) >= 21

const template = readFileSync(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url), 'utf8')

/** What the file says to each server session. */
export const connectQuery = /connect_query='([^']+)'/.exec(template)![1]!

/** The file's settings, but for others. */
function configure(entry: string, settings: PoolerSettings): string {
  const [, section] = template.split('[pgbouncer]\n')
  const lines = section!.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
  const all: PoolerSettings = Object.fromEntries(lines.map((line) => line.split(' = ')))
  for (const [name, value] of Object.entries(settings)) all[name] = value
  const text = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name} = ${value}`]))
  return `[databases]\n* = ${entry}\n[pgbouncer]\n${text.join('\n')}\n`
}

/** `saying`: what it says to each server session; what the file does, when left out. */
export async function startPgBouncer(
  { dir, afterwards }: ProofContext,
  databaseUrl: string,
  { saying = connectQuery, ...settings }: PoolerSettings & { saying?: string } = {},
): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(databaseUrl)
  const own = await findFreePort()
  const folder = join(dir, `pgbouncer-${own}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`)
  const saidTo = saying === '' ? '' : ` connect_query='${saying}'`
  const ini = configure(`host=${hostname} port=${port}${saidTo}`, {
    listen_port: own,
    auth_file: join(folder, 'users'),
    ...(keepsStatements(versionOfPgBouncer()) && { max_prepared_statements: 1000 }),
    ...settings,
  })
  writeFileSync(join(folder, 'pgbouncer.ini'), ini)
  const isRoot = process.getuid?.() === 0
  // It refuses to run as root, and must come through to its files.
  if (isRoot) execFileSync('chmod', ['-R', 'a+rX', dir])
  const url = new URL(databaseUrl)
  url.port = String(own)
  let child: ChildProcess | undefined

  const letsIn = async () => {
    if (child?.exitCode !== null || child.pid === undefined) throw new Error(missing)
    const client = new pg.Client({ connectionString: url.href, connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  }

  const pgbouncer = {
    url: url.href,
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async start() {
      const started = spawn(binary, [...(isRoot ? ['-u', 'postgres'] : []), join(folder, 'pgbouncer.ini')], {
        stdio: 'ignore',
      })
      started.on('error', () => undefined)
      child = started
      await until('PgBouncer lets somebody in', letsIn, 20_000, 25)
    },
  }
  afterwards(pgbouncer.kill)
  await pgbouncer.start()
  return pgbouncer
}
