/** Deposits from a chain whose blocks are made by hand, so that each test says what is deep enough and when. */
import { Transaction, Wallet } from 'ethers'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { extendTrail, readTrail, writeTrail } from '../../src/chain/deposit-trail.ts'
import { createDepositWatcher, type DepositWatcher } from '../../src/chain/deposits.ts'
import { createRegistry } from '../../src/chain/registry.ts'
import { quantity } from '../../src/chain/rpc.ts'
import type { BlockId } from '../../src/chain/view.ts'
import { findWaitingWork } from '../../src/cli/waiting.ts'
import { findSetbacks, forgetStaleSetbacks, retrySetbacks } from '../../src/domain/sweep/setback-statements.ts'
import { createDepositService } from '../../src/domain/wallet/deposit-service.ts'
import { cuts } from '../support/chain-faults.ts'
import { startChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'
import type { TestUser } from '../support/user.ts'
import { startChain, type TestChain } from './support/anvil.ts'

const app = await createTestApp()
const CONFIRMATIONS = 3
const COIN = 10n ** 18n

let chain: TestChain
let watchers: DepositWatcher[]
let sender: string

beforeEach(async () => {
  // Every test has a chain of its own under the same id.
  await app.sql(`delete from settings where key like 'deposits:%'`)
  for (const table of ['set_aside_deposits', 'setbacks']) await app.sql(`delete from ${table}`)
  app.log.lines.length = 0
  watchers = []
  chain = await startChain({ args: ['--no-mining'] })
  sender = (await chain.rpc.call<string[]>('eth_accounts'))[0]!
  await mine(CONFIRMATIONS)
})
afterEach(async () => {
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  await chain.stop()
})

const mine = async (blocks: number) => {
  for (let mined = 0; mined < blocks; mined += 1) await chain.rpc.call('evm_mine')
}
const headNumber = async () => Number(await chain.rpc.call<string>('eth_blockNumber'))

function watch(rpcUrl = chain.url): DepositWatcher {
  const { database, databaseUrl, log } = app.installation
  const watcher = createDepositWatcher({
    registry: createRegistry({ rpcUrl, database }),
    books: createDepositService(app.installation),
    databaseUrl,
    log,
    confirmations: CONFIRMATIONS,
    pollEvery: 20,
  })
  watchers.push(watcher)
  watcher.start()
  return watcher
}

/** The newest block that was read; undefined before the first look. */
const scanned = async (): Promise<number | undefined> => {
  const [row] = await app.sql<{ value: string }>(`select value from settings where key like 'deposits:%'`)
  return row && JSON.parse(row.value)[0][0]
}
/** Until the watcher has read all that is deep enough. */
const caughtUp = async () => {
  const deep = (await headNumber()) - CONFIRMATIONS
  await eventually(scanned, (number) => number === deep)
}
const send = (to: TestUser, value: bigint, from = sender) =>
  chain.rpc.call<string>('eth_sendTransaction', { from, to: to.address, value: quantity(value), gas: '0x186a0' })

const bookedOf = (user: TestUser) =>
  app.sql<{ reference: string; amount: string; type: string }>(
    `select t.reference, trim_scale(d.amount)::text as amount, e.type from deposits d
       join transfers t on t.reference = 'deposit:' || d.transaction_hash || ':' || d.position
       join events e on e.transfer_id = t.id
     where d.wallet_id = $1::uuid order by d.block_number, e.sequence`,
    [user.id],
  )

it('credits a deposit once it is deep enough, and not before', async () => {
  const user = await app.newUser({ points: '0' })
  watch()
  await caughtUp()
  const hash = await send(user, (COIN * 3n) / 2n + 1n)
  await mine(CONFIRMATIONS)
  await caughtUp()
  expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })

  await mine(1)
  await caughtUp()
  expect(await app.wallet(user)).toEqual({ num: '1.500000000000000001', points: '0' })
  expect(await bookedOf(user)).toEqual([
    { reference: `deposit:${hash}:-1`, amount: '1.500000000000000001', type: 'deposit.credited' },
  ])
  expect(
    await app.sql(
      `select book::text, trim_scale(amount)::text as amount from entries e join transfers t on t.id = e.transfer_id
       where t.reference = $1 and wallet_id is null`,
      [`deposit:${hash}:-1`],
    ),
  ).toEqual([{ book: 'DEPOSITS', amount: '-1.500000000000000001' }])
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1.500000000000000001' })
})

it('credits several deposits of one block, each in its own transfer, in the order of the feed', async () => {
  const [one, other] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  watch()
  await caughtUp()
  for (const [user, coins] of [
    [one, 1n],
    [other, 5n],
    [one, 2n],
  ] as const)
    await send(user, COIN * coins)
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect((await bookedOf(one)).map(({ amount }) => amount)).toEqual(['1', '2'])
  expect(await app.wallet(one)).toMatchObject({ num: '3' })
  expect(await app.wallet(other)).toMatchObject({ num: '5' })
  expect(await app.sql('select sequence from events where owner_id = $1::uuid order by sequence', [one.id])).toEqual([
    { sequence: 1 },
    { sequence: 2 },
  ])
})

/** Whatever writes to this wallet's row raises. */
const refuseWallet = async (user: TestUser) => {
  await app.sql(`create or replace function test_refuse() returns trigger language plpgsql as
    $$ begin raise exception 'for a test'; end $$`)
  await app.sql(`create trigger test_refuse before update on wallets for each row
    when (old.user_id = '${user.id}') execute function test_refuse()`)
  return () => app.sql('drop trigger test_refuse on wallets')
}
const setbacks = () => app.installation.database.query(findSetbacks, { limit: 100 })
const whatIsKept = async () => {
  const [row] = await app.sql<{ position: string; credited: number; aside: number }>(
    `select (select value from settings where key like 'deposits:%') as position, (select count(*)::int from deposits) as credited,
       (select count(*)::int from set_aside_deposits) as aside`,
  )
  return row!
}

it('sets a deposit aside that the books refuse: the others of its block are credited, and it when it can be', async () => {
  const [bad, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const allow = await refuseWallet(bad)
  watch()
  await caughtUp()
  const refused = await send(bad, COIN)
  await send(good, 5n * COIN)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.wallet(good),
    ({ num }) => num === '5',
  )
  await caughtUp()
  await send(good, COIN)
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect(await app.wallet(good)).toMatchObject({ num: '6' })
  expect(await app.wallet(bad)).toMatchObject({ num: '0' })
  await eventually(setbacks, (rows) => rows.length > 0)
  expect(await setbacks()).toMatchObject([{ sweep: 'credit-deposits', item: refused, last_error: 'for a test' }])
  const w3 = (await findWaitingWork(app.installation.database)).find(({ invariant }) => invariant.id === 'W3')
  expect(w3?.rows).toMatchObject([{ subject: refused, sweep: 'credit-deposits' }])
  // However long nobody watches.
  await app.sql(`update setbacks set next_attempt_at = now() - interval '2 days'`)
  await app.installation.database.query(forgetStaleSetbacks)
  expect(await setbacks()).toHaveLength(1)
  await app.installation.database.query(retrySetbacks)
  await eventually(setbacks, ([setback]) => setback!.attempts > 1)
  expect(app.log.lines).toMatchObject([{ level: 'error', fields: { sweep: 'credit-deposits', items: [refused] } }])

  await allow()
  await app.installation.database.query(retrySetbacks)
  await eventually(setbacks, (rows) => rows.length === 0)
  expect(await app.wallet(bad)).toMatchObject({ num: '1' })
  expect(await bookedOf(bad)).toEqual([{ reference: `deposit:${refused}:-1`, amount: '1', type: 'deposit.credited' }])
  expect(await whatIsKept()).toMatchObject({ aside: 0 })
})

it('sets a deposit aside that is larger than the books can hold, and shows it', async () => {
  const [rich, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const payer = Wallet.createRandom().address
  await chain.rpc.call('anvil_setBalance', payer, quantity(10n ** 39n))
  await chain.rpc.call('anvil_impersonateAccount', payer)
  watch()
  await caughtUp()
  const hash = await send(rich, 10n ** 38n, payer)
  await send(good, COIN)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.wallet(good),
    ({ num }) => num === '1',
  )
  await eventually(setbacks, (rows) => rows.length > 0)
  expect(await setbacks()).toMatchObject([{ item: hash, last_error: expect.stringContaining('overflow') }])
  expect(await app.sql('select transaction_hash, address, amount from set_aside_deposits')).toEqual([
    { transaction_hash: hash, address: rich.address, amount: `1${'0'.repeat(20)}` },
  ])
})

it('writes what is set aside and where the scan stands as one, and credits once when several try', async () => {
  const [bad, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const books = createDepositService(app.installation)
  await books.begin(1, 'start')
  const deposit = { amount: '1', blockNumber: 1, blockHash: '0xbb' }
  const found = [bad, good].map(({ address, id }) => ({ ...deposit, transactionHash: id, address }))
  const before = await whatIsKept()
  const allow = await refuseWallet(bad)
  const move = { from: 'start', to: 'end' }
  await app.sql(`create trigger test_refuse_aside before insert on set_aside_deposits
    for each statement execute function test_refuse()`)
  await expect(books.credit(1, move, found)).rejects.toThrow('for a test')
  expect(await whatIsKept()).toEqual(before)

  await app.sql('drop trigger test_refuse_aside on set_aside_deposits')
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => books.credit(1, move, found)))
  expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual([0])
  expect(await whatIsKept()).toMatchObject({ position: 'end', aside: before.aside + 2 })
  await allow()
  await Promise.all(Array.from({ length: 4 }, () => books.creditSetAside()))
  // Found once more, as after a chain that changed.
  expect(await books.credit(1, { from: 'end', to: 'again' }, found)).toBe(0)
  for (const user of [bad, good]) expect(await app.wallet(user)).toMatchObject({ num: '1' })
})

it('forgets what it set aside from blocks that the chain has lost, and finds it anew where it is', async () => {
  const [bad, late] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const allow = await refuseWallet(bad)
  watch()
  await caughtUp()
  await mine(10)
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  await send(bad, COIN)
  await mine(CONFIRMATIONS + 4)
  await eventually(setbacks, (rows) => rows.length === 1)
  await caughtUp()

  await chain.rpc.call('evm_revert', snapshot)
  await send(late, COIN)
  await mine(CONFIRMATIONS + 8)
  await eventually(
    () => app.wallet(late),
    ({ num }) => num === '1',
  )
  await allow()
  await eventually(whatIsKept, ({ aside }) => aside === 0)
  expect([await setbacks(), await app.wallet(bad)]).toMatchObject([[], { num: '0' }])
})

it('finds what came in while nobody watched, over many blocks', async () => {
  const user = await app.newUser({ points: '0' })
  const before = watch()
  await caughtUp()
  await before.stop()
  await send(user, COIN)
  await mine(50)
  await send(user, COIN)
  await mine(CONFIRMATIONS + 1)
  watch()
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '2' })
})

it('credits once when two processes watch, and one takes over from the other', async () => {
  const user = await app.newUser({ points: '0' })
  const first = watch()
  watch()
  await caughtUp()
  await send(user, COIN)
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  await first.stop()
  await send(user, COIN)
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '2' })
  expect(await bookedOf(user)).toHaveLength(2)
})

it('credits once when two scans of the same blocks end at the same moment', async () => {
  const user = await app.newUser({ points: '0' })
  const books = createDepositService(app.installation)
  await books.begin(1, 'start')
  const found = { transactionHash: '0xaa', address: user.address, amount: '1', blockNumber: 1, blockHash: '0xbb' }
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => books.credit(1, { from: 'start', to: 'end' }, [found])),
  )
  expect(outcomes.filter((credited) => credited !== undefined)).toEqual([1])
  // Read again from the start, as after a reorganisation.
  expect(await books.credit(1, { from: 'end', to: 'again' }, [found])).toBe(0)
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
})

it('does not credit a transaction that failed, nor one without value, nor one to a stranger', async () => {
  const user = await app.newUser({ points: '0' })
  const reverting = await app.newUser({ points: '0' })
  // Code that reverts: only so can a payment be included and fail.
  await chain.rpc.call('anvil_setCode', reverting.address, '0x60006000fd')
  watch()
  await caughtUp()
  const failed = await send(reverting, COIN)
  await send(user, 0n)
  await chain.rpc.call('eth_sendTransaction', { from: sender, to: Wallet.createRandom().address, value: '0x1' })
  await mine(CONFIRMATIONS + 1)
  await caughtUp()
  expect(await chain.rpc.call('eth_getTransactionReceipt', failed)).toMatchObject({ status: '0x0' })
  expect(await app.wallet(reverting)).toMatchObject({ num: '0' })
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
})

it('does not credit what a reorganisation drops before it is deep enough', async () => {
  const user = await app.newUser({ points: '0' })
  watch()
  await caughtUp()
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  await send(user, COIN)
  await mine(CONFIRMATIONS)
  await caughtUp()
  await chain.rpc.call('evm_revert', snapshot)
  // Blocks at the same heights, with other contents.
  await chain.rpc.call('eth_sendTransaction', { from: sender, to: Wallet.createRandom().address, value: '0x1' })
  await mine(2 * CONFIRMATIONS)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
  expect(app.log.lines).toEqual([])
})

it('tells of a deeper reorganisation, reads again from the fork, and credits nothing twice', async () => {
  const [user, late] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const payer = Wallet.createRandom()
  await chain.rpc.call('anvil_setBalance', payer.address, quantity(100n * COIN))
  watch()
  await caughtUp()
  await mine(10)
  const raw = await payer.signTransaction(
    Transaction.from({
      ...{ type: 2, chainId: 31337, nonce: 0, to: user.address, value: COIN, gasLimit: 100_000n },
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
    }),
  )
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  await chain.rpc.call('eth_sendRawTransaction', raw)
  await mine(CONFIRMATIONS + 4)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1' })

  await chain.rpc.call('evm_revert', snapshot)
  await send(late, COIN * 7n)
  await mine(1)
  await chain.rpc.call('eth_sendRawTransaction', raw)
  await mine(CONFIRMATIONS + 5)
  await caughtUp()
  expect(await app.wallet(late)).toMatchObject({ num: '7' })
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  expect(app.log.lines).toEqual([
    { level: 'error', message: expect.stringContaining('deeper than'), fields: expect.anything() },
  ])
})

it('credits what comes in on a chain that was put back to an earlier moment, before it is as long again', async () => {
  const user = await app.newUser({ points: '0' })
  watch()
  await caughtUp()
  const before = await chain.rpc.call<string>('evm_snapshot')
  await send(user, COIN)
  await mine(40)
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1' })

  await chain.rpc.call('evm_revert', before)
  await chain.rpc.call('evm_increaseTime', 1_000)
  const hash = await send(user, COIN * 2n)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => bookedOf(user),
    (rows) => rows.some(({ reference }) => reference === `deposit:${hash}:-1`),
  )
  expect(await app.wallet(user)).toMatchObject({ num: '3' })
  expect(app.log.lines.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('The chain changed deeper'),
  )
})

it('credits what comes in on a chain that was put back, when it is exactly as long again', async () => {
  const user = await app.newUser({ points: '0' })
  const first = watch()
  await caughtUp()
  const before = await chain.rpc.call<string>('evm_snapshot')
  await mine(20)
  await caughtUp()
  await first.stop()
  const height = await headNumber()

  await chain.rpc.call('evm_revert', before)
  await send(user, COIN)
  await mine(height - (await headNumber()))
  watch()
  await eventually(
    () => app.wallet(user),
    ({ num }) => num === '1',
  )
  expect(await headNumber()).toBe(height)
})

it('remembers few blocks of a long way, and some of them near', () => {
  let trail: readonly BlockId[] = []
  for (let number = 1; number <= 5_000; number += 1) trail = extendTrail(trail, { number, hash: `0x${number}` })
  expect(readTrail(writeTrail(extendTrail(trail, { number: 5_001, hash: '0x5001' })))).toHaveLength(trail.length)
  expect(trail.length).toBeLessThan(16)
  for (const depth of [1, 10, 100, 1_000]) {
    const nearest = trail.find(({ number }) => number <= 5_000 - depth)
    expect(5_000 - nearest!.number).toBeLessThanOrEqual(4 * depth)
  }
})

it('waits while the chain is down, says so once, and goes on when it is back', async () => {
  const user = await app.newUser({ points: '0' })
  const proxy = await startChainProxy(onTestFinished, chain.url)
  watch(proxy.url)
  await caughtUp()
  proxy.fault = cuts
  await send(user, COIN)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.log.lines,
    (lines) => lines.some(({ message }) => message.startsWith('Deposits wait')),
  )
  proxy.fault = undefined
  await caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  expect(app.log.lines).toHaveLength(1)
})
