/** Coins that contracts send: they stand in no transaction to the address. */
import { Wallet } from 'ethers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readBalancesAt } from '../../src/chain/deposits/balances.ts'
import { quantity } from '../../src/chain/rpc.ts'
import {
  COIN,
  CONFIRMATIONS,
  contradictions,
  type DepositScene,
  depositsOf,
  openDepositScene,
} from '../chain/support/deposit-scene.ts'
import { deploy } from '../chain/support/test-contracts.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'
import type { TestUser } from '../support/user.ts'

const app = await createTestApp()
let scene: DepositScene
beforeEach(async () => {
  scene = await openDepositScene(app)
})
afterEach(() => scene.stop())

const num = async (user: TestUser) => (await app.wallet(user)).num
const has = (user: TestUser, amount: string) =>
  eventually(
    () => num(user),
    (held) => held === amount,
  )

it('credits them once they count, beside what transactions bring and what the wallet’s own key takes', async () => {
  const payer = await deploy(scene, 'Payer')
  const earlier = await app.newUser({ points: '0' })
  await scene.rpc.call('anvil_setBalance', earlier.address, quantity(COIN))
  await scene.mine(CONFIRMATIONS + 1)
  const watcher = scene.watch()
  await scene.caughtUp()
  await scene.mine(CONFIRMATIONS)
  await eventually(
    () => app.sql('select from balance_marks where wallet_id = $1::uuid', [earlier.id]),
    (rows) => rows.length === 1,
  )
  const user = await app.newUser({ points: '0' })
  await payer.call('pay', [user.address], 2n)
  await scene.send(user, COIN * 3n)
  await payer.call('payAndFail', [user.address], 5n)
  await payer.call('pay', [earlier.address], 7n)
  await scene.mine(1)
  await scene.caughtUp()
  expect((await depositsOf(user)).map(({ kind }) => kind)).toEqual(['COIN'])
  await scene.mine(CONFIRMATIONS)
  await has(user, '5')
  await has(earlier, '7')
  expect((await depositsOf(user)).map(({ kind, amount, status }) => [kind, amount, status])).toEqual([
    ['CONTRACT', '2', 'CREDITED'],
    ['COIN', '3', 'CREDITED'],
  ])

  // Its own key spends, and another process goes on with what this one knew.
  await watcher.stop()
  await scene.rpc.call('anvil_impersonateAccount', user.address)
  await scene.send(earlier, COIN, user.address)
  await payer.call('pay', [user.address], 4n)
  await scene.mine(CONFIRMATIONS + 30)
  scene.watch()
  await has(user, '9')
  await has(earlier, '8')
  expect(await app.sql('select amount > 1 as with_fee from spendings where wallet_id = $1::uuid', [user.id])).toEqual([
    { with_fee: true },
  ])
  await scene.mine(3)
  await scene.caughtUp()
  expect([await num(user), await num(earlier), await contradictions(app)]).toEqual(['9', '8', []])
  expect(app.log.lines).toEqual([])
})

it('freezes them with the blocks that the chain has lost, and finds them anew where they are', async () => {
  const payer = await deploy(scene, 'Payer')
  scene.watch()
  await scene.caughtUp()
  const user = await app.newUser({ points: '0' })
  const before = await scene.snapshot()
  await payer.call('pay', [user.address], 2n)
  await scene.mine(CONFIRMATIONS + 2)
  await has(user, '2')
  await scene.revert(before)
  await scene.mine(CONFIRMATIONS + 4)
  await has(user, '0')
  expect((await depositsOf(user)).map(({ kind, status }) => [kind, status])).toEqual([['CONTRACT', 'FROZEN']])
  await payer.call('pay', [user.address], 1n)
  await scene.mine(CONFIRMATIONS + 1)
  await has(user, '1')
  await scene.mine(2)
  await scene.caughtUp()
  expect([await num(user), await contradictions(app)]).toEqual(['1', []])
})

it('tells of an address that holds less than what came in, once, and goes on from there', async () => {
  const payer = await deploy(scene, 'Payer')
  scene.watch()
  await scene.caughtUp()
  const user = await app.newUser({ points: '0' })
  await scene.send(user, COIN * 3n)
  await scene.mine(CONFIRMATIONS + 1)
  await has(user, '3')
  await scene.rpc.call('anvil_setBalance', user.address, quantity(COIN))
  await scene.mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.log.lines,
    (lines) => lines.some(({ message }) => message.includes('hold fewer coins than')),
  )
  await payer.call('pay', [user.address], 1n)
  await scene.mine(CONFIRMATIONS + 1)
  await has(user, '4')
  expect(app.log.lines).toMatchObject([{ level: 'error', fields: { addresses: [user.address], count: 1 } }])
})

it('reads ten thousand balances in some twenty calls', async () => {
  const accounts = Array.from(
    { length: 10_000 },
    (_, index) => `0x${(index + 1_000_000).toString(16).padStart(40, '0')}`,
  )
  const rich = Wallet.createRandom().address
  accounts[9_999] = rich
  await scene.rpc.call('anvil_setBalance', rich, quantity(COIN))
  await scene.mine(1)
  const { hash } = await scene.rpc.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
  let calls = 0
  const counting: typeof scene.rpc = {
    ...scene.rpc,
    batch(asked) {
      calls += asked.length
      return scene.rpc.batch(asked)
    },
  }
  const balances = await readBalancesAt(counting, accounts, hash)
  expect([balances.length, balances[9_998], balances[9_999], calls]).toEqual([10_000, 0n, COIN, 20])
})
