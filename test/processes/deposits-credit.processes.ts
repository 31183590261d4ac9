/** `annal deposits credit`: an operator credits coins that a contract sent. */
import { randomBytes } from 'node:crypto'
import { Interface, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { quantity } from '../../src/chain/rpc.ts'
import { annalHere } from '../support/annal-command.ts'
import { COIN, CONFIRMATIONS, createCoinScene } from '../support/chain/coin-scene.ts'
import { deploy } from '../support/chain/test-contracts.ts'
import { refusesOnly } from '../support/chain-faults.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import type { SignedIn } from '../support/test-app.ts'

const scene = await createCoinScene({ CHAIN_DEPOSIT_CONFIRMATIONS: String(CONFIRMATIONS) })
const { chain, proxy, app, moveCoins, mine, balanceOf, pay, rich, settled, findings } = scene
const payer = await deploy({ ...chain, sender: scene.sender, mine }, 'Payer')

const annal = (hash: string, user: SignedIn, amount: string, ...more: string[]) =>
  annalHere(app.env, [
    ...['deposits', 'credit', hash, '--user', user.publicId, '--amount', amount, '--reason', 'Paid by an exchange'],
    ...more,
  ])
const finalize = async () => {
  await mine(CONFIRMATIONS + 1)
  const { hash } = await chain.rpc.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
  const scanned = `select from key_values where key like 'deposits:%' and value like '%' || $1 || '%'`
  await eventually(async () => (await app.sql(scanned, [hash])).length === 1)
}
const newUser = () => app.newUser({ points: '0' })
const num = async (user: SignedIn) => (await app.wallet(user)).num
const depositsOf = async (user: SignedIn) => expectOk(await user.rest('GET', 'wallet/deposits/')).results
/** A user to whom a contract sent 2 coins. */
const paidByContract = async () => {
  const user = await newUser()
  const hash = await payer.call('pay', [user.address], 2n)
  await finalize()
  return { user, hash }
}

it('an operator credits a deposit by a contract once, with an audit entry, and the treasury sweeps the coins', async () => {
  const { user, hash } = await paidByContract()
  expect(await num(user)).toBe('0')
  const said = await annal(hash, user, '2', '--json')
  expect(said).toMatchObject({ code: 0, stderr: '' })
  const credited = JSON.parse(said.stdout)
  expect(credited).toEqual({
    ...{ id: expect.stringMatching(/^deposit_/), userId: user.publicId, amount: '2', transactionHash: hash },
    ...{ blockNumber: expect.any(Number), isTraced: true },
  })
  expect(await num(user)).toBe('2')
  expect(await depositsOf(user)).toMatchObject([
    { id: credited.id, kind: 'coin', status: 'credited', amount: '2', transaction_hash: hash },
  ])
  expect(await app.sql('select user_id, action, reason from audit_entries where subject = $1', [credited.id])).toEqual([
    { user_id: null, action: 'deposit.credited', reason: 'Paid by an exchange' },
  ])
  expect(await app.sql('select type from events where owner_id = $1::uuid', [user.id])).toEqual([
    { type: 'deposit.credited' },
  ])

  expect(await annal(hash.toUpperCase().replace('0X', '0x'), user, '2')).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: `This transaction was already credited: ${credited.id}.\n`,
  })
  expect(await num(user)).toBe('2')

  moveCoins()
  await settled(user)
  expect(await balanceOf(user.address)).toBe(0n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('credits a deposit once when several commands run at the same time', async () => {
  const { user, hash } = await paidByContract()
  const said = await Promise.all(Array.from({ length: 4 }, () => annal(hash, user, '2')))
  expect(said.map(({ code }) => code).toSorted()).toEqual([0, 1, 1, 1])
  expect(said.find(({ code }) => code === 0)!.stdout).toMatch(/^id +deposit_/)
  for (const { code, stderr } of said) if (code === 1) expect(stderr).toMatch(/^This transaction was already credited/)
  expect([await num(user), (await depositsOf(user)).length]).toEqual(['2', 1])
  expect((await findings()).broken).toEqual([])
})

it('an operator can credit a deposit while the deposit scan is running', async () => {
  const { user, hash } = await paidByContract()
  const mining = new AbortController()
  const busy = (async () => {
    while (!mining.signal.aborted) await mine()
  })()
  const said = await annal(hash, user, '2')
  mining.abort()
  await busy
  expect(said).toMatchObject({ code: 0 })
  expect(await num(user)).toBe('2')
})

it('rejects the credit of a transaction without value, with another amount, or to another address', async () => {
  const { user, hash } = await paidByContract()
  const other = await newUser()
  const failed = await payer.call('payAndFail', [user.address], 3n)
  const plain = await pay(user.address, COIN)
  await finalize()
  await eventually(async () => (await num(user)) === '1')
  const waiting = await payer.call('pay', [user.address], 5n)
  const unknown = `0x${randomBytes(32).toString('hex')}`
  const refused: [string, SignedIn, string, RegExp][] = [
    [unknown, user, '2', /^The chain does not have this transaction\.$/m],
    [waiting, user, '5', /^The transaction is not in a block yet\./],
    [failed, user, '3', /^The transaction failed: it sent no coins\.$/m],
    [hash, other, '2', /^The transaction sent no coins to the address of this user\.$/m],
    [hash, user, '3', /^The transaction sent 2 to the address of this user, not 3\.$/m],
    [plain, user, '1', /^This transaction was already credited: deposit_/],
    [plain, other, '1', /^This transaction was already credited: deposit_/],
  ]
  for (const [transaction, receiver, amount, message] of refused)
    expect(await annal(transaction, receiver, amount)).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringMatching(message),
    })
  await mine()
  expect(await annal(waiting, user, '5')).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not final/) })
  expect([await num(user), await num(other)]).toEqual(['1', '0'])

  await finalize()
  expect(await annal(waiting, user, '5')).toMatchObject({ code: 0 })
  expect(await num(user)).toBe('6')
})

it('the credit command reports invalid arguments with exit code 2', async () => {
  const user = await newUser()
  const hash = `0x${randomBytes(32).toString('hex')}`
  expect(await annal('0x12', user, '1')).toMatchObject({ code: 2, stderr: expect.stringContaining('transaction hash') })
  expect(await annal(hash, user, '0')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--amount: /) })
  const nobody = ['deposits', 'credit', hash, '--user', 'nobody', '--amount', '1', '--reason', 'x']
  expect(await annalHere(app.env, nobody)).toMatchObject({ code: 1, stderr: 'User not found.\n' })
  const unexplained = await annalHere(app.env, nobody.with(-1, ' '))
  expect(unexplained).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--reason: /) })
})

it('the credit command compares address balances if the node cannot trace transactions', async () => {
  const { user, hash } = await paidByContract()
  proxy.fault = refusesOnly(({ method }) => method === 'debug_traceTransaction', {
    ...{ code: -32_601, message: 'the method debug_traceTransaction does not exist' },
  })
  expect(await annal(hash, user, '2.5')).toMatchObject({
    ...{ code: 1, stderr: 'The address of this user holds 2 coins that are not credited, less than 2.5.\n' },
  })
  expect(await annal(hash, user, '2')).toMatchObject({ code: 0, stderr: expect.stringContaining('does not trace') })
  // The coins are credited now, so no other transaction can claim them.
  const other = await payer.call('pay', [(await newUser()).address], 1n)
  await finalize()
  expect(await annal(other, user, '1')).toMatchObject({ code: 1, stderr: expect.stringMatching(/holds 0 coins/) })
  expect(await num(user)).toBe('2')
})

it('freezes a credited deposit when the chain loses its block, and an operator can credit it again', async () => {
  const user = await rich(COIN)
  const sender = Wallet.createRandom()
  await chain.rpc.call('anvil_setBalance', sender.address, quantity(10n * COIN))
  await finalize()
  const raw = await sender.signTransaction({
    ...{ type: 2, chainId: 31_337, nonce: 0, to: payer.address, value: 2n * COIN, gasLimit: 200_000n },
    data: new Interface(['function pay(address)']).encodeFunctionData('pay', [user.address]),
    ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
  })
  const before = await chain.rpc.call<string>('evm_snapshot')
  const hash = await chain.rpc.call<string>('eth_sendRawTransaction', raw)
  await finalize()
  expect(await annal(hash, user, '2')).toMatchObject({ code: 0 })
  expect(await num(user)).toBe('3')

  await chain.rpc.call('evm_revert', before)
  await mine(CONFIRMATIONS + 3)
  await eventually(async () => (await num(user)) === '1')
  expect(await annal(hash, user, '2')).toMatchObject({ code: 1 })
  await chain.rpc.call('eth_sendRawTransaction', raw)
  await finalize()
  expect(await annal(hash, user, '1')).toMatchObject({
    ...{ code: 1, stderr: expect.stringMatching(/is the frozen deposit deposit_\w+ of user_\w+, 2\./) },
  })
  expect(await annal(hash, user, '2')).toMatchObject({ code: 0 })
  expect(await num(user)).toBe('3')
  const [deposit] = await depositsOf(user)
  expect(deposit).toMatchObject({ status: 'credited', amount: '2' })
  expect((await findings()).broken).toEqual([])
})
