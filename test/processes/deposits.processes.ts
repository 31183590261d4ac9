/** Deposits on a chain with manual mining. Each test controls the confirmation depth. */
import { Wallet } from 'ethers'
import { expect, it, onTestFinished } from 'vitest'
import { quantity } from '../../src/chain/rpc.ts'
import { findWaitingWork } from '../../src/cli/check-commands.ts'
import { deleteStaleJobFailures, findJobFailures, retryJobFailures } from '../../src/jobs/batch-jobs.ts'
import { createDepositLedger } from '../../src/modules/coins/deposit-ledger.ts'
import { COIN, CONFIRMATIONS, depositsOf, useDepositScene } from '../support/chain/deposit-scene.ts'
import { cuts, rewriting } from '../support/chain-faults.ts'
import { startChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import type { TestUser } from '../support/user.ts'

const app = await createTestApp()
const scene = useDepositScene(app)

const bookedOf = (user: TestUser) =>
  app.sql<{ reference: string; amount: string; type: string }>(
    `select t.reference, trim_scale(d.amount)::text as amount, e.type from deposits d
       join transfers t on t.reference = d.reference join events e on e.transfer_id = t.id
     where d.wallet_id = $1::uuid order by d.block_number, e.sequence`,
    [user.id],
  )

it('credits a confirmed deposit, which only its owner sees before the confirmation', async () => {
  const [user, other] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const earlier = await app.newUser({ points: '0' })
  await scene.watchFromNow()
  await scene.send(earlier, COIN)
  await scene.mine(1)
  const hash = await scene.send(user, (COIN * 3n) / 2n + 1n)
  await scene.mine(CONFIRMATIONS)
  await eventually(async () => (await depositsOf(earlier))[0]?.status === 'CREDITED')
  expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  const amount = '1.500000000000000001'
  const facts = { kind: 'COIN', amount, transactionHash: hash, shortfall: '0' }
  await eventually(async () => (await depositsOf(user))[0]?.confirmations === CONFIRMATIONS - 1)
  const [pending] = await depositsOf(user)
  expect(pending).toMatchObject({ ...facts, status: 'PENDING' })
  const { results } = expectOk(await user.rest('GET', 'wallet/deposits/?status=pending'))
  expect(results).toMatchObject([
    { id: pending!.id, kind: 'coin', status: 'pending', transaction_hash: hash, confirmations: CONFIRMATIONS - 1 },
  ])
  expect(results[0]).toMatchObject({ block_number: pending!.blockNumber, credited_at: null, frozen_at: null })
  expect(await depositsOf(other)).toEqual([])
  const node = `{ node(id: "${pending!.id}") { ... on Deposit { status } } }`
  expect(expectOk(await other.graphql(node)).node).toBeNull()
  expect(expectOk(await user.graphql(node)).node).toEqual({ status: 'PENDING' })
  expectError(await app.rest('GET', 'wallet/deposits/'), 'NOT_AUTHENTICATED')
  expectError(await user.rest('GET', 'wallet/deposits/?status=lost'), 'VALIDATION_FAILED')

  await scene.mineAndCatchUp(1)
  expect(await app.wallet(user)).toEqual({ num: amount, points: '0' })
  expect(await depositsOf(user)).toMatchObject([{ ...facts, id: pending!.id, status: 'CREDITED' }])
  expect(expectOk(await user.rest('GET', 'wallet/deposits/?status=pending')).results).toEqual([])
  expect(await bookedOf(user)).toEqual([{ reference: `deposit:${hash}:-1`, amount, type: 'deposit.credited' }])
  expect(
    await app.sql(
      `select book::text, trim_scale(amount)::text as amount from entries e join transfers t on t.id = e.transfer_id
       where t.reference = $1 and wallet_id is null`,
      [`deposit:${hash}:-1`],
    ),
  ).toEqual([{ book: 'DEPOSITS', amount: `-${amount}` }])
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: amount })
})

it("deposits use the chain's finality if configured", async () => {
  const user = await app.newUser({ points: '0' })
  const finalizedAt = () => scene.rpc.call<{ number: string }>('eth_getBlockByNumber', 'finalized', false)
  await scene.watchFromNow({ confirmations: 'finalized' })
  await scene.send(user, COIN)
  await scene.mine(1)
  const block = await scene.headNumber()
  for (;;) {
    await scene.mine(1)
    if (Number((await finalizedAt()).number) >= block) break
  }
  await eventually(async () => (await app.wallet(user)).num === '1')
  expect(await scene.headNumber()).toBeGreaterThan(block + CONFIRMATIONS)
})

it('credits several deposits of one block in separate transfers and in order', async () => {
  const [one, other] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  await scene.watchFromNow()
  await scene.send(one, COIN)
  await scene.send(other, COIN * 5n)
  await scene.send(one, COIN * 2n)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect((await bookedOf(one)).map(({ amount }) => amount)).toEqual(['1', '2'])
  expect(await app.wallet(one)).toMatchObject({ num: '3' })
  expect(await app.wallet(other)).toMatchObject({ num: '5' })
  const events = await app.sql('select sequence from events where owner_id = $1::uuid order by sequence', [one.id])
  expect(events).toEqual([{ sequence: 1 }, { sequence: 2 }])
})

const refuseWallet = async (user: TestUser) => {
  await app.sql(`create or replace function test_refuse() returns trigger language plpgsql as
    $$ begin raise exception 'for a test'; end $$`)
  await app.sql(`create trigger test_refuse before update on wallets for each row
    when (old.user_id = '${user.id}') execute function test_refuse()`)
  return () => app.sql('drop trigger test_refuse on wallets')
}
const findFailures = () => app.installation.database.query(findJobFailures, { limit: 100 })
const whatIsKept = async () => {
  const [row] = await app.sql<{ position: string; credited: number; aside: number }>(
    `select (select value from key_values where key like 'deposits:%' limit 1) as position, (select count(*)::int from deposits where status = 'CREDITED') as credited,
       (select count(*)::int from deposits where status = 'PENDING') as aside`,
  )
  return row!
}

it('suspends a deposit that the ledger rejects, credits the other deposits, and retries the suspended one', async () => {
  const [bad, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const allow = await refuseWallet(bad)
  await scene.watchFromNow()
  const refused = `deposit:${await scene.send(bad, COIN)}:-1`
  await scene.send(good, 5n * COIN)
  await scene.mine(CONFIRMATIONS + 1)
  await eventually(async () => (await app.wallet(good)).num === '5')
  await scene.caughtUp()
  await scene.send(good, COIN)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(good)).toMatchObject({ num: '6' })
  expect(await app.wallet(bad)).toMatchObject({ num: '0' })
  await eventually(findFailures, (rows) => rows.length > 0)
  expect(await findFailures()).toMatchObject([{ job: 'credit-deposits', item: refused, last_error: 'for a test' }])
  const w3 = (await findWaitingWork(app.installation.database)).find(({ invariant }) => invariant.id === 'W3')
  expect(w3?.rows).toMatchObject([{ subject: refused, batchJob: 'credit-deposits' }])
  await app.sql(`update job_failures set next_attempt_at = now() - interval '2 days'`)
  await app.installation.database.query(deleteStaleJobFailures)
  expect(await findFailures()).toHaveLength(1)
  await app.installation.database.query(retryJobFailures)
  await eventually(findFailures, ([job_failure]) => job_failure!.attempts > 1)
  expect(app.log.lines).toMatchObject([{ level: 'error', fields: { job: 'credit-deposits', items: [refused] } }])

  await allow()
  await app.installation.database.query(retryJobFailures)
  await eventually(findFailures, (rows) => rows.length === 0)
  expect(await app.wallet(bad)).toMatchObject({ num: '1' })
  expect(await bookedOf(bad)).toEqual([{ reference: refused, amount: '1', type: 'deposit.credited' }])
  expect(await whatIsKept()).toMatchObject({ aside: 0 })
})

it("suspends and lists a deposit that exceeds the ledger's maximum", async () => {
  const [rich, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const payer = Wallet.createRandom().address
  await scene.rpc.call('anvil_setBalance', payer, quantity(10n ** 39n))
  await scene.rpc.call('anvil_impersonateAccount', payer)
  await scene.watchFromNow()
  const hash = await scene.send(rich, 10n ** 38n, payer)
  await scene.send(good, COIN)
  await scene.mine(CONFIRMATIONS + 1)
  await eventually(async () => (await app.wallet(good)).num === '1')
  await eventually(findFailures, (rows) => rows.length > 0)
  const failure = { item: `deposit:${hash}:-1`, last_error: expect.stringContaining('overflow') }
  expect(await findFailures()).toMatchObject([failure])
  expect(await depositsOf(rich)).toMatchObject([{ status: 'PENDING', amount: `1${'0'.repeat(20)}` }])
})

it('stores deposits and scan position together, and credits once with several processes', async () => {
  const [bad, good] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const books = createDepositLedger(app.installation)
  await books.begin(1, 'start')
  const deposit = { kind: 'COIN' as const, position: -1, amount: '1', blockNumber: 1, blockHash: '0xbb' }
  const found = [bad, good].map(({ address, id }) => ({ ...deposit, transactionHash: id, address }))
  const before = await whatIsKept()
  const move = { from: 'start', to: 'end' }
  await refuseWallet(bad)
  await app.sql('drop trigger test_refuse on wallets')
  await app.sql(
    `create trigger test_refuse before insert on deposits for each statement execute function test_refuse()`,
  )
  await expect(books.storeFound(1, move, found)).rejects.toThrow('for a test')
  expect(await whatIsKept()).toEqual(before)

  await app.sql('drop trigger test_refuse on deposits')
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => books.storeFound(1, move, found)))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
  expect(await whatIsKept()).toEqual({ ...before, position: 'end', aside: before.aside + 2 })
  expect(await books.creditDue({ chainId: 1, position: 'start' }, 1)).toBe(0)
  await Promise.all(Array.from({ length: 8 }, () => books.creditDue({ chainId: 1, position: 'end' }, 1)))
  expect(await books.storeFound(1, { from: 'end', to: 'again' }, found)).toBe(true)
  expect(await books.creditDue({ chainId: 1, position: 'again' }, 1)).toBe(0)
  for (const user of [bad, good]) expect(await app.wallet(user)).toMatchObject({ num: '1' })
})

it('finds deposits of many blocks after a downtime', async () => {
  const user = await app.newUser({ points: '0' })
  const before = await scene.watchFromNow()
  await before.stop()
  await scene.send(user, COIN)
  await scene.mine(50)
  await scene.send(user, COIN)
  await scene.mine(CONFIRMATIONS + 1)
  await scene.watchFromNow()
  expect(await app.wallet(user)).toMatchObject({ num: '2' })
})

it('credits a deposit once when one process takes over from another', async () => {
  const user = await app.newUser({ points: '0' })
  const first = scene.watch()
  await scene.watchFromNow()
  await scene.send(user, COIN)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  await first.stop()
  await scene.send(user, COIN)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: '2' })
  expect(await bookedOf(user)).toHaveLength(2)
})

it('the deposit scan ignores failed transactions, transactions without value, and other recipients', async () => {
  const user = await app.newUser({ points: '0' })
  const reverting = await app.newUser({ points: '0' })
  // Code that reverts, so that the payment is included and fails.
  await scene.rpc.call('anvil_setCode', reverting.address, '0x60006000fd')
  await scene.watchFromNow()
  const failed = await scene.send(reverting, COIN)
  await scene.send(user, 0n)
  await scene.rpc.call('eth_sendTransaction', { from: scene.sender, to: Wallet.createRandom().address, value: '0x1' })
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await scene.rpc.call('eth_getTransactionReceipt', failed)).toMatchObject({ status: '0x0' })
  expect(await app.wallet(reverting)).toMatchObject({ num: '0' })
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
})

const lacksNextBlock = rewriting(({ method, params }, result) =>
  method === 'eth_getBlockByNumber' && params[1] === true ? null : result,
)

it.each([
  ['is unreachable', cuts, ''],
  ['lacks the next block', lacksNextBlock, 'returned contradictory responses'],
])('the deposit scan waits while the node %s, logs the problem once, and continues', async (_, fault, reason) => {
  const user = await app.newUser({ points: '0' })
  const proxy = await startChainProxy(onTestFinished, scene.url)
  await scene.watchFromNow({ rpcUrl: proxy.url })
  proxy.fault = fault
  await scene.send(user, COIN)
  await scene.mine(CONFIRMATIONS + 1)
  await eventually(() => app.log.lines.length > 0)
  proxy.fault = undefined
  await scene.caughtUp()
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  const message = expect.stringMatching(/^Deposit watcher failed/)
  expect(app.log.lines).toMatchObject([{ message, fields: { reason: expect.stringContaining(reason) } }])
})
