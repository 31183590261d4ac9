/** A chain with manual mining and deposit watchers on it. Each test controls the confirmation depth. */

import { afterEach, beforeEach } from 'vitest'
import type { Poller } from '../../../src/chain/poller.ts'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { quantity } from '../../../src/chain/rpc.ts'
import { checkInvariants } from '../../../src/db/invariants/check-invariants.ts'
import { createDepositLedger } from '../../../src/modules/coins/deposit-ledger.ts'
import {
  createDepositWatcher,
  type DepositWatcherOptions,
} from '../../../src/modules/coins/deposits/deposit-watcher.ts'
import { eventually } from '../eventually.ts'
import { expectOk } from '../expect-error.ts'
import type { SignedIn, TestApp } from '../test-app.ts'
import type { TestUser } from '../user.ts'
import { startChain } from './anvil.ts'

export const CONFIRMATIONS = 3
export const COIN = 10n ** 18n

/** Opens a scene for each test. The object keeps its identity, and its members change. */
export function useDepositScene(app: TestApp) {
  const scene = {} as Awaited<ReturnType<typeof openDepositScene>>
  beforeEach(async () => void Object.assign(scene, await openDepositScene(app)))
  afterEach(() => scene.stop())
  return scene
}

async function openDepositScene(app: TestApp) {
  await app.sql(`delete from key_values where key like 'deposits%'`)
  await app.sql('delete from job_failures')
  await app.sql(`delete from deposits where status = 'PENDING'`)
  await app.sql(`update deposits set block_number = 0 where status = 'CREDITED'`)
  app.log.lines.length = 0
  const chain = await startChain({ args: ['--no-mining'] })
  const [sender] = await chain.rpc.call<string[]>('eth_accounts')
  const watchers: Poller[] = []
  const mine = async (blocks: number) => {
    await chain.rpc.call('anvil_mine', quantity(blocks))
  }
  const headOf = () => chain.rpc.call<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false)
  const dueBefore = (block: number) =>
    app.sql(
      `select from deposits where status <> 'CREDITED' and block_number <= $1
         and not exists (select from job_failures where item = reference)`,
      [block],
    )
  await mine(CONFIRMATIONS)

  return {
    ...{ url: chain.url, rpc: chain.rpc, sender: sender!, mine },
    headNumber: async () => Number((await headOf()).number),
    snapshot: () => chain.rpc.call<string>('evm_snapshot'),
    revert: async (snapshot: string) => void (await chain.rpc.call('evm_revert', snapshot)),
    send: (to: TestUser, value: bigint, from = sender!) =>
      chain.rpc.call<string>('eth_sendTransaction', { from, to: to.address, value: quantity(value), gas: '0x186a0' }),

    watch({ rpcUrl = chain.url, ...options }: Partial<DepositWatcherOptions> & { rpcUrl?: string } = {}) {
      const { database, databaseUrl, log } = app.installation
      const watcher = createDepositWatcher({
        registry: createRegistry({ rpcUrl, database }),
        ledger: createDepositLedger(app.installation),
        ...{ databaseUrl, log, confirmations: CONFIRMATIONS, pollEvery: 20, ...options },
      })
      watchers.push(watcher)
      watcher.start()
      return watcher
    },

    async caughtUp() {
      const { number, hash } = await headOf()
      await eventually(
        () => app.sql<{ value: string }>(`select value from key_values where key like 'deposits:%'`),
        ([row]) => row !== undefined && JSON.parse(row.value)[0][1] === hash,
      )
      await eventually(async () => (await dueBefore(Number(number) - CONFIRMATIONS)).length === 0)
    },

    /** Starts a watcher, and waits until it has read all blocks. */
    async watchFromNow(options?: Parameters<typeof this.watch>[0]) {
      const watcher = this.watch(options)
      await this.caughtUp()
      return watcher
    },

    async mineAndCatchUp(blocks: number) {
      await mine(blocks)
      await this.caughtUp()
    },

    async stop() {
      await Promise.all(watchers.map((watcher) => watcher.stop()))
      await chain.stop()
    },
  }
}

export const depositsOf = async (user: SignedIn): Promise<Record<string, unknown>[]> => {
  const asked = `{ deposits(first: 100) { nodes { id kind status amount transactionHash blockNumber confirmations shortfall } } }`
  return expectOk(await user.graphql(asked)).deposits.nodes
}

export const contradictions = async (app: TestApp) =>
  (await checkInvariants(app.installation.database)).filter(({ rows }) => rows.length > 0)

export type DepositScene = Awaited<ReturnType<typeof openDepositScene>>
