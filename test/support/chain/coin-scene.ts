/** A service, a chain with manual mining behind a proxy, and the coin transfers on it. */
import { afterEach, beforeEach } from 'vitest'
import type { Poller } from '../../../src/chain/poller.ts'
import { createRegistry } from '../../../src/chain/registry/registry.ts'
import { quantity } from '../../../src/chain/rpc.ts'
import type { Database } from '../../../src/db/database-types.ts'
import { checkInvariants } from '../../../src/db/invariants/check-invariants.ts'
import { createDepositLedger } from '../../../src/modules/coins/deposit-ledger.ts'
import { createDepositWatcher } from '../../../src/modules/coins/deposits/deposit-watcher.ts'
import { checkCoins } from '../../../src/modules/coins/treasury/check-coins.ts'
import {
  createTreasuryWorker,
  type TreasuryWorkerOptions,
} from '../../../src/modules/coins/treasury/treasury-worker.ts'
import { fromUnits, toUnits } from '../../../src/shared/money.ts'
import { atEnd } from '../at-end.ts'
import { startChainProxy } from '../chain-proxy.ts'
import { eventually } from '../eventually.ts'
import { createTestApp, type SignedIn } from '../test-app.ts'
import { startChain } from './anvil.ts'

export const COIN = 10n ** 18n
export const CONFIRMATIONS = 2

type MoveRow = { status: string; amount: string; arrived: string | null; fee: string | null; sender: string }

export async function createCoinScene(env: Record<string, string> = {}) {
  const chain = await startChain({ args: ['--no-mining'] })
  const proxy = await startChainProxy(atEnd, chain.url)
  const app = await createTestApp({ rpcUrl: proxy.url, env })
  atEnd(() => chain.stop())
  const treasury = app.chain.treasury!
  const treasuryAddress = treasury.address
  const [sender] = await chain.rpc.call<string[]>('eth_accounts')
  await chain.rpc.call('anvil_mine', quantity(CONFIRMATIONS + 1))

  let parts: Poller[]
  beforeEach(() => {
    parts = []
    proxy.fault = undefined
    proxy.ambush = undefined
    proxy.sent.length = 0
  })
  afterEach(async () => {
    await Promise.all(parts.map((part) => part.stop()))
  })

  const { installation } = app
  const shared = (rpcUrl: string) => ({
    ...installation,
    registry: createRegistry({ rpcUrl, database: installation.database }),
    confirmations: CONFIRMATIONS,
    pollEvery: 20,
  })
  const watcher = createDepositWatcher({ ...shared(chain.url), ledger: createDepositLedger(installation) })
  watcher.start()
  atEnd(() => watcher.stop())
  const moveCoins = (from = treasury, others: Pick<TreasuryWorkerOptions, 'doubtPatience'> = {}) => {
    const mover = createTreasuryWorker({
      ...shared(proxy.url),
      ...{ treasury: from, maxFeePerGas: 500n * 10n ** 9n, meter: installation.telemetry.meter },
      ...others,
    })
    parts.push(mover)
    mover.start()
    return mover
  }
  const mine = async (blocks = 1) => {
    for (let mined = 0; mined < blocks; mined += 1) await chain.rpc.call('evm_mine')
  }
  const balanceOf = async (address: string) => BigInt(await chain.rpc.call<string>('eth_getBalance', address, 'latest'))
  const pay = async (to: string, value: bigint) =>
    chain.rpc.call<string>('eth_sendTransaction', { from: sender, to, value: quantity(value), gas: '0x186a0' })

  const rich = async (value: bigint): Promise<SignedIn> => {
    const user = await app.newUser({ points: '0' })
    await eventually(async () => (await app.sql(`select from key_values where key like 'deposits:%'`)).length > 0)
    await pay(user.address, value)
    await mine(CONFIRMATIONS + 1)
    await eventually(async () => (await app.wallet(user)).num === fromUnits(value))
    return user
  }
  const movesOf = (user: SignedIn) =>
    app.sql<MoveRow>(
      `select status::text, trim_scale(amount)::text as amount, trim_scale(arrived)::text as arrived, trim_scale(fee)::text as fee, sender
       from coin_transfers where wallet_id = $1::uuid and kind = 'SWEEP' order by nonce`,
      [user.id],
    )
  const settled = (user: SignedIn, count = 1) =>
    eventually(
      async () => {
        await mine()
        return movesOf(user)
      },
      (moves) => moves.length === count && moves.every(({ status }) => status === 'FINAL'),
    )
  const books = async () => {
    const rows = await app.sql<{ book: string; sum: string }>(
      `select book::text, trim_scale(sum(amount))::text as sum from entries where currency = 'NUM' and book is not null group by book`,
    )
    return Object.fromEntries(rows.map(({ book, sum }) => [book, toUnits(sum)])) as Record<string, bigint>
  }
  const changed = async (work: () => Promise<unknown>) => {
    const before = await books()
    await work()
    const after = await books()
    const change = (book: string) => (after[book] ?? 0n) - (before[book] ?? 0n)
    return {
      deposits: change('DEPOSITS'),
      inTransit: change('IN_TRANSIT'),
      treasury: change('TREASURY'),
      gas: change('GAS'),
    }
  }
  const findings = async (database: Database = installation.database) => {
    const found = await checkCoins({ database, registry: app.chain.registry, recorders: [], most: 10 })
    const broken = (await checkInvariants(installation.database)).filter(({ rows }) => rows.length > 0)
    return { broken, ...Object.fromEntries(found.map(({ id, rows }) => [id, rows])) }
  }

  return {
    ...{ chain, sender: sender!, proxy, app, treasury, treasuryAddress, moveCoins, mine, balanceOf },
    ...{ pay, rich, movesOf, settled, changed, findings },
  }
}
