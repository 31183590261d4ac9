import { isDeepStrictEqual } from 'node:util'
import { Transaction, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { createKeyPair, toHex } from '../../src/chain/keys.ts'
import { quantity } from '../../src/chain/rpc.ts'
import type { Database } from '../../src/db/database-types.ts'
import { cleanUpDeletedAccounts } from '../../src/modules/accounts/delete-account.ts'
import { lockAndStoreSweep } from '../../src/modules/coins/coin-transfers.ts'
import { findUnswept } from '../../src/modules/coins/treasury.sql.ts'
import { NIL_UUID } from '../../src/shared/ids.ts'
import { fromUnits, toUnits } from '../../src/shared/money.ts'
import { readState } from '../../src/telemetry/metrics.sql.ts'
import { annalHere } from '../support/annal-command.ts'
import { COIN, CONFIRMATIONS, createCoinScene } from '../support/chain/coin-scene.ts'
import { deploy } from '../support/chain/test-contracts.ts'
import { eventually } from '../support/eventually.ts'
import type { SignedIn } from '../support/test-app.ts'
import type { LogLine } from '../support/test-log.ts'

const scene = await createCoinScene()
const { chain, proxy, app, treasuryAddress, moveCoins, mine, balanceOf } = scene
const { pay, rich, movesOf, settled, changed, findings } = scene
const { installation } = app

const credited = (user: SignedIn, num: string) => eventually(async () => (await app.wallet(user)).num === num)
/** Mines enough blocks to confirm the deposits of a user, and waits until the wallet has this balance. */
const confirmed = async (user: SignedIn, num: string) => {
  await mine(CONFIRMATIONS + 1)
  await credited(user, num)
}
const expectSwept = async (user: SignedIn) => {
  expect(await balanceOf(user.address)).toBe(0n)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
}
const broadcast = (user: SignedIn) => eventually(async () => (await movesOf(user))[0]?.status === 'BROADCAST')

it('the treasury sweeps a credited deposit less the fee, and records the location of the coins', async () => {
  const user = await rich((COIN * 3n) / 2n + 7n)
  const before = await balanceOf(treasuryAddress)
  const change = await changed(async () => {
    moveCoins()
    await settled(user)
  })
  const [move] = await movesOf(user)
  const [arrived, fee] = [toUnits(move!.arrived!), toUnits(move!.fee!)]
  expect(arrived + fee).toBe((COIN * 3n) / 2n + 7n)
  expect(fee * 100n).toBeLessThanOrEqual(arrived + fee)
  expect([await balanceOf(user.address), (await balanceOf(treasuryAddress)) - before]).toEqual([0n, arrived])
  expect(change).toEqual({ deposits: arrived + fee, inTransit: 0n, treasury: -arrived, gas: -fee })
  expect(await app.wallet(user)).toMatchObject({ num: '1.500000000000000007' })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('the treasury stores a transaction before sending it, and sends the same bytes after a lost response', async () => {
  const user = await rich(COIN)
  const stored: boolean[] = []
  let lost = 0
  proxy.ambush = async (moment) => {
    if (moment === 'before') {
      const hash = Transaction.from(proxy.sent.at(-1)!).hash
      stored.push((await app.sql('select from coin_transactions where hash = $1', [hash])).length === 1)
      return false
    }
    lost += 1
    return lost <= 2
  }
  const before = await balanceOf(treasuryAddress)
  moveCoins()
  const [move] = await settled(user)
  expect(stored.length).toBeGreaterThan(0)
  expect(stored).not.toContain(false)
  expect(new Set(proxy.sent).size).toBe(1)
  expect((await balanceOf(treasuryAddress)) - before).toBe(toUnits(move!.arrived!))
})

it('another process sends a treasury transaction that a killed process stored', async () => {
  const user = await rich(COIN)
  proxy.ambush = () => true
  const first = moveCoins()
  await eventually(() => proxy.sent.length > 0)
  await first.stop()
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED' }])
  proxy.ambush = undefined
  moveCoins()
  await settled(user)
  expect(new Set(proxy.sent).size).toBe(1)
  expect(await balanceOf(user.address)).toBe(0n)
})

it('only one of two processes signs a treasury sweep', async () => {
  const users = [await rich(COIN), await rich(2n * COIN), await rich(3n * COIN)]
  const before = await balanceOf(treasuryAddress)
  const { database } = installation
  const unswept = await database.query(findUnswept, { least: '1', after: NIL_UUID, limit: 10 })
  const mine = unswept.find(({ userId }) => userId === users[0]!.id)!
  const key = { chainId: 31337, nonce: 0, to: treasuryAddress, gasLimit: 21_000n, gasPrice: 10n ** 10n }
  const signed = await installation.custody.signCoins(mine.userId, mine, [
    { ...key, value: COIN - 21_000n * 10n ** 10n },
  ])
  const { userId, address: sender } = mine
  const move = { userId, sender, recipient: treasuryAddress, nonce: 0, amount: COIN, signed, unswept: COIN }
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => lockAndStoreSweep(database, move)))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
  moveCoins()
  moveCoins()
  const settledMoves = await Promise.all(users.map((user) => settled(user)))
  const arrived = settledMoves.flat().reduce((sum, each) => sum + toUnits(each.arrived!), 0n)
  expect((await balanceOf(treasuryAddress)) - before).toBe(arrived)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('sweeps 1,234 coins of a deleted account whose key no longer exists', async () => {
  const user = await rich(1_234n * COIN)
  // In a block, but without enough confirmations.
  await pay(user.address, 5n * COIN)
  await mine()
  const before = await balanceOf(treasuryAddress)
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  expect(await app.sql('select from user_keys where user_id = $1::uuid', [user.id])).toEqual([])
  expect(await movesOf(user)).toMatchObject([
    { status: 'SIGNED', amount: '1234' },
    { status: 'SIGNED', amount: '5' },
  ])
  moveCoins()
  const moves = await settled(user, 2)
  expect(await balanceOf(user.address)).toBe(0n)
  const arrived = moves.reduce((sum, move) => sum + toUnits(move.arrived!), 0n)
  expect((await balanceOf(treasuryAddress)) - before).toBe(arrived)
  await confirmed(user, '5')
  await cleanUpDeletedAccounts(app.context)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('signs the treasury sweep when an operator deletes an account', async () => {
  const user = await rich(7n * COIN)
  const before = await balanceOf(treasuryAddress)
  const args = ['users', 'delete', user.publicId, '--reason', 'Our file 117', '--yes']
  expect(await annalHere(app.env, args)).toMatchObject({ code: 0 })
  expect(await app.sql('select from user_keys where user_id = $1::uuid', [user.id])).toEqual([])
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED', amount: '7' }])
  moveCoins()
  const [move] = await settled(user)
  expect((await balanceOf(treasuryAddress)) - before).toBe(toUnits(move!.arrived!))
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('deletes an account during a chain outage, and sweeps its credited coins later', async () => {
  const user = await rich(COIN)
  proxy.fault = () => 'cut'
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  proxy.fault = undefined
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED', amount: '1' }])
  moveCoins()
  await settled(user)
  expect(await balanceOf(user.address)).toBe(0n)
})

it('sweeps all coins of an account that is deleted during a sweep', async () => {
  const users = [await rich(COIN), await rich(2n * COIN), await rich(3n * COIN)]
  moveCoins()
  const answers = await Promise.all(users.map((user) => user.rest('DELETE', 'auth/users/me/')))
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
  for (const user of users) {
    await settled(user)
    expect(await balanceOf(user.address)).toBe(0n)
  }
})

it('does not sweep coins worth less than a hundred fees until there are more coins', async () => {
  const dust = 5n * 10n ** 14n
  const user = await rich(dust)
  const mover = moveCoins()
  await mine(2)
  const other = await rich(COIN)
  await settled(other)
  expect([await movesOf(user), await balanceOf(user.address)]).toEqual([[], dust])
  await mover.stop()
  await pay(user.address, COIN)
  await confirmed(user, fromUnits(COIN + dust))
  moveCoins()
  expect(await settled(user)).toMatchObject([{ amount: fromUnits(COIN + dust) }])
  expect(await balanceOf(user.address)).toBe(0n)
})

it('replaces a sweep transaction at the same nonce when gas prices rise, even without the key', async () => {
  const user = await rich(COIN)
  const mover = moveCoins()
  await broadcast(user)
  await mover.stop()
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  const prices = await app.sql<{ price: string }>(
    `select gas_price::text as price from coin_transactions t join coin_transfers m on m.id = t.coin_transfer_id where m.wallet_id = $1::uuid order by gas_price`,
    [user.id],
  )
  await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(BigInt(prices[0]!.price) * 3n))
  await mine()
  moveCoins()
  const dearer = `select from coin_transfers m join coin_transactions t on t.hash = m.transaction_hash
    where m.wallet_id = $1::uuid and t.gas_price > $2::numeric`
  await eventually(async () => (await app.sql(dearer, [user.id, prices[0]!.price])).length === 1)
  const [move] = await settled(user)
  expect(toUnits(move!.fee!)).toBeGreaterThan(21_000n * BigInt(prices[0]!.price))
  expect(await balanceOf(user.address)).toBe(0n)
})

it('sweeps the same coins again after a deep reorganization', async () => {
  const user = await rich(COIN)
  const before = await balanceOf(treasuryAddress)
  const change = await changed(async () => {
    const mover = moveCoins()
    await broadcast(user)
    await mover.stop()
    const snapshot = await chain.rpc.call<string>('evm_snapshot')
    const second = moveCoins()
    await settled(user)
    await second.stop()
    await chain.rpc.call('evm_revert', snapshot)
    await chain.rpc.call('anvil_dropAllTransactions')
    await chain.rpc.call('evm_increaseTime', 1_000)
    await mine(8)
    expect(await balanceOf(user.address)).toBe(COIN)
    moveCoins()
    await broadcast(user)
    await settled(user)
  })
  const [move] = await movesOf(user)
  expect((await balanceOf(treasuryAddress)) - before).toBe(toUnits(move!.arrived!))
  expect(change).toMatchObject({ inTransit: 0n, treasury: -toUnits(move!.arrived!), deposits: COIN })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('failing coin transfers do not delay other transfers', async () => {
  const poor = await app.newUser({ points: '0' })
  // These senders never have coins, and come first in the order of senders.
  await app.sql(
    `with bad as (
       insert into coin_transfers (kind, sender, nonce, recipient, wallet_id, amount, transaction_hash)
       select 'SWEEP', '0x0000000000000000000000000000000000000000', n, $2, $1::uuid, 1, '0x' || lpad(to_hex(n), 64, '0') from generate_series(1, 300) n
       returning id, transaction_hash
     )
     insert into coin_transactions (hash, coin_transfer_id, raw, gas_price, value) select transaction_hash, id, '\\x02', 1, 1 - 21000 * 0.000000000000000001 from bad`,
    [poor.id, treasuryAddress],
  )
  const user = await rich(COIN)
  moveCoins()
  await settled(user)
  expect(await balanceOf(user.address)).toBe(0n)
  await app.sql(`update coin_transfers set status = 'FAILED', arrived = 0, fee = 0 where wallet_id = $1::uuid`, [
    poor.id,
  ])
})

it('an operator can credit coins that a contract sent to a deleted account', async () => {
  const user = await rich(COIN)
  const payer = await deploy({ ...chain, sender: scene.sender, mine }, 'Payer')
  const hash = await payer.call('pay', [user.address], 3n)
  await mine()
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  moveCoins()
  await settled(user, 2)
  const options = ['--user', user.publicId, '--amount', '3', '--reason', 'Sent by a contract']
  await eventually(async () => {
    await mine()
    return (await annalHere(app.env, ['deposits', 'credit', hash, ...options])).code === 0
  })
  await cleanUpDeletedAccounts(app.context)
  const [unswept] = await app.sql<{ sum: string }>(
    `select trim_scale((select sum(amount) from deposits where wallet_id = w.user_id) - (select sum(amount) from coin_transfers where sender = w.address))::text as sum
     from wallets w where user_id = $1::uuid`,
    [user.id],
  )
  expect(unswept!.sum).toBe('0')
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

/** A payment whose transaction can be sent again after a reorganization. */
async function payable(to: string, value: bigint) {
  const payer = Wallet.createRandom()
  await chain.rpc.call('anvil_setBalance', payer.address, quantity(10n * COIN))
  const raw = await payer.signTransaction({
    ...{ type: 2, chainId: 31_337, nonce: 0, to, value, gasLimit: 21_000n },
    ...{ maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n },
  })
  return () => chain.rpc.call('eth_sendRawTransaction', raw)
}

/** Replaces the blocks after the snapshot by other blocks. */
async function goBack(snapshot: string) {
  await chain.rpc.call('evm_revert', snapshot)
  await chain.rpc.call('anvil_dropAllTransactions')
  await chain.rpc.call('evm_increaseTime', 2_000)
  await mine(40)
}

/** Makes transfers from this address so old that they are suspended. */
const makeOld = ({ address }: SignedIn) =>
  app.sql(`update coin_transfers set updated_at = now() - interval '2 hours' where sender = $1`, [address])

async function suspended(user: SignedIn) {
  await makeOld(user)
  const find = 'select from coin_transfers where sender = $1 and suspended_at is not null'
  await eventually(async () => (await app.sql(find, [user.address])).length > 0)
}

/** Returns a user whose deposit of two coins and its sweep were reorganized away. */
async function reorganizedAway() {
  const user = await app.newUser({ points: '0' })
  const send = await payable(user.address, 2n * COIN)
  await mine()
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  await send()
  await confirmed(user, '2')
  const first = moveCoins()
  await settled(user)
  await first.stop()
  await goBack(snapshot)
  await credited(user, '0')
  const mover = moveCoins()
  await broadcast(user)
  return { user, send, mover }
}

/** Returns a user whose deposit of two coins is lost and whose sweep is suspended. */
async function bereft() {
  const { user, send, mover } = await reorganizedAway()
  await suspended(user)
  await mover.stop()
  return { user, send }
}

it('a reorganization reverses a deposit and its sweep, and restores both with the block', async () => {
  let lost!: Awaited<ReturnType<typeof reorganizedAway>>
  const change = await changed(async () => {
    lost = await reorganizedAway()
    expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
  })
  expect(change).toEqual({ deposits: 2n * COIN, inTransit: -2n * COIN, treasury: 0n, gas: 0n })
  const { user, send } = lost
  expect(await changed(() => suspended(user))).toEqual({
    ...{ deposits: -2n * COIN, inTransit: 2n * COIN, treasury: 0n, gas: 0n },
  })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })

  await send()
  await confirmed(user, '2')
  await settled(user)
  await expectSwept(user)
})

it('sweeps later deposits at the nonce of a suspended transfer, and restored deposits afterwards', async () => {
  const { user, send } = await bereft()
  await pay(user.address, COIN)
  await confirmed(user, '1')
  moveCoins()
  expect(await settled(user)).toMatchObject([{ amount: '1' }])
  await expectSwept(user)

  await send()
  await confirmed(user, '3')
  expect(await settled(user, 2)).toMatchObject([{ amount: '1' }, { amount: '2' }])
  await expectSwept(user)
})

it('records the amount on the chain if two sweep transactions were signed at one nonce', async () => {
  const { user, send } = await bereft()
  const [first] = await app.sql<{ raw: Uint8Array }>(
    'select t.raw from coin_transactions t join coin_transfers m on m.id = t.coin_transfer_id where m.sender = $1 order by t.gas_price limit 1',
    [user.address],
  )
  await pay(user.address, COIN)
  await confirmed(user, '1')
  const mover = moveCoins()
  await eventually(async () => (await movesOf(user))[0]?.amount === '1')
  await mover.stop()
  await chain.rpc.call('anvil_dropAllTransactions')
  await send()
  await mine()
  await chain.rpc.call('eth_sendRawTransaction', toHex(first!.raw))
  await mine()
  expect(await balanceOf(user.address)).toBe(COIN)
  await mine(CONFIRMATIONS)
  moveCoins()
  await credited(user, '3')
  expect(await settled(user, 2)).toMatchObject([{ amount: '2' }, { amount: '1' }])
  await expectSwept(user)
})

it('sweeps later deposits of an account that is deleted during a suspended transfer', async () => {
  const { user } = await bereft()
  await pay(user.address, COIN)
  await confirmed(user, '1')
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  moveCoins()
  expect(await settled(user)).toMatchObject([{ amount: '1' }])
  await expectSwept(user)
})

it('sweeps the remaining coins of a deleted account after some deposits are lost', async () => {
  const user = await rich(COIN)
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  for (const value of [4n, 8n]) {
    const send = await payable(user.address, value * COIN)
    await send()
    await mine()
  }
  await mine(CONFIRMATIONS)
  await credited(user, '13')
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  await goBack(snapshot)
  await pay(user.address, 4n * COIN)
  await mine(CONFIRMATIONS + 1)
  moveCoins()
  const statuses = `select string_agg(status::text, ' ' order by status) as all from deposits where wallet_id = $1::uuid`
  await eventually(async () => (await app.sql(statuses, [user.id]))[0]!.all === 'CREDITED CREDITED FROZEN FROZEN')
  await makeOld(user)
  expect(await settled(user)).toMatchObject([{ amount: '5' }])
  expect(await balanceOf(user.address)).toBe(0n)
  await cleanUpDeletedAccounts(app.context)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('sweeps the full on-chain balance of a deleted account, even before deposits are credited', async () => {
  const user = await rich(COIN)
  const payment = (value: bigint) => payable(user.address, value * COIN)
  const [two, four, eight] = [await payment(2n), await payment(4n), await payment(8n)]
  await mine()
  const snapshot = await chain.rpc.call<string>('evm_snapshot')
  for (const send of [two, four, eight]) {
    await send()
    await mine()
  }
  await mine(CONFIRMATIONS)
  await credited(user, '15')
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  await goBack(snapshot)
  const lost = async () => {
    const rows = await app.sql<{ text: string }>(
      `select trim_scale(amount) || case when block_number is null then ' lost' else ' found' end as text from deposits
       where wallet_id = $1::uuid and status = 'FROZEN' order by amount`,
      [user.id],
    )
    return rows.map(({ text }) => text)
  }
  await two()
  await mine(CONFIRMATIONS + 1)
  await eventually(lost, (found) => isDeepStrictEqual(found, ['4 lost', '8 lost']))
  await four()
  await mine()
  await eventually(lost, (found) => isDeepStrictEqual(found, ['4 found', '8 lost']))
  const mover = moveCoins()
  await eventually(async () => (await movesOf(user))[0]?.status === 'SIGNED')
  await makeOld(user)
  const waiting = async () => {
    const rows = await installation.database.query(readState)
    return rows.find(({ metric }) => metric === 'annal_suspended_transfers')?.value
  }
  await eventually(waiting, (count) => count === 1)
  const isTold = ({ message, fields }: LogLine) =>
    message.startsWith('Suspended coin transfers wait') && 'address' in fields && fields.address === user.address
  await eventually(() => app.log.lines.some(isTold))
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED', amount: '15' }])
  await mover.stop()
  await mine(CONFIRMATIONS)
  await eventually(lost, (found) => found.length === 1)
  moveCoins()
  expect(await settled(user)).toMatchObject([{ amount: '7' }])
  expect([await balanceOf(user.address), await waiting()]).toEqual([0n, 0])
  await cleanUpDeletedAccounts(app.context)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('reports coins at a previous treasury at startup', async () => {
  const user = await rich(COIN)
  const mover = moveCoins()
  await settled(user)
  await mover.stop()
  const other = createKeyPair()
  moveCoins(other)
  const lines = () => app.log.lines.filter(({ message }) => message.includes('earlier treasury'))
  await eventually(() => lines().length > 0)
  expect(lines()).toMatchObject([{ level: 'error', fields: { address: treasuryAddress, treasury: other.address } }])
})

it('reports missing coins and coins without a key', async () => {
  const user = await rich(COIN)
  await chain.rpc.call('anvil_setBalance', user.address, quantity(COIN - 1n))
  const left = await rich(COIN)
  expect((await left.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  moveCoins()
  await settled(left)
  await pay(left.address, 3n)
  await mine()
  expect(await findings()).toEqual({
    broken: [],
    H6: [
      {
        address: user.address,
        held: '0.999999999999999999',
        booked: '1',
        problem: 'The chain has fewer coins at the address than the ledger.',
      },
    ],
    H7: [expect.objectContaining({ address: left.address, problem: 'The key of the address is destroyed.' })],
  })
  const lines = () => app.log.lines.filter(({ fields }) => 'address' in fields && fields.address === user.address)
  await eventually(() => lines().length > 0)
  expect(lines()).toMatchObject([
    { fields: { reason: 'The address has fewer coins on the chain than were credited.' } },
  ])
  await chain.rpc.call('anvil_setBalance', user.address, quantity(COIN))
})

it('does not report coins as missing if they are swept during the comparison', async () => {
  const user = await rich(COIN)
  let isSwept = false
  const query = async (...asked: Parameters<Database['query']>) => {
    const rows = await installation.database.query(...asked)
    if (asked[0].name !== 'check_coins_addresses' || isSwept) return rows
    isSwept = true
    moveCoins()
    await settled(user)
    return rows
  }
  expect(await findings({ ...installation.database, query: query as Database['query'] })).toMatchObject({
    H6: expect.not.arrayContaining([expect.objectContaining({ address: user.address })]),
  })
  expect([isSwept, await balanceOf(user.address)]).toEqual([true, 0n])
})
