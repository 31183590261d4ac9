/** Withdrawals after a database restore that lost payments of the treasury. */
import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { createKeyPair, toHex } from '../../src/chain/keys.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { annalHere } from '../support/annal-command.ts'
import { COIN, createCoinScene } from '../support/chain/coin-scene.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import type { SignedIn } from '../support/test-app.ts'
import { backUp } from '../support/test-database.ts'
import { PASSWORD } from '../support/user.ts'

const { chain, proxy, app, moveCoins, mine, balanceOf } = await createCoinScene({
  WITHDRAWAL_HOLD_SECONDS: '0',
  WITHDRAWALS_PER_DAY: '50',
})

const mutation = `mutation ($input: WithdrawInput!) { withdraw(input: $input) { withdrawal { id } } }`
const withdraw = async (user: SignedIn, amount: string, to: string) =>
  expectOk(await user.graphql(mutation, { input: { amount, to, currentPassword: PASSWORD } }))
const statusesOf = async (user: SignedIn) =>
  expectOk(await user.rest('GET', 'wallet/withdrawals/')).results.map(({ status }: { status: string }) => status)
const confirmed = (user: SignedIn) =>
  eventually(async () => {
    await mine()
    return (await statusesOf(user)).every((status: string) => status === 'confirmed')
  })
const newTreasury = async () => {
  const pair = createKeyPair()
  await chain.rpc.call('anvil_setBalance', pair.address, quantity(100n * COIN))
  return pair
}
/** Waits until the first transaction of this treasury is in the mempool. */
const isSent = ({ address }: ReturnType<typeof createKeyPair>) =>
  eventually(async () => Number(await chain.rpc.call('eth_getTransactionCount', address, 'pending')) === 1)
/** Runs the treasury worker until the database knows this treasury. */
const note = async (treasury: ReturnType<typeof createKeyPair>) => {
  const mover = moveCoins(treasury)
  await eventually(
    async () =>
      (await app.sql(`select from key_values where key = $1`, [`treasury:${treasury.address}`]))[0] !== undefined,
  )
  await mover.stop()
}
const logs = (text: string, field: string, address: string) =>
  app.log.lines.some(
    ({ message, fields }) => message.includes(text) && new Map(Object.entries(fields)).get(field) === address,
  )
/** Waits until this worker reports that withdrawals wait because of that treasury, and stops it. */
const waitsFor = async (address: string, mover: ReturnType<typeof moveCoins>) => {
  await eventually(() => logs('the treasury has transactions that the database does not know', 'treasury', address))
  await mine(2)
  await mover.stop()
}

/** Returns the output of `annal coins` with this treasury. */
const compare = async ({ privateKey }: ReturnType<typeof createKeyPair>, ...more: string[]) => {
  const env = { ...app.env, CHAIN_TREASURY_KEY: toHex(privateKey) }
  const { code, stdout } = await annalHere(env, ['coins', '--json', ...more])
  return { code, ...JSON.parse(stdout) }
}

it.each(['old', 'new'])('pays no withdrawal twice after a treasury change, if the %s treasury paid', async (who) => {
  const [earlier, later] = [await newTreasury(), await newTreasury()]
  await note(earlier)
  const user = await app.newUser({ num: '10' })
  const to = Wallet.createRandom().address
  await withdraw(user, '1', to)
  const backup = await backUp(app.env.DATABASE_URL!)
  const payer = who === 'old' ? earlier : later
  const paying = moveCoins(payer)
  await confirmed(user)
  await paying.stop()
  await backup.restore()

  const differing = [{ address: payer.address, unknown: [{ kind: 'withdrawal', to, arrived: '1' }] }]
  expect(await compare(later)).toMatchObject({ differing })
  await waitsFor(payer.address, moveCoins(later))
  expect(await statusesOf(user)).toEqual(['waiting'])
  expect(await compare(later, '--import')).toMatchObject({ code: 0, imported: 1, differing })
  moveCoins(later)
  await confirmed(user)
  expect(await balanceOf(to)).toBe(COIN)
})

it('reports a payment whose nonce another installation used', async () => {
  const treasury = await newTreasury()
  await note(treasury)
  const user = await app.newUser({ num: '5' })
  const mover = moveCoins(treasury)
  await withdraw(user, '1', Wallet.createRandom().address)
  await isSent(treasury)
  const dear = quantity(10n ** 12n)
  await chain.rpc.call('anvil_impersonateAccount', treasury.address)
  await chain.rpc.call('eth_sendTransaction', {
    ...{ from: treasury.address, to: Wallet.createRandom().address, value: quantity(COIN), nonce: '0x0' },
    ...{ maxFeePerGas: dear, maxPriorityFeePerGas: dear },
  })
  await chain.rpc.call('anvil_stopImpersonatingAccount', treasury.address)
  await eventually(async () => {
    await mine()
    return logs('an unknown transaction used its nonce', 'address', treasury.address)
  })
  expect(await statusesOf(user)).toEqual(['sending'])
  await mover.stop()
})

it('completes a payment with a node without archive state', async () => {
  const treasury = await newTreasury()
  const user = await app.newUser({ num: '5' })
  proxy.fault = async (calls, pass) => {
    const head = quantity(await chain.rpc.call<string>('eth_blockNumber').then(Number))
    const isOld = ({ method, params }: (typeof calls)[number]) =>
      ['eth_getTransactionCount', 'eth_getBalance'].includes(method) &&
      /^0x/.test(String(params[1])) &&
      params[1] !== head
    if (!calls.some(isOld)) return undefined
    const replies = await pass()
    const error = { code: -32000, message: 'missing trie node' }
    return replies.map((reply, index) => (isOld(calls[index]!) ? { jsonrpc: '2.0', id: reply.id, error } : reply))
  }
  const to = Wallet.createRandom().address
  const mover = moveCoins(treasury)
  await withdraw(user, '1', to)
  await isSent(treasury)
  await confirmed(user)
  await mover.stop()
  expect(app.log.lines.filter(({ message }) => message.startsWith('Coin transfers failed'))).toEqual([])
})

it('searches payments of a previous treasury once while withdrawals wait', async () => {
  const [earlier, later] = [await newTreasury(), await newTreasury()]
  await note(earlier)
  const user = await app.newUser({ num: '5' })
  await withdraw(user, '1', Wallet.createRandom().address)
  const backup = await backUp(app.env.DATABASE_URL!)
  const paying = moveCoins(earlier)
  await confirmed(user)
  await paying.stop()
  await backup.restore()
  const asked: string[] = []
  proxy.fault = (calls) => void asked.push(...calls.map(({ method }) => method))
  const timesOf = (method: string) => asked.filter((each) => each === method).length
  const mover = moveCoins(later)
  await eventually(() => timesOf('eth_feeHistory') >= 5)
  await mover.stop()
  expect(timesOf('eth_getTransactionByHash')).toBe(1)
  expect(await compare(later, '--import')).toMatchObject({ code: 0, imported: 1 })
})

it('withdrawals wait while the treasury has unknown pending transactions', async () => {
  const treasury = await newTreasury()
  await note(treasury)
  const user = await app.newUser({ num: '5' })
  const to = Wallet.createRandom().address
  await withdraw(user, '1', to)
  const backup = await backUp(app.env.DATABASE_URL!)
  const paying = moveCoins(treasury)
  await isSent(treasury)
  await paying.stop()
  await backup.restore()
  await waitsFor(treasury.address, moveCoins(treasury))
  expect(await statusesOf(user)).toEqual(['waiting'])
  expect(await balanceOf(to)).toBe(COIN)
})
