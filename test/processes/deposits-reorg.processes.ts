/** Deposits on a chain that is reorganized before or after they are credited. */
import { Transaction, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { quantity } from '../../src/chain/rpc.ts'
import { asSystem } from '../../src/context.ts'
import { collectShortfall, listFrozenDeposits, writeOffShortfall } from '../../src/modules/coins/deposits.ts'
import { toId } from '../../src/shared/ids.ts'
import { add } from '../../src/shared/money.ts'
import { atEnd } from '../support/at-end.ts'
import { COIN, CONFIRMATIONS, contradictions, depositsOf, useDepositScene } from '../support/chain/deposit-scene.ts'
import { startChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const scene = useDepositScene(app)

async function newPayment(to: SignedIn): Promise<{ hash: string; send(): Promise<unknown> }> {
  const payer = Wallet.createRandom()
  await scene.rpc.call('anvil_setBalance', payer.address, quantity(100n * COIN))
  const raw = await payer.signTransaction(
    Transaction.from({
      ...{ type: 2, chainId: 31337, nonce: 0, to: to.address, value: COIN, gasLimit: 100_000n },
      ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
    }),
  )
  return { hash: Transaction.from(raw).hash!, send: () => scene.rpc.call('eth_sendRawTransaction', raw) }
}
const shortfall = async () => {
  const [row] = await app.sql<{ sum: string }>(
    `select trim_scale(coalesce(-sum(amount), 0))::text as sum from entries where book = 'SHORTFALL'`,
  )
  return row!.sum
}
const reported = () => app.log.lines.filter(({ level }) => level === 'error')

it("the ledger matches the chain's balances after reorganizations of 1 to 20 blocks", async () => {
  const [lost, kept] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  await scene.watchFromNow()
  for (let depth = 1; depth <= 20; depth += 1) {
    const before = await scene.snapshot()
    await scene.send(lost, COIN)
    await scene.mineAndCatchUp(depth)
    const counted = depth > CONFIRMATIONS
    expect((await depositsOf(lost))[0]).toMatchObject({ status: counted ? 'CREDITED' : 'PENDING' })
    expect(await app.wallet(lost)).toMatchObject({ num: counted ? '1' : '0' })

    await scene.revert(before)
    await scene.send(kept, COIN)
    await scene.mineAndCatchUp(depth + CONFIRMATIONS + 1)
    expect([await app.wallet(lost), await app.wallet(kept)]).toMatchObject([{ num: '0' }, { num: String(depth) }])
  }
  const frozen = (await depositsOf(lost)).map(({ status, confirmations }) => ({ status, confirmations }))
  expect(frozen).toEqual(Array(20 - CONFIRMATIONS).fill({ status: 'FROZEN', confirmations: null }))
  expect(reported().map(({ message }) => message)).toEqual(
    Array(20 - CONFIRMATIONS).fill(expect.stringContaining('Chain reorganization deeper')),
  )
  expect([await shortfall(), await contradictions(app)]).toEqual(['0', []])
})

it('a reorganization freezes a spent deposit, alerts the operator, and keeps balances non-negative', async () => {
  const user = await app.newUser({ points: '0' })
  const payment = await newPayment(user)
  await scene.watchFromNow()
  await scene.mine(10)
  const before = await scene.snapshot()
  await payment.send()
  await scene.mineAndCatchUp(CONFIRMATIONS + 4)
  await user.register()
  const left = (await app.wallet(user)).num
  const owed = add('1', `-${left}`)

  await scene.revert(before)
  await scene.mineAndCatchUp(CONFIRMATIONS + 6)
  expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  const [frozen] = await depositsOf(user)
  expect(frozen).toMatchObject({
    status: 'FROZEN',
    shortfall: owed,
    confirmations: null,
    transactionHash: payment.hash,
  })
  expect(reported()).toMatchObject([
    { message: expect.stringContaining('annal deposits'), fields: { frozen: 1, shortfall: owed } },
  ])
  expect([await shortfall(), await contradictions(app)]).toEqual([owed, []])
  const [line] = expectOk(await user.rest('GET', 'wallet/transfers/?limit=1')).results
  expect(line).toMatchObject({ kind: 'deposit_freeze', subject_id: payment.hash, num: `-${left}`, balance_num: '0' })
  const system = asSystem(app.context)
  const listed = (await listFrozenDeposits(system, 100)).filter(({ wallet_id }) => wallet_id === user.id)
  expect(listed).toMatchObject([{ shortfall: owed, held: '0' }])
  await expect(collectShortfall(system, { id: frozen!.id as string })).rejects.toThrow(
    'No debt can be collected: the wallet owes nothing for this deposit, or the wallet is empty.',
  )
  const anonymous = { ...system, actor: { kind: 'anonymous', address: '', service: undefined } } as const
  await expect(listFrozenDeposits(anonymous, 10)).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })

  await payment.send()
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: left })
  expect(await depositsOf(user)).toMatchObject([{ id: frozen!.id, status: 'CREDITED', shortfall: '0' }])
  expect([await shortfall(), await contradictions(app)]).toEqual(['0', []])
  const events = expectOk(await user.graphql('{ events(last: 10) { nodes { type } } }')).events.nodes
  expect(events.map(({ type }: { type: string }) => type).filter((type: string) => /^deposit/.test(type))).toEqual([
    ...['deposit.credited', 'deposit.frozen', 'deposit.released'],
  ])
})

it('an operator can collect or write off the shortfall, which is reversed if the deposit returns', async () => {
  const [debtor, spared] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const payments = [await newPayment(debtor), await newPayment(spared)]
  await scene.watchFromNow()
  const before = await scene.snapshot()
  for (const payment of payments) await payment.send()
  await scene.mineAndCatchUp(CONFIRMATIONS + 4)
  for (const user of [debtor, spared]) await user.register()
  const spent = add('1', `-${(await app.wallet(debtor)).num}`)
  await scene.revert(before)
  await scene.send(debtor, COIN)
  await scene.mineAndCatchUp(CONFIRMATIONS + 6)
  const idOf = async (user: SignedIn) =>
    (await depositsOf(user)).find(({ status }) => status === 'FROZEN')!.id as string

  const system = asSystem(app.context)
  const had = (await app.wallet(debtor)).num
  const owing = await idOf(debtor)
  await app.sql('update wallets set num = 0 where user_id = $1::uuid', [debtor.id])
  const change = `update wallets set num = ${had} where user_id = '${debtor.id}'`
  const collected = await whileHeld(app, change, async () => {
    const asked = collectShortfall(system, { id: owing })
    await waiting(app, 1)
    return { asked }
  })
  expect(await collected.asked).toBe(spent)
  expect(await writeOffShortfall(system, { id: await idOf(spared) })).toBe(spent)
  await expect(writeOffShortfall(system, { id: await idOf(spared) })).rejects.toThrow('The wallet owes nothing')
  const unknown = toId('deposit', '00000000-0000-7000-8000-000000000000')
  for (const settle of [collectShortfall, writeOffShortfall])
    await expect(settle(system, { id: unknown })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await app.wallet(debtor)).toMatchObject({ num: add('1', `-${spent}`) })
  expect([await shortfall(), await contradictions(app)]).toEqual(['0', []])
  const trail = await app.sql(`select action from audit_entries where action like 'deposit.%' order by id`)
  expect(trail).toEqual([{ action: 'deposit.collected' }, { action: 'deposit.written-off' }])

  for (const payment of payments) await payment.send()
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(debtor)).toMatchObject({ num: add('2', `-${spent}`) })
  expect(await app.wallet(spared)).toMatchObject({ num: add('1', `-${spent}`) })
  expect(await contradictions(app)).toEqual([])
})

it('credits deposits on a restored chain that is still shorter', async () => {
  const user = await app.newUser({ points: '0' })
  await scene.watchFromNow()
  const before = await scene.snapshot()
  const first = await newPayment(user)
  await first.send()
  await scene.mineAndCatchUp(200)
  expect(await app.wallet(user)).toMatchObject({ num: '1' })

  await scene.revert(before)
  await scene.rpc.call('evm_increaseTime', 1_000)
  await scene.send(user, COIN * 2n)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: '2' })
  expect(reported()).toMatchObject([{ message: expect.stringContaining('Chain reorganization deeper') }])
  expect(await contradictions(app)).toEqual([])
})

it('credits deposits on a restored chain of the same length', async () => {
  const user = await app.newUser({ points: '0' })
  const first = await scene.watchFromNow()
  const before = await scene.snapshot()
  await scene.mineAndCatchUp(20)
  await first.stop()
  const height = await scene.headNumber()

  await scene.revert(before)
  await scene.send(user, COIN)
  await scene.mine(height - (await scene.headNumber()))
  scene.watch()
  await eventually(async () => (await app.wallet(user)).num === '1')
  expect(await scene.headNumber()).toBe(height)
})

it('drops a rejected deposit with its lost block, and finds the deposit in its new block', async () => {
  const [bad, late] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  await app.sql(`create or replace function test_refuse() returns trigger language plpgsql as
    $$ begin raise exception 'for a test'; end $$`)
  await app.sql(`create trigger test_refuse before update on wallets for each row
    when (old.user_id = '${bad.id}') execute function test_refuse()`)
  await scene.watchFromNow()
  await scene.mine(10)
  const before = await scene.snapshot()
  await scene.send(bad, COIN)
  await scene.mine(CONFIRMATIONS + 4)
  const job_failures = () => app.sql('select item from job_failures')
  await eventually(job_failures, (rows) => rows.length === 1)

  await scene.revert(before)
  await scene.send(late, COIN)
  await scene.mineAndCatchUp(CONFIRMATIONS + 8)
  await app.sql('drop trigger test_refuse on wallets')
  expect([await job_failures(), await depositsOf(bad), await app.wallet(late)]).toMatchObject([[], [], { num: '1' }])
})

it('freezes no deposit if a node lacks blocks, and continues with a node that has the blocks', async () => {
  const proxy = await startChainProxy(atEnd, scene.url)
  const user = await app.newUser({ points: '0' })
  await scene.watchFromNow({ rpcUrl: proxy.url })
  await scene.send(user, COIN)
  await scene.mine(CONFIRMATIONS + 1)
  const before = await scene.snapshot()
  await scene.mineAndCatchUp(1)
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
  let asked = 0
  proxy.fault = (calls) => {
    const isTrail = calls.length > 1 && calls.every(({ params }) => params[1] === false)
    asked += isTrail ? 1 : 0
    return isTrail && asked < 3 ? calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: null })) : undefined
  }
  await scene.revert(before)
  await scene.rpc.call('evm_increaseTime', 1_000)
  await scene.mineAndCatchUp(2)
  expect(asked).toBeGreaterThanOrEqual(3)
  expect(reported()).toEqual([])
  expect(await depositsOf(user)).toMatchObject([{ status: 'CREDITED' }])
  expect(await app.wallet(user)).toMatchObject({ num: '1' })
})
