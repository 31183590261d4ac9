/** The deposit ledger with reorganizations and concurrent processes. The test makes each step without a chain. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import * as sql from '../../../src/modules/coins/coin-transfers.sql.ts'
import { lockAndStoreSweep, type SignedSweep, withWalletLock } from '../../../src/modules/coins/coin-transfers.ts'
import type { FoundDeposit } from '../../../src/modules/coins/deposit-ledger.ts'
import { createDepositLedger } from '../../../src/modules/coins/deposit-ledger.ts'
import { fromUnits } from '../../../src/shared/money.ts'
import { contradictions } from '../../support/chain/deposit-scene.ts'
import { expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const books = createDepositLedger(app.installation)
const { database } = app.installation
const store = (transfer: SignedSweep) => lockAndStoreSweep(database, transfer)

const COIN = 10n ** 18n
const newHash = () => `0x${randomBytes(32).toString('hex')}`
const newUser = () => app.newUser({ num: '0', points: '0' })
const num = async (user: SignedIn) => (await app.wallet(user)).num
const depositsOf = (user: SignedIn) =>
  app.sql(
    `select kind::text, status::text, trim_scale(amount)::text as amount, trim_scale(shortfall)::text as shortfall, block_number as block
     from deposits where wallet_id = $1::uuid order by id`,
    [user.id],
  )

let chains = 0
/** Creates a scan of a new chain. Deposits of other tests do not affect it. */
async function newScan() {
  await app.sql(`update deposits set block_number = 0 where status = 'CREDITED'`)
  chains += 1
  const chainId = 700_000 + chains
  let places = 0
  let position = 'place 0'
  await books.begin(chainId, position)
  const next = () => {
    places += 1
    return { from: position, to: `place ${places}` }
  }
  return {
    chainId,
    place: () => ({ chainId, position }),
    /** Records a deposit of coins by default. */
    async note(to: SignedIn, amount: string, blockNumber: number, more: Partial<FoundDeposit> = {}) {
      const found = { kind: 'COIN' as const, transactionHash: newHash(), position: -1, address: to.address, amount }
      const move = next()
      await books.storeFound(chainId, move, [{ ...found, blockNumber, blockHash: newHash(), ...more }])
      position = move.to
    },
    credit: (due: number) => books.creditDue({ chainId, position }, due),
    /** Freezes the deposits above this block, and rewinds the scan to it. */
    async goBack(height: number) {
      const move = next()
      while ((await books.rewind({ chainId, position }, move.to, height)).frozen.length > 0);
      position = move.to
    },
  }
}

async function newCreditedDeposit() {
  const [scan, user] = [await newScan(), await newUser()]
  await scan.note(user, '5', 95)
  await scan.credit(100)
  return { scan, user }
}

const rowOf = ({ id }: SignedIn) => `wallets where user_id = '${id}'`
/** Starts operations while a row is locked, each after the previous one waits. Then releases the lock and returns the results. */
async function inTurnWhileHeld<T>(row: string, works: (() => Promise<T>)[]): Promise<T[]> {
  const begun = await whileHeld(app, `select from ${row} for update`, async () => {
    const outcomes: Promise<T>[] = []
    for (const work of works) {
      outcomes.push(work())
      await waiting(app, outcomes.length)
    }
    return { outcomes }
  })
  return Promise.all(begun.outcomes)
}

it('freezes deposits that another process credits during the rewind of the deposit scan', async () => {
  const scan = await newScan()
  const user = await newUser()
  await scan.note(user, '5', 95)
  const place = scan.place()
  const [credited, gone] = await inTurnWhileHeld<unknown>(rowOf(user), [
    () => books.creditDue(place, 100),
    () => books.rewind(place, 'gone back', 90),
  ])
  expect([credited, gone]).toMatchObject([1, { frozen: [expect.any(String)] }])
  expect(await books.rewind(place, 'gone back', 90)).toEqual({ frozen: [], shortfall: '0' })
  expect(await books.readPosition(scan.chainId)).toBe('gone back')
  expect(await depositsOf(user)).toMatchObject([{ status: 'FROZEN', amount: '5', block: null }])
  expect([await books.creditDue(place, 100), await num(user), await contradictions(app)]).toEqual([0, '0', []])
})

it('freezes any number of deposits before the deposit scan rewinds', async () => {
  const scan = await newScan()
  const user = await newUser()
  const found = { kind: 'COIN' as const, position: -1, address: user.address, amount: '1', blockNumber: 95 }
  const deposits = Array.from({ length: 501 }, () => ({ ...found, transactionHash: newHash(), blockHash: newHash() }))
  await books.storeFound(scan.chainId, { from: scan.place().position, to: 'read' }, deposits)
  const place = { chainId: scan.chainId, position: 'read' }
  expect(await books.creditDue(place, 100)).toBe(501)
  expect((await books.rewind(place, 'gone back', 90)).frozen).toHaveLength(500)
  expect([await num(user), await books.readPosition(scan.chainId)]).toEqual(['1', 'read'])
  expect((await books.rewind(place, 'gone back', 90)).frozen).toHaveLength(1)
  expect([await num(user), await books.readPosition(scan.chainId)]).toEqual(['0', 'gone back'])
  expect((await books.rewind(place, 'gone back', 90)).frozen).toEqual([])
})

it('records deposits of buyer and seller while a sale holds one wallet lock and waits for the other', async () => {
  const store = await createStore(app)
  const buyer = await app.newUser({ num: '10', points: '0' })
  const { id } = await store.order(buyer)
  const [first, last] = [buyer, store.owner].sort((one, other) => (one.id < other.id ? -1 : 1)) as [SignedIn, SignedIn]
  const scan = await newScan()
  const found = { kind: 'COIN' as const, position: -1, amount: '1', blockNumber: 95 }
  const newDeposit = ({ address }: SignedIn) => ({
    ...found,
    address,
    transactionHash: newHash(),
    blockHash: newHash(),
  })
  const deposits = [last, first].map(newDeposit)
  const sale = await whileHeld(app, `update wallets set num = num where user_id = '${last.id}'`, async () => {
    const answer = store.confirm(buyer, id)
    await waiting(app, 1)
    expect(await books.storeFound(scan.chainId, { from: scan.place().position, to: 'read' }, deposits)).toBe(true)
    return { answer }
  })
  expectOk(await sale.answer)
  expect(await contradictions(app)).toEqual([])
})

it('keeps a deposit frozen if its transaction returns with another result, and credits the new result', async () => {
  const scan = await newScan()
  const [user, other] = [await newUser(), await newUser()]
  const token = { kind: 'TOKEN' as const, transactionHash: newHash(), position: 0 }
  await scan.note(user, '1000', 50, token)
  await scan.credit(60)
  await scan.goBack(40)
  // Two rounds, so that a deposit that was found before is found again.
  for (const block of [52, 53]) {
    await scan.note(other, '3', block, token)
    await scan.credit(60)
    expect([await num(user), await num(other)]).toEqual(['0', '3'])
    await scan.goBack(40)
    expect([await num(user), await num(other)]).toEqual(['0', '0'])
  }
  await scan.note(user, '999', 54, token)
  await scan.credit(60)
  const frozen = { status: 'FROZEN', block: null }
  expect(await depositsOf(user)).toMatchObject([
    { ...frozen, amount: '1000' },
    { status: 'CREDITED', amount: '999', block: 54 },
  ])
  expect(await depositsOf(other)).toMatchObject([{ ...frozen, amount: '3' }])
  await scan.goBack(40)

  await scan.note(other, '1000', 55, token)
  await scan.credit(60)
  expect([await num(user), await num(other)]).toEqual(['0', '1000'])
  await scan.goBack(40)

  await scan.note(user, '1000', 56, token)
  await scan.credit(60)
  expect(await num(user)).toBe('1000')
  expect((await depositsOf(user)).map(({ status }) => status)).toEqual(['CREDITED', 'FROZEN'])
  expect(await contradictions(app)).toEqual([])
})

/** A signed transfer of all coins at an address. */
const moveOf = ({ id, address }: SignedIn, amount: bigint) => {
  const gasPrice = 10n ** 9n
  const signed = [{ hash: newHash(), raw: randomBytes(8), gasPrice, value: amount - 21_000n * gasPrice }]
  const place = { userId: id, sender: address, recipient: `0x${'e2'.repeat(20)}`, nonce: 0 }
  return { ...place, amount, unswept: amount, isAnew: false, signed }
}

const unsweptOf = async ({ id }: SignedIn) =>
  (
    await app.sql<{ amount: number }>(
      `select (coalesce((select sum(amount) from deposits where wallet_id = w.user_id and status = 'CREDITED'), 0)
         - coalesce((select sum(amount) from coin_transfers where sender = w.address and suspended_at is null), 0))::int as amount
       from wallets w where user_id = $1::uuid`,
      [id],
    )
  )[0]!.amount

it('does not sweep a deposit that was frozen while the sweep waited for the wallet lock', async () => {
  const { scan, user } = await newCreditedDeposit()
  const [gone, isStored] = await inTurnWhileHeld<unknown>(rowOf(user), [
    () => books.rewind(scan.place(), 'gone back', 90),
    () => store(moveOf(user, 5n * COIN)),
  ])
  expect([gone, isStored]).toMatchObject([{ frozen: [expect.any(String)] }, false])
  expect(await app.sql('select from coin_transfers where wallet_id = $1::uuid', [user.id])).toEqual([])
  expect([await unsweptOf(user), await contradictions(app)]).toEqual([0, []])
})

it('freezes deposits that are swept during the rewind of the deposit scan', async () => {
  const { scan, user } = await newCreditedDeposit()
  const [isStored, gone] = await inTurnWhileHeld<unknown>(rowOf(user), [
    () => store(moveOf(user, 5n * COIN)),
    () => books.rewind(scan.place(), 'gone back', 90),
  ])
  expect([isStored, gone]).toMatchObject([true, { frozen: [expect.any(String)] }])
  expect(await depositsOf(user)).toMatchObject([{ status: 'FROZEN', amount: '5', block: null }])
  expect([await unsweptOf(user), await contradictions(app)]).toEqual([-5, []])
})

it('does not resume a coin transfer if its deposit was frozen during the wait for the wallet lock', async () => {
  const { scan, user } = await newCreditedDeposit()
  expect(await store(moveOf(user, 5n * COIN))).toBe(true)
  await scan.goBack(90)
  await app.sql(`update coin_transfers set updated_at = now() - interval '2 hours' where sender = $1`, [user.address])
  expect(await database.query(sql.suspendTransfers)).toEqual([{ addresses: [user.address] }])
  await scan.note(user, '5', 96)
  await scan.credit(100)
  expect(await unsweptOf(user)).toBe(5)

  const addresses = [user.address]
  const [gone, resumed] = await inTurnWhileHeld<unknown>(rowOf(user), [
    () => books.rewind(scan.place(), 'gone back', 90),
    () => withWalletLock(database, addresses, (query) => query(sql.resumeTransfers, { addresses, free: ['5'] })),
  ])
  expect([gone, resumed]).toMatchObject([{ frozen: [expect.any(String)] }, [{ addresses: [] }]])
  expect([await unsweptOf(user), await contradictions(app)]).toEqual([0, []])
})

it('reverses the settlement of a coin transfer that is reorganized away at the same time', async () => {
  const { user } = await newCreditedDeposit()
  const move = moveOf(user, 5n * COIN)
  const [{ hash, gasPrice }] = move.signed as [(typeof move.signed)[number]]
  expect(await store(move)).toBe(true)
  const [stored] = await app.sql('select id from coin_transfers where sender = $1', [user.address])
  const [id, blockHash] = [stored!.id!, newHash()]
  const included = { ids: [id], hashes: [hash], blockNumbers: [96], blockHashes: [blockHash], arrived: [true] }
  await database.query(sql.markTransfersIncluded, { ...included, fees: [fromUnits(21_000n * gasPrice)] })
  await inTurnWhileHeld(`coin_transfers where id = '${id}'`, [
    () => database.query(sql.settleTransfers, { ids: [id], blockHashes: [blockHash] }),
    () =>
      database.transaction(async (query) => {
        await query(sql.lockTransfers, { ids: [id] })
        return query(sql.displaceTransfers, { ids: [id] })
      }),
  ])
  const status = await app.sql('select status::text from coin_transfers where id = $1::uuid', [id])
  expect(status).toEqual([{ status: 'BROADCAST' }])
  expect(await contradictions(app)).toEqual([])
})
