/** Withdrawals over both APIs, on a chain with manual mining. */
import { readdir, readFile } from 'node:fs/promises'
import { Wallet } from 'ethers'
import { beforeEach, expect, it } from 'vitest'
import { createRandom } from '../../proofs/harness/random.ts'
import { quantity, type ReceiptReply } from '../../src/chain/rpc.ts'
import { findWaitingWork } from '../../src/cli/check-commands.ts'
import { add, fromUnits, toUnits } from '../../src/shared/money.ts'
import { COIN, createCoinScene } from '../support/chain/coin-scene.ts'
import { lagging, rewriting, withL1Fee } from '../support/chain-faults.ts'
import { eventually } from '../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import { parseMail } from '../support/parse-mail.ts'
import type { SignedIn } from '../support/test-app.ts'
import type { LogLine } from '../support/test-log.ts'
import { PASSWORD } from '../support/user.ts'

const { chain, proxy, app, treasuryAddress, moveCoins, mine, balanceOf, findings } = await createCoinScene({
  WITHDRAWAL_HOLD_SECONDS: '0',
  WITHDRAWALS_PER_DAY: '50',
})
const address = () => Wallet.createRandom().address
const fund = (coins: bigint) => chain.rpc.call('anvil_setBalance', treasuryAddress, quantity(coins * COIN))
beforeEach(async () => {
  await fund(1_000n)
  await app.sql(`update withdrawals set due_at = now() + interval '1 day' where status = 'WAITING'`)
})

const fields = 'id status amount fee total to transactionHash failure dueAt settledAt'
const mutation = `mutation ($input: WithdrawInput!) { withdraw(input: $input) { withdrawal { ${fields} } } }`
const ask = (user: SignedIn, input: object, key?: string) =>
  user.graphql(
    mutation,
    { input: { currentPassword: PASSWORD, ...input } },
    { headers: key ? { 'Idempotency-Key': key } : {} },
  )
const quoteOf = async (user: SignedIn, withdraw: object) =>
  expectOk(
    await user.graphql(
      'query ($input: QuoteInput!) { quote(input: $input) { total available problems { code message field } ... on WithdrawalQuote { amount fee leftToday } } }',
      { input: { withdraw } },
    ),
  ).quote
const withdraw = async (user: SignedIn, input: object) => expectOk(await ask(user, input)).withdraw.withdrawal
const withdrawFour = async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  return { user, to, ...(await withdraw(user, { amount: '4', to })) }
}
const statusOf = async (user: SignedIn) =>
  expectOk(await user.rest('GET', 'wallet/withdrawals/')).results.map(({ status }: { status: string }) => status)
const movesTo = (to: string, status: string) =>
  eventually(async () => {
    const [move] = await app.sql('select status::text from coin_transfers where recipient = $1', [to])
    return move?.status === status
  })
const becomes = (user: SignedIn, status: string) =>
  eventually(async () => {
    await mine()
    return (await statusOf(user))[0] === status
  })
async function expectPaid(user: SignedIn, to: string, units: bigint) {
  await becomes(user, 'confirmed')
  expect(await balanceOf(to)).toBe(units)
}
async function mailsTo(user: SignedIn): Promise<string[]> {
  const jobs = await app.sql<{ data: never }>(
    `select data from jobs.job where name = 'account-mail' and data ->> 'userId' = $1 order by created_on`,
    [user.id],
  )
  for (const { data } of jobs) await app.jobs['account-mail'](data)
  const dir = `${app.installation.config.dir}/mail`
  const mails = await Promise.all((await readdir(dir)).map((name) => readFile(`${dir}/${name}`, 'utf8')))
  return mails.filter((mail) => mail.includes(user.email)).map((mail) => parseMail(mail).text)
}
const newestTransferOf = async (user: SignedIn) => {
  const { kind, num } = expectOk(await user.rest('GET', 'wallet/transfers/?limit=1')).results[0]
  return [kind, num]
}

it('a withdrawal waits if the treasury sent unknown transactions, even with an empty database', async () => {
  const noted = () => app.sql(`select from key_values where key = $1`, [`treasury:${treasuryAddress}`])
  const first = moveCoins()
  await eventually(noted, ([row]) => row !== undefined)
  await first.stop()
  const user = await app.newUser({ num: '5' })
  await withdraw(user, { amount: '1', to: address() })
  await chain.rpc.call('anvil_setNonce', treasuryAddress, quantity(1))
  const second = moveCoins()
  await eventually(() => app.log.lines.some(({ message }) => message.includes('the treasury has transactions that')))
  await mine(3)
  expect(await statusOf(user)).toEqual(['waiting'])
  await second.stop()
  await chain.rpc.call('anvil_setNonce', treasuryAddress, quantity(0))
})

it('a withdrawal pays the exact amount to the wei at the quoted fee, and keeps points', async () => {
  const user = await app.newUser({ num: '10', points: '12' })
  const to = address()
  const quote = await quoteOf(user, { amount: '3.5', to })
  expect(quote).toMatchObject({ amount: '3.5', available: '10', leftToday: '50', problems: [] })
  expect(await app.wallet(user)).toEqual({ num: '10', points: '12' })

  const made = await withdraw(user, { amount: '3.5', to, maxFee: '1' })
  expect(made).toMatchObject({ status: 'WAITING', amount: '3.5', to, transactionHash: null, settledAt: null })
  expect(made.total).toBe(add(made.amount, made.fee))
  const left = fromUnits(toUnits('10') - toUnits(made.total))
  expect(await app.wallet(user)).toEqual({ num: left, points: '12' })
  moveCoins()
  await expectPaid(user, to, (COIN * 7n) / 2n)
  expect(await newestTransferOf(user)).toEqual(['withdrawal', `-${made.total}`])
  const { node } = expectOk(
    await user.graphql(`query ($id: ID!) { node(id: $id) { ... on Withdrawal { ${fields} } } }`, { id: made.id }),
  )
  expect(node).toMatchObject({
    status: 'CONFIRMED',
    transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    settledAt: expect.any(String),
  })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('a withdrawal sends a mail at request and completion, and is private to its owner', async () => {
  const [user, stranger] = [await app.newUser({ num: '2' }), await app.newUser()]
  const { id } = await withdraw(user, { amount: '1', to: address() })
  moveCoins()
  await becomes(user, 'confirmed')
  const reported = await mailsTo(user)
  expect(reported.filter((mail) => mail.includes('Your withdrawal arrived')).length).toBeGreaterThan(0)
  expect(await statusOf(stranger)).toEqual([])
  expectError(await stranger.rest('POST', `wallet/withdrawals/${id}/cancel/`), 'NOT_FOUND')
  expect(expectOk(await stranger.graphql('query ($id: ID!) { node(id: $id) { id } }', { id })).node).toBeNull()
})

it('rejects a withdrawal without a charge for a wrong password, address, amount or daily limit', async () => {
  const user = await app.newUser({ num: '100', points: '12' })
  const [to, other] = [address(), await app.newUser()]
  const wrongCase = to.replace(/[a-f]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
  const refused = async (code: Parameters<typeof expectError>[1], input: object, said: string) =>
    expect(expectError(await ask(user, { amount: '1', to, ...input }), code).text).toContain(said)
  await refused('VALIDATION_FAILED', { currentPassword: 'wrong' }, 'Invalid password')
  await refused('VALIDATION_FAILED', { currentPassword: '' }, 'currentPassword')
  await refused('VALIDATION_FAILED', { to: wrongCase }, 'checksum')
  await refused('VALIDATION_FAILED', { to: `0x${'0'.repeat(40)}` }, 'zero address')
  await refused('VALIDATION_FAILED', { to: other.address.toLowerCase() }, 'an account of this service')
  await refused('VALIDATION_FAILED', { to: treasuryAddress }, 'belongs to this service')
  await refused('VALIDATION_FAILED', { amount: '0' }, 'greater than 0')
  await refused('VALIDATION_FAILED', { amount: '50.1' }, 'at most 50')
  await refused('PRICE_EXCEEDS_MAX_COST', { maxFee: '0' }, 'fee')
  const poor = await app.newUser({ num: '1', points: '12' })
  expectError(await ask(poor, { amount: '1', to }), 'INSUFFICIENT_FUND')
  expect(await app.wallet(user)).toEqual({ num: '100', points: '12' })

  await withdraw(user, { amount: '49', to: to.toLowerCase() })
  await refused('VALIDATION_FAILED', { amount: '2' }, 'at most 1')
  const quote = await quoteOf(user, { amount: '2', to: 'nowhere' })
  expect(quote.problems.map(({ field }: { field: string }) => field)).toEqual(['to', 'amount'])
})

it('a withdrawal is delayed after a password change', async () => {
  const user = await app.newUser({ num: '5' })
  await app.sql(`insert into audit_entries (user_id, action) values ($1::uuid, 'password.changed')`, [user.id])
  const answer = expectError(
    await user.rest('POST', 'wallet/withdrawals/', {
      json: { amount: '1', to: address(), current_password: PASSWORD },
    }),
    'WITHDRAWALS_PAUSED',
  )
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(80_000)
})

it('concurrent withdrawals never overdraw the wallet, and a repeated request charges nothing', async () => {
  const user = await app.newUser({ num: '3.5' })
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(user, { amount: '1', to: address() })))
  const codes = answers.map((answer) => codeOf(answer) ?? 'OK')
  expect(codes.filter((code) => code === 'OK')).toHaveLength(3)
  expect(new Set(codes)).toEqual(new Set(['OK', 'INSUFFICIENT_FUND']))
  const again = await app.newUser({ num: '3.5' })
  const to = address()
  const same = await Promise.all(Array.from({ length: 4 }, () => ask(again, { amount: '1', to }, 'one-key')))
  expect(
    new Set(same.map((answer) => answer.body.data?.withdraw.withdrawal.id ?? codeOf(answer))).size,
  ).toBeLessThanOrEqual(2)
  expect(await statusOf(again)).toHaveLength(1)
})

it('concurrent withdrawals respect the limits', async () => {
  const user = await app.newUser({ num: '100' })
  const asked = await whileHeld(app, `select from wallets where user_id = '${user.id}' for update`, async () => {
    const both = [1, 2].map(() => ask(user, { amount: '30', to: address() }))
    await waiting(app, both.length)
    return both
  })
  const answers = await Promise.all(asked)
  expect(answers.map(codeOf).sort()).toEqual(['VALIDATION_FAILED', undefined])
  expect(await statusOf(user)).toHaveLength(1)
})

it('a withdrawal can be cancelled before it is signed, and is refunded with its fee', async () => {
  const user = await app.newUser({ num: '3' })
  const { id } = await withdraw(user, { amount: '1', to: address() })
  const cancelled = await Promise.all([1, 2, 3].map(() => user.rest('POST', `wallet/withdrawals/${id}/cancel/`)))
  expect(cancelled.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(expectOk(cancelled[0]!)).toMatchObject({ id, status: 'cancelled' })
  expect(await app.wallet(user)).toMatchObject({ num: '3' })
  expect(await newestTransferOf(user)).toEqual(['withdrawal_refund', expect.stringMatching(/^1\./)])

  const sent = await withdraw(user, { amount: '1', to: address() })
  moveCoins()
  await becomes(user, 'sending')
  expectError(await user.rest('POST', `wallet/withdrawals/${sent.id}/cancel/`), 'UNABLE_TO_CANCEL_WITHDRAWAL')
  await becomes(user, 'confirmed')
})

it('a withdrawal waits while the treasury lacks coins, and alerts the operator', async () => {
  await fund(0n)
  const { user, to } = await withdrawFour()
  moveCoins()
  const isShort = ({ message }: LogLine) => message.includes('has too few coins')
  await eventually(() => app.log.lines.some(isShort))
  expect(app.log.lines.filter(isShort)).toMatchObject([{ fields: { treasury: treasuryAddress } }])
  expect(await statusOf(user)).toEqual(['waiting'])
  await fund(5n)
  await expectPaid(user, to, 4n * COIN)
})

it('a withdrawal records the L1 data fee in the ledger', async () => {
  const l1Fee = 10n ** 15n
  proxy.fault = withL1Fee(l1Fee)
  const { user, to } = await withdrawFour()
  moveCoins()
  await becomes(user, 'confirmed')
  const [move] = await app.sql<{ hash: string; fee: string }>(
    `select transaction_hash as hash, trim_scale(fee)::text as fee from coin_transfers where recipient = $1`,
    [to],
  )
  const receipt = await chain.rpc.call<ReceiptReply>('eth_getTransactionReceipt', move!.hash)
  expect(toUnits(move!.fee)).toBe(BigInt(receipt.gasUsed!) * BigInt(receipt.effectiveGasPrice!) + l1Fee)
  expect((await findings()).broken).toEqual([])
})

it('a withdrawal costs the quoted fee even after gas prices exceeded the maximum', async () => {
  const { user, to, fee } = await withdrawFour()
  // A mempool that accepts fees below the base fee, like that of geth.
  proxy.fault = async (_, pass) =>
    (await pass()).map((reply) =>
      /block base fee/.test(reply.error?.message ?? '') ? { jsonrpc: '2.0', id: reply.id, result: '0x' } : reply,
    )
  moveCoins()
  await becomesNow(user, 'sending')
  await movesTo(to, 'BROADCAST')
  await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(600n * 10n ** 9n))
  await mine()
  const seen = proxy.faults
  await eventually(() => proxy.faults > seen + 10)
  await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(1n))
  await becomes(user, 'confirmed')
  const [move] = await app.sql(`select trim_scale(fee)::text as fee from coin_transfers where recipient = $1`, [to])
  expect(move).toEqual({ fee })
  expect((await findings()).broken).toEqual([])
})

it('pays a withdrawal within the treasury balance while larger withdrawals wait, and lists all waiting withdrawals', async () => {
  await fund(1n)
  const many = await app.newUser({ num: '40' })
  const [few, late] = [await app.newUser({ num: '5' }), await app.newUser({ num: '5' })]
  const large = Array.from({ length: 21 }, address)
  for (const to of large) await withdraw(many, { amount: '1.2', to })
  const to = address()
  await withdraw(few, { amount: '0.5', to })
  await withdraw(late, { amount: '0.6', to: address() })
  moveCoins()
  await expectPaid(few, to, COIN / 2n)
  expect(new Set([...(await statusOf(many)), ...(await statusOf(late))])).toEqual(new Set(['waiting']))
  const sum = `select trim_scale(sum(amount + fee))::text as total from withdrawals where wallet_id in ($1, $2)`
  const { total } = (await app.sql(sum, [many.id, late.id]))[0]!
  await eventually(() => app.log.lines.some(({ fields }) => 'missing' in fields && fields.missing === total))
  await fund(100n)
  await eventually(async () => {
    await mine()
    return (await statusOf(many)).every((status: string) => status === 'confirmed')
  })
  expect(await balanceOf(large[0]!)).toBe((COIN * 6n) / 5n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

/** Installs code that accepts coins and counts down from this number. */
const count = (to: string, from: string) => chain.rpc.call('anvil_setCode', to, `0x62${from}5b600190038060045700`)
const TOO_MUCH_GAS = 'needs more gas to take coins than a payment may'

it('both APIs reject a withdrawal if the recipient needs too much gas', async () => {
  const user = await app.newUser({ num: '5' })
  const [costly, endless, wallet] = [address(), address(), address()]
  await count(costly, '010000')
  await count(endless, 'ffffff')
  await count(wallet, '000200')
  const json = { amount: '1', to: costly, current_password: PASSWORD }
  const answers = [
    await ask(user, { amount: '1', to: costly }),
    await user.rest('POST', 'wallet/withdrawals/', { json }),
  ]
  for (const answer of answers) expect(expectError(answer, 'VALIDATION_FAILED').text).toContain(TOO_MUCH_GAS)
  const quote = await quoteOf(user, { amount: '1', to: costly })
  expect(quote.problems).toEqual([expect.objectContaining({ code: 'VALIDATION_FAILED', field: 'to' })])
  expectError(await ask(user, { amount: '1', to: endless }), 'VALIDATION_FAILED')
  expect(await app.wallet(user)).toMatchObject({ num: '5' })

  await withdraw(user, { amount: '1', to: wallet })
  moveCoins()
  await expectPaid(user, wallet, COIN)
})

it('refunds a withdrawal that needs too much gas, and pays the withdrawals behind it', async () => {
  const [user, other] = [await app.newUser({ num: '5' }), await app.newUser({ num: '5' })]
  const to = address()
  await withdraw(user, { amount: '1', to: address() })
  await app.sql(`update withdrawals set gas_limit = 33763853 where wallet_id = $1`, [user.id])
  await withdraw(other, { amount: '1', to })
  moveCoins()
  await expectPaid(other, to, COIN)
  expect(await statusOf(user)).toEqual(['failed'])
  expect(await app.wallet(user)).toMatchObject({ num: '5' })
  const [{ failure }] = expectOk(await user.rest('GET', 'wallet/withdrawals/')).results
  expect(failure).toContain(TOO_MUCH_GAS)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('a withdrawal is paid once despite lost messages and several processes', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  proxy.ambush = () => true
  await withdraw(user, { amount: '4', to })
  const first = moveCoins()
  await eventually(() => proxy.sent.length > 0)
  await first.stop()
  let lost = 0
  proxy.ambush = (moment) => {
    if (moment === 'after') lost += 1
    return moment === 'after' && lost < 3
  }
  moveCoins()
  moveCoins()
  await expectPaid(user, to, 4n * COIN)
  expect(new Set(proxy.sent).size).toBe(1)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

const refuse = (to: string) => chain.rpc.call('anvil_setCode', to, '0x60006000fd')
/** More blocks than the worker examines for a transfer. */
const LONG = 130
/** Mines until the transaction to this address has failed in a block. */
const isRefused = (to: string) =>
  eventually(async () => {
    await mine()
    return (await app.sql(`select from coin_transfers where recipient = $1 and arrived = 0`, [to]))[0] !== undefined
  })
const becomesNow = (user: SignedIn, status: string) => eventually(async () => (await statusOf(user))[0] === status)

it('a withdrawal is refunded if the recipient rejects it, before or after signing', async () => {
  const user = await app.newUser({ num: '5' })
  const [before, after] = [address(), address()]
  await withdraw(user, { amount: '1', to: before })
  await refuse(before)
  moveCoins()
  await becomes(user, 'failed')
  expect(await app.wallet(user)).toMatchObject({ num: '5' })

  const { total, fee } = await withdraw(user, { amount: '1', to: after })
  expect(await app.wallet(user)).toMatchObject({ num: fromUnits(5n * COIN - toUnits(total)) })
  await becomesNow(user, 'sending')
  await refuse(after)
  await isRefused(after)
  expect(await statusOf(user)).toMatchObject(['sending', 'failed'])
  await mine(LONG)
  await becomesNow(user, 'failed')
  expect(await app.wallet(user)).toMatchObject({ num: fromUnits(5n * COIN - toUnits(fee)) })
  const reported = await mailsTo(user)
  const saidOf = (words: string) =>
    new Set(reported.filter((mail) => mail.includes(words)).map((mail) => /0x\w{40}/.exec(mail)![0]))
  expect(saidOf('The amount and the fee were returned')).toEqual(new Set([before]))
  expect(saidOf('The fee was not returned')).toEqual(new Set([after]))
  expect(await balanceOf(after)).toBe(0n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('a withdrawal stays included if one node lags, unless no node has its block for a long time', async () => {
  const { user, to } = await withdrawFour()
  const mover = moveCoins()
  await movesTo(to, 'BROADCAST')
  await mine()
  await movesTo(to, 'INCLUDED')
  proxy.fault = lagging(createRandom('behind'), () => 1, 1)
  const before = proxy.faults
  await eventually(() => proxy.faults - before > 20)
  await movesTo(to, 'INCLUDED')
  await mover.stop()
  moveCoins(undefined, { doubtPatience: 1 })
  await movesTo(to, 'BROADCAST')
  proxy.fault = undefined
  await expectPaid(user, to, 4n * COIN)
  expect((await findings()).broken).toEqual([])
})

it('a withdrawal is sent again only once if a node returns its receipt but lacks the block', async () => {
  const { user, to } = await withdrawFour()
  const doubtPatience = 2_000
  moveCoins(undefined, { doubtPatience })
  await movesTo(to, 'BROADCAST')
  await mine()
  await movesTo(to, 'INCLUDED')
  const behind = lagging(createRandom('behind'), () => 1, 1)
  proxy.fault = (calls, pass) =>
    calls.some(({ method }) => method === 'eth_getTransactionReceipt') ? undefined : behind(calls, pass)
  const displacements = () => app.log.lines.filter(({ message }) => message.startsWith('Chain reorganization')).length
  const before = displacements()
  const since = performance.now()
  await eventually(displacements, (count) => count > before)
  const seen = proxy.faults
  await eventually(() => proxy.faults > seen + 20)
  // Once per patience period, which may pass more than once on a slow machine.
  expect(displacements() - before).toBeLessThanOrEqual((performance.now() - since) / doubtPatience)
  proxy.fault = undefined
  await expectPaid(user, to, 4n * COIN)
})

it('a withdrawal is not refunded if a node writes the receipt status with a leading zero', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  proxy.fault = rewriting(({ method }, result) =>
    method === 'eth_getTransactionReceipt' && result ? { ...result, status: '0x01' } : result,
  )
  const { total } = await withdraw(user, { amount: '4', to })
  moveCoins()
  await expectPaid(user, to, 4n * COIN)
  expect(await app.wallet(user)).toMatchObject({ num: fromUnits(5n * COIN - toUnits(total)) })
})

it('a withdrawal waits without a refund while a node omits the receipt status', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  let receipts = 0
  proxy.fault = rewriting(({ method }, result) => {
    if (method !== 'eth_getTransactionReceipt' || !result) return result
    receipts += 1
    return { ...result, status: null }
  })
  await withdraw(user, { amount: '4', to })
  moveCoins()
  await eventually(async () => {
    await mine()
    return receipts >= 3
  })
  const seen = await app.sql('select block_number from coin_transfers where recipient = $1', [to])
  expect(seen).toEqual([{ block_number: null }])
  proxy.fault = undefined
  await expectPaid(user, to, 4n * COIN)
})

it('a withdrawal that failed in a reorganized block is paid once and not refunded', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  const { total } = await withdraw(user, { amount: '1', to })
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  const mover = moveCoins()
  await becomesNow(user, 'sending')
  await refuse(to)
  await isRefused(to)
  await mine(12)
  const other = await app.newUser({ num: '5' })
  await withdraw(other, { amount: '1', to: address() })
  await becomes(other, 'confirmed')
  await mover.stop()
  expect(await statusOf(user)).toEqual(['sending'])

  await chain.rpc.call('evm_revert', snapshot)
  await chain.rpc.call('evm_increaseTime', 1_000)
  await mine(26)
  moveCoins()
  await expectPaid(user, to, COIN)
  expect(await app.wallet(user)).toMatchObject({ num: fromUnits(5n * COIN - toUnits(total)) })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('refunds a withdrawal that was confirmed, reorganized away and then failed', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  const { fee } = await withdraw(user, { amount: '1', to })
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  const mover = moveCoins()
  await becomes(user, 'confirmed')
  await mover.stop()

  await chain.rpc.call('evm_revert', snapshot)
  await refuse(to)
  await chain.rpc.call('evm_increaseTime', 1_000)
  await mine(10)
  moveCoins()
  await isRefused(to)
  expect(await statusOf(user)).toEqual(['confirmed'])
  await mine(LONG)
  await becomesNow(user, 'failed')
  expect(await app.wallet(user)).toMatchObject({ num: fromUnits(5n * COIN - toUnits(fee)) })
  expect(await newestTransferOf(user)).toEqual(['withdrawal_refund', '1'])
  const feed = await app.sql('select type from events where owner_id = $1 order by sequence', [user.id])
  expect(feed.slice(-2)).toEqual([{ type: 'withdrawal.confirmed' }, { type: 'withdrawal.failed' }])
  expect(await balanceOf(to)).toBe(0n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
  const set = (status: string) => app.sql(`update withdrawals set status = '${status}' where wallet_id = $1`, [user.id])
  await set('CONFIRMED')
  const { broken } = await findings()
  expect(broken.map(({ invariant }) => invariant.id)).toEqual(['C8'])
  expect(JSON.stringify(broken[0]!.rows)).toContain('confirmed, but its coin transfer failed')
  await set('FAILED')
})

it('reports a payment that every node rejects for its gas, and pays it once a node accepts it', async () => {
  const [user, to] = [await app.newUser({ num: '5' }), address()]
  const unaccepted = async () =>
    (await findWaitingWork(app.installation.database)).find(({ invariant }) => invariant.id === 'W4')?.rows
  await withdraw(user, { amount: '1', to })
  proxy.fault = async (calls) => {
    if (!calls.some(({ method }) => method === 'eth_sendRawTransaction')) return undefined
    return calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: 'exceeds block gas limit' } }))
  }
  const mover = moveCoins()
  await becomesNow(user, 'sending')
  await mover.stop()
  await app.sql(`update coin_transfers set created_at = now() - interval '11 minutes' where recipient = $1`, [to])
  expect(await unaccepted()).toEqual([expect.objectContaining({ subject: treasuryAddress, count: 1 })])
  proxy.fault = undefined
  moveCoins()
  await becomes(user, 'confirmed')
  expect([await balanceOf(to), await unaccepted()]).toEqual([COIN, []])
})
