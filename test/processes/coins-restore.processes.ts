import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { quantity, type ReceiptReply } from '../../src/chain/rpc.ts'
import { fromUnits, toUnits } from '../../src/shared/money.ts'
import { annalHere } from '../support/annal-command.ts'
import { COIN, CONFIRMATIONS, createCoinScene } from '../support/chain/coin-scene.ts'
import { withL1Fee } from '../support/chain-faults.ts'
import { eventually } from '../support/eventually.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import type { SignedIn } from '../support/test-app.ts'
import { backUp } from '../support/test-database.ts'
import { PASSWORD } from '../support/user.ts'

const scene = await createCoinScene({ WITHDRAWAL_HOLD_SECONDS: '0', WITHDRAWALS_PER_DAY: '50' })
const { chain, proxy, app, treasuryAddress, moveCoins, mine, balanceOf, pay, rich, settled, movesOf, findings } = scene

const newAddress = () => Wallet.createRandom().address
const mutation = `mutation ($input: WithdrawInput!) { withdraw(input: $input) { withdrawal { id status } } }`
const withdraw = async (user: SignedIn, amount: string, to: string): Promise<string> => {
  const input = { amount, to, currentPassword: PASSWORD }
  return expectOk(await user.graphql(mutation, { input })).withdraw.withdrawal.id
}
const statusesOf = async (user: SignedIn) =>
  expectOk(await user.rest('GET', 'wallet/withdrawals/')).results.map(({ status }: { status: string }) => status)
const confirmed = (user: SignedIn, count: number) =>
  eventually(async () => {
    await mine()
    return (await statusesOf(user)).filter((status: string) => status === 'confirmed').length === count
  })
const credited = (user: SignedIn, num: string) => eventually(async () => (await app.wallet(user)).num === num)
const coins = async (...args: string[]) => {
  const { code, stdout, stderr } = await annalHere(app.env, ['coins', '--json', ...args])
  if (stdout === '') throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}

it('a restored database imports transactions that only the chain knows, and pays nothing twice', async () => {
  await chain.rpc.call('anvil_setBalance', treasuryAddress, quantity(100n * COIN))
  const first = moveCoins()
  const payer = await rich(10n * COIN)
  await settled(payer)
  await first.stop()
  const other = await rich(2n * COIN)
  const [asked, unknown, later] = [newAddress(), newAddress(), newAddress()]
  await withdraw(payer, '1', asked)
  expect(await coins()).toMatchObject({ code: 0, differing: [], imported: null })

  const backup = await backUp(app.env.DATABASE_URL!)
  const second = moveCoins()
  await settled(other)
  await confirmed(payer, 1)
  await withdraw(payer, '0.5', unknown)
  await confirmed(payer, 2)
  await pay(other.address, 3n * COIN)
  await mine(CONFIRMATIONS + 1)
  await credited(other, '5')
  await settled(other, 2)
  await second.stop()
  await backup.restore()

  const third = moveCoins()
  await eventually(() => app.log.lines.some(({ message }) => message.includes('the treasury has transactions that')))
  await credited(other, '5')
  await third.stop()
  expect(await statusesOf(payer)).toEqual(['waiting'])
  const [waiting] = await app.sql<{ id: string }>(
    `select type_id('withdrawal', id) as id from withdrawals where status = 'WAITING'`,
  )
  const cancel = () =>
    payer.graphql(`mutation ($id: ID!) { cancelWithdrawal(input: { id: $id }) { withdrawal { status } } }`, {
      id: waiting!.id,
    })
  expectError(await cancel(), 'UNAVAILABLE')
  expect(await statusesOf(payer)).toEqual(['waiting'])

  const seen = await coins()
  expect(seen).toMatchObject({ code: 1, imported: null })
  const [atOther, atTreasury] = seen.differing
  expect(atOther).toMatchObject({ address: other.address, booked: '5', expected: '0', held: '0', problems: [] })
  expect(atOther.unknown.map(({ nonce, kind, to }: Record<string, unknown>) => ({ nonce, kind, to }))).toEqual([
    { nonce: 0, kind: 'sweep', to: treasuryAddress },
    { nonce: 1, kind: 'sweep', to: treasuryAddress },
  ])
  expect(atTreasury).toMatchObject({
    address: treasuryAddress,
    user: null,
    unknown: [
      { kind: 'withdrawal', to: asked, arrived: '1' },
      { kind: 'payment', to: unknown, arrived: '0.5', withdrawal: null },
    ],
    problems: [expect.stringContaining(`paid 0.5 to ${unknown}, and no waiting withdrawal matches it`)],
  })
  expect(await coins('--import')).toMatchObject({ code: 1, imported: null })
  expect(await movesOf(other)).toEqual([])

  const borne = atTreasury.unknown[1].transaction
  expect(await coins('--write-off', borne)).toMatchObject({ code: 1, imported: null })
  expect(await movesOf(other)).toEqual([])
  // A node without archive state cannot report who used a nonce. The blocks are read instead.
  proxy.fault = async (calls, pass) =>
    (await pass()).map((reply) => {
      const call = calls.find(({ id }) => id === reply.id)!
      const isOld = call.method === 'eth_getTransactionCount' && Number(call.params[1]) < seen.block
      return isOld ? { jsonrpc: '2.0', id: reply.id, error: { code: -32000, message: 'missing trie node' } } : reply
    })
  const blind = await coins('--write-off', borne, '--import')
  expect(blind).toMatchObject({ code: 1, imported: null })
  expect(blind.differing[0].problems[0]).toContain('the node does not know them. Name a block')
  expect(await coins('--write-off', borne, '--from', '0', '--import')).toMatchObject({ code: 0, imported: 4 })
  proxy.fault = undefined

  moveCoins()
  await settled(other, 2)
  await confirmed(payer, 1)
  expect([await balanceOf(asked), await balanceOf(unknown)]).toEqual([COIN, COIN / 2n])
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
  expect(await coins()).toMatchObject({ code: 0, differing: [] })
  expect(await app.sql(`select from key_values where key = 'treasury-in-doubt'`)).toEqual([])
  await withdraw(payer, '2', later)
  await confirmed(payer, 2)
  expect(await balanceOf(later)).toBe(2n * COIN)
  const [revenue] = await app.sql<{ sum: string }>(
    `select trim_scale(sum(amount))::text as sum from entries where book = 'REVENUE' and currency = 'NUM'`,
  )
  expect(toUnits(revenue!.sum)).toBe(-COIN / 2n)
  expect(await app.sql(`select subject from audit_entries where action = 'payment.borne'`)).toEqual([
    { subject: borne },
  ])
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('reverses a platform-funded payment that is reorganized away and then fails', async () => {
  await chain.rpc.call('anvil_setBalance', treasuryAddress, quantity(100n * COIN))
  const user = await app.newUser({ num: '5' })
  const to = newAddress()
  const borne = () =>
    app.sql(
      `select trim_scale(sum(amount))::text as sum from entries where book = 'REVENUE' and currency = 'NUM'
       and transfer_id in (select id from transfers where reference like 'coins-%')`,
    )
  const before = await borne()
  const becomes = (condition: string) =>
    eventually(async () => {
      await mine()
      return (await app.sql(`select from coin_transfers where recipient = $1 and ${condition}`, [to])).length > 0
    })
  const noted = moveCoins()
  await eventually(
    async () =>
      (await app.sql(`select from key_values where key = $1`, [`treasury:${treasuryAddress}`]))[0] !== undefined,
  )
  await noted.stop()
  const backup = await backUp(app.env.DATABASE_URL!)
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  await withdraw(user, '1', to)
  const first = moveCoins()
  await confirmed(user, 1)
  await first.stop()
  await backup.restore()
  const [{ unknown }] = (await coins()).differing
  expect(await coins('--write-off', unknown[0].transaction, '--import')).toMatchObject({ code: 0, imported: 1 })
  const second = moveCoins()
  await becomes(`status = 'FINAL'`)
  await second.stop()

  await chain.rpc.call('evm_revert', snapshot)
  await chain.rpc.call('anvil_setCode', to, '0x60006000fd')
  await chain.rpc.call('evm_increaseTime', 1_000)
  await mine(10)
  moveCoins()
  await becomes('arrived = 0')
  await mine(130)
  await becomes(`status = 'FAILED'`)
  expect(await borne()).toEqual(before)
  expect(await balanceOf(to)).toBe(0n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('`annal coins` reports coins that others moved, and writes nothing', async () => {
  const user = await rich(COIN)
  const thief = newAddress()
  await chain.rpc.call('anvil_impersonateAccount', user.address)
  await chain.rpc.call('eth_sendTransaction', { from: user.address, to: thief, value: quantity(COIN / 2n) })
  await mine()
  const { code, differing } = await coins('--import')
  expect(code).toBe(1)
  expect(differing).toHaveLength(1)
  expect(differing[0].problems.join()).toMatch(new RegExp(`sent coins to ${thief}, which is not a treasury`))
  expect(await movesOf(user)).toEqual([])
  await chain.rpc.call('anvil_stopImpersonatingAccount', user.address)
  const said = await annalHere(app.env, ['coins'])
  expect(said.stdout).toContain(user.address)
  expect(said.stderr).toContain('The unknown transactions do not explain all differences. Nothing was imported.')
  await chain.rpc.call('anvil_setBalance', user.address, quantity(COIN))
})

it('the import of transactions includes their L1 data fee', async () => {
  const user = await rich(COIN)
  const l1Fee = 10n ** 15n
  const value = COIN / 2n
  await chain.rpc.call('anvil_impersonateAccount', user.address)
  const hash = await chain.rpc.call<string>('eth_sendTransaction', {
    ...{ from: user.address, to: treasuryAddress, value: quantity(value) },
  })
  await mine()
  await chain.rpc.call('anvil_stopImpersonatingAccount', user.address)
  proxy.fault = withL1Fee(l1Fee)
  const { differing } = await coins()
  const receipt = await chain.rpc.call<ReceiptReply>('eth_getTransactionReceipt', hash)
  const fee = BigInt(receipt.gasUsed!) * BigInt(receipt.effectiveGasPrice!) + l1Fee
  const found = differing.find(({ address }: { address: string }) => address === user.address)
  expect(found).toMatchObject({ booked: '1', expected: fromUnits(COIN - value - fee) })
  await chain.rpc.call('anvil_setBalance', user.address, quantity(COIN))
})

it.each([
  ['--write-off', 'x'],
  ['--from', '-1'],
])('the import command rejects %s %s as invalid arguments', async (option, value) => {
  expect(await annalHere(app.env, ['coins', option, value])).toMatchObject({ code: 2, stdout: '' })
})
