import { expect, it } from 'vitest'
import { quantity } from '../../src/chain/rpc.ts'
import { COIN, CONFIRMATIONS, contradictions, depositsOf, useDepositScene } from '../support/chain/deposit-scene.ts'
import { deploy } from '../support/chain/test-contracts.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp } from '../support/test-app.ts'
import { reasonOf } from '../support/test-log.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const scene = useDepositScene(app)

const hasLogged = (reason: string) =>
  eventually(() => app.log.lines.some(({ fields }) => reasonOf(fields).includes(reason)))

it('credits each transfer event of the configured token once, and ignores other tokens', async () => {
  const [user, other] = [await app.newUser({ points: '0' }), await app.newUser({ points: '0' })]
  const token = await deploy(scene, 'TestToken', [6])
  const stranger = await deploy(scene, 'TestToken', [6])
  await scene.watchFromNow({ token: token.address })
  const twice = await token.call('transferTwice', [user.address, 1_500_000n, 1n])
  await token.call('transfer', [other.address, 2_000_000n])
  await token.call('transfer', [user.address, 0n])
  await token.call('transferAndFail', [user.address, 7_000_000n])
  await stranger.call('transfer', [user.address, 5_000_000n])
  await scene.send(user, COIN * 10n)
  await scene.mineAndCatchUp(1)
  const listed = await depositsOf(user)
  const transfer = { kind: 'TOKEN', status: 'PENDING', transactionHash: twice }
  expect(listed).toContainEqual(expect.objectContaining({ ...transfer, amount: '1.5' }))
  expect(listed).toContainEqual(expect.objectContaining({ ...transfer, amount: '0.000001' }))
  expect(listed).toHaveLength(3)

  await scene.mineAndCatchUp(CONFIRMATIONS)
  expect([await app.wallet(user), await app.wallet(other)]).toMatchObject([{ num: '11.500001' }, { num: '2' }])
  const books = await app.sql(
    `select book::text, trim_scale(sum(amount))::text as sum from entries where book in ('DEPOSITS', 'TOKENS') group by book order by book::text`,
  )
  expect(books).toEqual([
    { book: 'DEPOSITS', sum: '-10' },
    { book: 'TOKENS', sum: '-3.500001' },
  ])
  expect(await contradictions(app)).toEqual([])
})

it('freezes reorganized token deposits, and releases the deposits in another block', async () => {
  const user = await app.newUser({ points: '0' })
  const token = await deploy(scene, 'TestToken', [18])
  await scene.watchFromNow({ token: token.address })
  const before = await scene.snapshot()
  const hash = await token.call('transferTwice', [user.address, COIN, 2n * COIN])
  const raw = await scene.rpc.call<string>('eth_getRawTransactionByHash', hash)
  await scene.mineAndCatchUp(CONFIRMATIONS + 3)
  expect(await app.wallet(user)).toMatchObject({ num: '3' })
  const names = (await depositsOf(user)).map(({ id }) => id)

  await scene.revert(before)
  await scene.mineAndCatchUp(CONFIRMATIONS + 5)
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
  expect((await depositsOf(user)).map(({ status }) => status)).toEqual(['FROZEN', 'FROZEN'])

  const [, stranger] = await scene.rpc.call<string[]>('eth_accounts')
  const dearer = { maxFeePerGas: quantity(10n ** 12n), maxPriorityFeePerGas: quantity(10n ** 12n) }
  await token.call('transfer', [stranger, 0n], 0n, { from: stranger, ...dearer })
  expect(await scene.rpc.call('eth_sendRawTransaction', raw)).toBe(hash)
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  expect(await app.wallet(user)).toMatchObject({ num: '3' })
  expect((await depositsOf(user)).map(({ id, status }) => [id, status])).toEqual(names.map((id) => [id, 'CREDITED']))
  expect(await contradictions(app)).toEqual([])
})

it('keeps token deposits at their address, pays withdrawals in coins, and reports tokens of deleted keys', async () => {
  const user = await app.newUser({ points: '0' })
  const token = await deploy(scene, 'TestToken', [18])
  await scene.watchFromNow({ token: token.address })
  await token.call('transfer', [user.address, 3n * COIN])
  await scene.mineAndCatchUp(CONFIRMATIONS + 1)
  const json = { amount: '2', to: '0x000000000000000000000000000000000000dEaD', current_password: PASSWORD }
  expect((await user.rest('POST', 'wallet/withdrawals/', { json })).status).toBe(201)
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  const reported = app.log.lines.filter(({ message }) =>
    message.startsWith('Tokens at the address of a deleted account'),
  )
  expect(reported).toMatchObject([{ level: 'error', fields: { tokens: '3' } }])
})

it('credits no deposits if the configured token is invalid or has too many decimals, and reports the problem', async () => {
  const user = await app.newUser({ points: '0' })
  const small = await deploy(scene, 'TestToken', [19])
  const waiting = scene.watch({ token: small.address })
  await hasLogged('19 decimals, but the ledger has only 18')
  await waiting.stop()
  scene.watch({ token: user.address })
  await hasLogged(`no ERC-20 token at the address in CHAIN_TOKEN_ADDRESS, ${user.address}`)
  expect(await app.wallet(user)).toMatchObject({ num: '0' })
})
