/** Services that keep running while gateways are killed: a real PostgreSQL and a real chain. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { createRpc } from '../../src/chain/rpc.ts'
import { type ConnectedDatabase, createDatabase } from '../../src/db/database.ts'
import { checkInvariants, invariants } from '../../src/db/invariants/check-invariants.ts'
import { prepareDatabase } from '../../src/db/migrations.ts'
import { developmentKey } from '../../src/embedded/embedded-anvil.ts'
import { startEmbeddedPostgres } from '../../src/embedded/embedded-postgres.ts'
import type { Log } from '../../src/shared/log.ts'
import { type BlockClock, createBlockClock } from './block-clock.ts'
import type { ProofContext } from './proof.ts'
import { runSql } from './run-sql.ts'

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

export interface Parts {
  databaseUrl: string
  database: ConnectedDatabase
  rpcUrl: string
  /** Mines the blocks. All other changes of the chain must go through it. */
  blocks: BlockClock
  /** Resets the chain: a new one starts at the same address, with the same chain ID and accounts. */
  resetChain(): Promise<void>
  /** Environment of a gateway that uses these services. */
  env: Record<string, string>
  /** Returns the URL of another database on the same server. */
  urlOf(name: string): string
  /** Returns the database URL for a gateway with a role of this name, which identifies its sessions. */
  urlAs(name: string): Promise<string>
  /** Copies the service's database. No client may be connected to it. */
  copyDatabase(name: string): Promise<string>
}

/** Starts anvil with a block every `seconds`, or without automatic blocks for 0. */
async function startChain({ afterwards }: ProofContext, seconds: number) {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const resolve = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json')).resolve
  const binary = resolve(`@foundry-rs/anvil-${platform}/bin/anvil`)
  let end = async () => {}
  const begin = async (port: string) => {
    const args = ['--host', '127.0.0.1', '--port', port, '--no-mining', '--accounts', '2']
    // Keeps all states in memory. After some hundred blocks anvil would move them to disk. It then loses contract code, so reorgs fail.
    args.push('--prune-history', '500')
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    end = async () => {
      child.kill('SIGKILL')
      await ended
    }
    return new Promise<string>((found, reject) => {
      ended.then(() => reject(new Error('anvil ended before it listened')))
      createInterface(child.stdout).on('line', (line) => {
        const address = /Listening on (\S+)/.exec(line)?.[1]
        if (address) found(`http://${address}`)
      })
    })
  }
  afterwards(() => end())
  const url = await begin('0')
  const blocks = createBlockClock(createRpc({ url }))
  await blocks.every(seconds * 1_000)
  afterwards(() => blocks.every(0))
  const reset = async () => {
    await end()
    await begin(new URL(url).port)
  }
  return { url, blocks, reset: () => blocks.change(reset) }
}

/** Starts the services. `openPostgres`: opens the database. Defaults to the embedded server. */
export async function startParts(
  context: ProofContext,
  blockSeconds = 1,
  openPostgres = (): Promise<{ url: string; stop(): Promise<unknown> }> =>
    startEmbeddedPostgres({ dir: context.dir, log: silent }),
): Promise<Parts> {
  const { dir, afterwards } = context
  const { url: rpcUrl, blocks, reset: resetChain } = await startChain(context, blockSeconds)
  const postgres = await openPostgres()
  afterwards(() => postgres.stop())
  await prepareDatabase(postgres.url)
  const database = createDatabase({ url: postgres.url, pool: 4, log: silent })
  afterwards(() => database.close())
  const urlOf = (name: string) => {
    const url = new URL(postgres.url)
    url.pathname = `/${name}`
    return url.href
  }
  return {
    databaseUrl: postgres.url,
    database,
    rpcUrl,
    blocks,
    resetChain,
    urlOf,
    env: {
      ANNAL_DIR: dir,
      DATABASE_URL: postgres.url,
      CHAIN_RPC_URL: rpcUrl,
      CHAIN_RELAY_KEYS: developmentKey,
      CHAIN_DEPLOY_REGISTRY: 'true',
      KEY_ENCRYPTION_KEY: '11'.repeat(32),
      LOG_LEVEL: 'warn',
      SIGN_UP_POINTS: '100000',
      LIMITS:
        'sign-up=1000000,sign-in=1000000,reset=1000000,verification=1000000,open-orders=1000000,requests-per-user=100000000,requests-per-address=100000000',
    },
    async urlAs(name) {
      const url = new URL(postgres.url)
      await runSql(database, `create role "${name}" superuser login password '${name}'`)
      url.username = name
      url.password = name
      return url.href
    },
    async copyDatabase(name) {
      const admin = createDatabase({ url: urlOf('postgres'), pool: 1, log: silent })
      try {
        await runSql(admin, `create database ${name} template annal`)
      } finally {
        await admin.close()
      }
      return urlOf(name)
    },
  }
}

/** Returns a message for each invariant that does not hold. */
export async function brokenInvariants(database: ConnectedDatabase): Promise<string[]> {
  const results = await checkInvariants(database)
  if (results.length !== invariants.length) return ['Not every invariant was checked.']
  return results
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ invariant, rows }) => `${invariant.id} is broken by ${rows.length} rows, such as ${JSON.stringify(rows[0])}`,
    )
}
