/** Coins that came in and where they go, on a chain whose blocks are made by hand. */
import { Transaction } from 'ethers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkCoins } from '../../src/chain/check-coins.ts'
import { type CoinMover, createCoinMover } from '../../src/chain/coin-mover.ts'
import { createDepositWatcher } from '../../src/chain/deposits.ts'
import { createRegistry } from '../../src/chain/registry.ts'
import { quantity } from '../../src/chain/rpc.ts'
import { checkInvariants } from '../../src/domain/invariants.ts'
import { fromUnits, toUnits } from '../../src/domain/money.ts'
import { createCoinService } from '../../src/domain/wallet/coin-service.ts'
import { createDepositService } from '../../src/domain/wallet/deposit-service.ts'
import { atEnd } from '../support/at-end.ts'
import { startChainProxy } from '../support/chain-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { startChain } from './support/anvil.ts'

const chain = await startChain({ args: ['--no-mining'] })
const proxy = await startChainProxy(atEnd, chain.url)
const app = await createTestApp({ rpcUrl: proxy.url })
atEnd(() => chain.stop())
const { treasury } = app.chain
const [sender] = await chain.rpc.call<string[]>('eth_accounts')
const CONFIRMATIONS = 2
const COIN = 10n ** 18n
await chain.rpc.call('anvil_mine', quantity(CONFIRMATIONS + 1))

let parts: CoinMover[]
beforeEach(() => {
  parts = []
  proxy.fault = undefined
  proxy.ambush = undefined
  proxy.sent.length = 0
})
afterEach(async () => {
  await Promise.all(parts.map((part) => part.stop()))
})

const { installation } = app
const shared = (rpcUrl: string) => ({
  ...installation,
  registry: createRegistry({ rpcUrl, database: installation.database }),
  confirmations: CONFIRMATIONS,
  pollEvery: 20,
})
const watcher = createDepositWatcher({ ...shared(chain.url), books: createDepositService(installation) })
watcher.start()
atEnd(() => watcher.stop())
const moveCoins = () => {
  const mover = createCoinMover({
    ...shared(proxy.url),
    ...{
      treasury,
      maxFeePerGas: 500n * 10n ** 9n,
      books: createCoinService(installation),
      meter: installation.telemetry.meter,
    },
  })
  parts.push(mover)
  mover.start()
  return mover
}
const mine = async (blocks = 1) => {
  for (let mined = 0; mined < blocks; mined += 1) await chain.rpc.call('evm_mine')
}
const balanceOf = async (address: string) => BigInt(await chain.rpc.call<string>('eth_getBalance', address, 'latest'))
const pay = async (to: string, value: bigint) =>
  chain.rpc.call<string>('eth_sendTransaction', { from: sender, to, value: quantity(value), gas: '0x186a0' })

/** Somebody to whom so much was credited: it lies on their address. */
const rich = async (value: bigint): Promise<SignedIn> => {
  const user = await app.newUser({ points: '0' })
  await eventually(
    () => app.sql(`select value from settings where key like 'deposits:%'`),
    ([row]) => row !== undefined,
  )
  await pay(user.address, value)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.wallet(user),
    ({ num }) => num === fromUnits(value),
  )
  return user
}
interface MoveRow {
  status: string
  amount: string
  arrived: string | null
  fee: string | null
  sender: string
}
const movesOf = (user: SignedIn) =>
  app.sql<MoveRow>(
    `select status::text, trim_scale(amount)::text as amount, trim_scale(arrived)::text as arrived, trim_scale(fee)::text as fee, sender
     from coin_moves where wallet_id = $1::uuid order by nonce`,
    [user.id],
  )
/** Mines until every move of theirs is settled. */
const settled = (user: SignedIn, count = 1) =>
  eventually(
    async () => {
      await mine()
      return movesOf(user)
    },
    (moves) => moves.length === count && moves.every(({ status }) => status === 'FINAL'),
  )
const books = async () => {
  const rows = await app.sql<{ book: string; sum: string }>(
    `select book::text, trim_scale(sum(amount))::text as sum from entries where currency = 'NUM' and book is not null group by book`,
  )
  return Object.fromEntries(rows.map(({ book, sum }) => [book, toUnits(sum)])) as Record<string, bigint>
}
/** What each book gained while `work` was done. */
const changed = async (work: () => Promise<unknown>) => {
  const before = await books()
  await work()
  const after = await books()
  const change = (book: string) => (after[book] ?? 0n) - (before[book] ?? 0n)
  return {
    deposits: change('DEPOSITS'),
    underWay: change('UNDER_WAY'),
    treasury: change('TREASURY'),
    gas: change('GAS'),
  }
}
const findings = async () => {
  const found = await checkCoins({
    ...{ database: installation.database, registry: app.chain.registry, relayAddresses: [], most: 10 },
  })
  const broken = (await checkInvariants(installation.database)).filter(({ rows }) => rows.length > 0)
  return { broken, ...Object.fromEntries(found.map(({ id, rows }) => [id, rows])) }
}

it('a deposit that was credited goes to the treasury whole, less the fee, and the books say where it lies', async () => {
  const user = await rich((COIN * 3n) / 2n + 7n)
  const before = await balanceOf(treasury)
  const change = await changed(async () => {
    moveCoins()
    await settled(user)
  })
  const [move] = await movesOf(user)
  const [arrived, fee] = [toUnits(move!.arrived!), toUnits(move!.fee!)]
  expect(arrived + fee).toBe((COIN * 3n) / 2n + 7n)
  expect(fee * 100n).toBeLessThanOrEqual(arrived + fee)
  expect([await balanceOf(user.address), (await balanceOf(treasury)) - before]).toEqual([0n, arrived])
  expect(change).toEqual({ deposits: arrived + fee, underWay: 0n, treasury: -arrived, gas: -fee })
  expect(await app.wallet(user)).toMatchObject({ num: '1.500000000000000007' })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('what is sent was stored before, and a node whose answers are lost gets the same bytes again', async () => {
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
  const before = await balanceOf(treasury)
  moveCoins()
  const [move] = await settled(user)
  expect(stored.length).toBeGreaterThan(0)
  expect(stored).not.toContain(false)
  expect(new Set(proxy.sent).size).toBe(1)
  expect((await balanceOf(treasury)) - before).toBe(toUnits(move!.arrived!))
})

it('a process that dies between storing and sending is followed by one that sends what it stored', async () => {
  const user = await rich(COIN)
  proxy.ambush = () => true
  const first = moveCoins()
  await eventually(
    () => proxy.sent,
    (sent) => sent.length > 0,
  )
  await first.stop()
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED' }])
  proxy.ambush = undefined
  moveCoins()
  await settled(user)
  expect(new Set(proxy.sent).size).toBe(1)
  expect(await balanceOf(user.address)).toBe(0n)
})

it('of two processes that gather at once, one signs', async () => {
  const users = [await rich(COIN), await rich(2n * COIN), await rich(3n * COIN)]
  const before = await balanceOf(treasury)
  const [one, other] = [createCoinService(installation), createCoinService(installation)]
  const lying = await one.findLying(COIN, '00000000-0000-0000-0000-000000000000', 10)
  const mine = lying.find(({ userId }) => userId === users[0]!.id)!
  const key = { chainId: 31337, nonce: 0, to: treasury, gasLimit: 21_000n, gasPrice: 10n ** 10n }
  const signed = await installation.custody.signCoins(mine.userId, mine.key, [
    { ...key, value: COIN - 21_000n * 10n ** 10n },
  ])
  const move = {
    userId: mine.userId,
    sender: mine.address,
    recipient: treasury,
    nonce: 0,
    amount: COIN,
    signed,
    lying: COIN,
  }
  const outcomes = await Promise.all([one, other, one, other].map((each) => each.store(move)))
  expect(outcomes.filter(Boolean)).toHaveLength(1)
  moveCoins()
  moveCoins()
  const settledMoves = await Promise.all(users.map((user) => settled(user)))
  const arrived = settledMoves.flat().reduce((sum, each) => sum + toUnits(each.arrived!), 0n)
  expect((await balanceOf(treasury)) - before).toBe(arrived)
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('1,234 coins at the address of an account that is deleted arrive, though its key is gone', async () => {
  const user = await rich(1_234n * COIN)
  // In a block, and not deep enough to be credited.
  await pay(user.address, 5n * COIN)
  await mine()
  const before = await balanceOf(treasury)
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
  expect((await balanceOf(treasury)) - before).toBe(arrived)
  // Credited to the closed wallet, and forfeited: in the books, too.
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.wallet(user),
    ({ num }) => num === '5',
  )
  await app.services.deletions.sweep()
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('an account is deleted while the chain is away, and what was credited to it still arrives', async () => {
  const user = await rich(COIN)
  proxy.fault = () => 'cut'
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  proxy.fault = undefined
  expect(await movesOf(user)).toMatchObject([{ status: 'SIGNED', amount: '1' }])
  moveCoins()
  await settled(user)
  expect(await balanceOf(user.address)).toBe(0n)
})

it('an account that is deleted while its coins are gathered loses none of them', async () => {
  const users = [await rich(COIN), await rich(2n * COIN), await rich(3n * COIN)]
  moveCoins()
  const answers = await Promise.all(users.map((user) => user.rest('DELETE', 'auth/users/me/')))
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
  for (const user of users) {
    await settled(user)
    expect(await balanceOf(user.address)).toBe(0n)
  }
})

it('what is less than a hundred fees stays where it is until there is more', async () => {
  const dust = 10n ** 12n
  const user = await rich(dust)
  const mover = moveCoins()
  await mine(2)
  const other = await rich(COIN)
  await settled(other)
  expect([await movesOf(user), await balanceOf(user.address)]).toEqual([[], dust])
  await mover.stop()
  await pay(user.address, COIN)
  await mine(CONFIRMATIONS + 1)
  await eventually(
    () => app.wallet(user),
    ({ num }) => num === fromUnits(COIN + dust),
  )
  moveCoins()
  expect(await settled(user)).toMatchObject([{ amount: fromUnits(COIN + dust) }])
  expect(await balanceOf(user.address)).toBe(0n)
})

it('gas that became dearer is paid by a dearer transaction of the same nonce, also where the key is gone', async () => {
  const user = await rich(COIN)
  const mover = moveCoins()
  await eventually(
    () => movesOf(user),
    ([move]) => move?.status === 'BROADCAST',
  )
  await mover.stop()
  expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
  const prices = await app.sql<{ price: string }>(
    `select gas_price::text as price from coin_transactions t join coin_moves m on m.id = t.move_id where m.wallet_id = $1::uuid order by gas_price`,
    [user.id],
  )
  await chain.rpc.call('anvil_setNextBlockBaseFeePerGas', quantity(BigInt(prices[0]!.price) * 3n))
  await mine()
  moveCoins()
  const [move] = await settled(user)
  expect(toUnits(move!.fee!)).toBeGreaterThan(21_000n * BigInt(prices[0]!.price))
  expect(await balanceOf(user.address)).toBe(0n)
})

it('a block that is displaced after it had counted gives the same coins once more, in the chain and in the books', async () => {
  const user = await rich(COIN)
  const before = await balanceOf(treasury)
  const change = await changed(async () => {
    const mover = moveCoins()
    await eventually(
      () => movesOf(user),
      ([move]) => move?.status === 'BROADCAST',
    )
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
    await eventually(
      () => movesOf(user),
      ([move]) => move?.status === 'BROADCAST',
    )
    await settled(user)
  })
  const [move] = await movesOf(user)
  expect((await balanceOf(treasury)) - before).toBe(toUnits(move!.arrived!))
  expect(change).toMatchObject({ underWay: 0n, treasury: -toUnits(move!.arrived!), deposits: COIN })
  expect(await findings()).toEqual({ broken: [], H6: [], H7: [] })
})

it('coins that are missing from an address are named, and those that nobody can move are told', async () => {
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
      { address: user.address, held: '0.999999999999999999', booked: '1', problem: 'the chain has fewer coins there' },
    ],
    H7: [expect.objectContaining({ address: left.address, problem: 'its key is destroyed' })],
  })
  const told = await eventually(
    () => app.log.lines.map(({ message }) => message),
    (lines) => lines.some((line) => line.includes(user.address)),
  )
  expect(told.join()).toContain('the chain has less there than was credited')
  await chain.rpc.call('anvil_setBalance', user.address, quantity(COIN))
})
