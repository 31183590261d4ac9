/** The statement calculates from balance snapshots. Here there is one every third transfer instead of every 256th. */
import pg from 'pg'
import { expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { checkInvariants } from '../../../src/db/invariants/check-invariants.ts'
import { grantPoints } from '../../../src/modules/wallet/grant-points.ts'
import { add } from '../../../src/shared/money.ts'
import { creditDepositsOf } from '../../support/deposits.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const notesEvery = (condition: string) =>
  app.sql(
    `create or replace function is_balance_checkpoint(transfer uuid) returns boolean language sql immutable strict parallel safe return ${condition}`,
  )
const THIRD = 'get_byte(uuid_send(transfer), 15) % 3 = 0'
await notesEvery(THIRD)

interface PageInfo {
  startCursor: string
  endCursor: string
  hasNextPage: boolean
  hasPreviousPage: boolean
}
interface Line {
  id: string
  num: string
  points: string
  balance: { num: string; points: string }
}
const fields = 'id num points balance { num points }'

async function read(user: SignedIn, size: number, direction: 'down' | 'up'): Promise<Line[]> {
  const lines: Line[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < 200; pages += 1) {
    const [count, from] = direction === 'down' ? ['first', 'after'] : ['last', 'before']
    const query = `query ($cursor: String) { transfers(${count}: ${size}, ${from}: $cursor) {
      nodes { ${fields} } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`
    const { nodes, pageInfo }: { nodes: Line[]; pageInfo: PageInfo } = expectOk(
      await user.graphql(query, { cursor }),
    ).transfers
    lines.push(...(direction === 'down' ? nodes : nodes.toReversed()))
    cursor = direction === 'down' ? pageInfo.endCursor : pageInfo.startCursor
    if (!(direction === 'down' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) break
  }
  return direction === 'down' ? lines.toReversed() : lines
}

function expectRightBalances(lines: readonly Line[]) {
  let [num, points] = ['0', '0']
  for (const line of lines) {
    num = add(num, line.num)
    points = add(points, line.points)
    expect(line.balance).toEqual({ num, points })
  }
}

const give = (user: SignedIn, amount: string) =>
  grantPoints(asSystem(app.context), { userId: user.publicId, amount, reason: 'Test' })

const notedOf = (user: SignedIn) =>
  app.sql('select transfer_id, num, points from statement_balances where wallet_id = $1::uuid order by transfer_id', [
    user.id,
  ])

async function moveMuch() {
  const user = await app.newUser({ num: '100', points: '0' })
  const store = await createStore(app, { price: '1' })
  await give(user, '7')
  const orders = []
  for (let count = 0; count < 6; count += 1) orders.push(await store.order(user))
  const each = <T>(count: number, work: () => Promise<T>) => Array.from({ length: count }, work)
  await Promise.all([
    ...each(12, () => user.register()),
    ...each(12, () => give(user, '0.3')),
    ...orders.map((order) => store.confirm(user, order.id)),
  ])
  return { user, store }
}

it('a wallet statement returns the balance after each transfer of any kind, on pages of any size', async () => {
  const { user, store } = await moveMuch()
  for (const who of [user, store.owner]) {
    if (who === user) expect((await notedOf(who)).length).toBeGreaterThan(0)
    const whole = await read(who, 100, 'down')
    expectRightBalances(whole)
    for (const size of [1, 4, 7]) {
      expect(await read(who, size, 'down')).toEqual(whole)
      expect(await read(who, size, 'up')).toEqual(whole)
    }
    for (const line of whole) {
      const query = `query ($id: ID!) { node(id: $id) { ... on Transfer { ${fields} } } }`
      expect(expectOk(await who.graphql(query, { id: line.id })).node).toEqual(line)
    }
    expect(whole.at(-1)!.balance).toEqual(await app.wallet(who))
  }
})

it('stores the balance after each transfer, even if one SQL statement makes several transfers', async () => {
  const user = await app.newUser({ points: '0' })
  await notesEvery('true')
  await creditDepositsOf(app, user, 3)
  await creditDepositsOf(app, user, 2)
  await notesEvery(THIRD)
  const lines = await read(user, 100, 'down')
  expectRightBalances(lines)
  expect(lines.map(({ num }) => num)).toEqual(['1', '1', '1', '1', '1'])
  expect((await notedOf(user)).map(({ num }) => Number(num))).toEqual([1, 2, 3, 4, 5])
})

it('stored balances are immutable, and the invariants compare the balances with the entries', async () => {
  const user = await app.newUser({ points: '0' })
  await notesEvery('true')
  for (const amount of ['1', '2']) await give(user, amount)
  await notesEvery(THIRD)
  await expect(app.sql('update statement_balances set num = 1')).rejects.toThrow(/is refused/)
  await expect(app.sql('delete from statement_balances')).rejects.toThrow(/is refused/)
  const found = async () =>
    (await checkInvariants(app.installation.database)).find(({ invariant }) => invariant.id === 'C9')!.rows
  expect(await found()).toEqual([])
  const without = async (change: string) => {
    const client = new pg.Client({ connectionString: app.env.DATABASE_URL })
    await client.connect()
    await client.query('set session_replication_role = replica')
    const { rowCount } = await client.query(change, [user.id])
    await client.end()
    return rowCount
  }
  const first = '(select min(transfer_id::text)::uuid from statement_balances where wallet_id = $1)'
  expect(await without(`update statement_balances set points = points + 1 where transfer_id = ${first}`)).toBe(1)
  expect(await found()).toMatchObject([{ subject: user.publicId, points_entries: expect.stringMatching(/^1\./) }])
  expect(await without(`update statement_balances set points = points - 1 where transfer_id = ${first}`)).toBe(1)
  expect(await found()).toEqual([])
  await notesEvery('true')
  expect(await without(`delete from statement_balances where transfer_id = ${first}`)).toBe(1)
  expect((await found()).filter((row) => (row as { subject: string }).subject === user.publicId)).toHaveLength(1)
  await app.sql(
    'insert into statement_balances select $1::uuid, min(transfer_id::text)::uuid, 0, 1 from entries where wallet_id = $1::uuid',
    [user.id],
  )
  await notesEvery(THIRD)
})
