/** The wallet statement: every transfer with the balance after it. */
import { describe, expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { grantPoints } from '../../../src/modules/wallet/grant-points.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { add } from '../../../src/shared/money.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()

const statementQuery = `query ($first: Int, $after: String, $last: Int, $before: String, $offset: Int) {
  transfers(first: $first, after: $after, last: $last, before: $before, offset: $offset) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id kind subjectId num points balance { num points } createdAt } }
  }
}`

interface Line {
  id: string
  kind: string
  subjectId: string
  num: string
  points: string
  balance: { num: string; points: string }
}
interface Page {
  totalCount: number
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string }
  edges: { cursor: string; node: Line }[]
}
const read = async (user: SignedIn, page: object = {}): Promise<Page> =>
  expectOk(await user.graphql(statementQuery, page)).transfers
const linesOf = ({ edges }: Page) => edges.map(({ node }) => node)

const give = (user: SignedIn, amount: string) =>
  grantPoints(asSystem(app.context), { userId: user.publicId, amount, reason: 'Test' })

async function sellOnce() {
  const store = await createStore(app)
  const buyer = await app.newUser({ points: '10' })
  const { id } = expectOk(
    await store.owner.rest('POST', 'store/network-apps/', {
      json: { name: 'upscale', price_mode: 'fixed', price: '1' },
    }),
  )
  const order = await store.order(buyer, { network_app: id })
  expectOk(await store.confirm(buyer, order.id))
  return { order, buyer, owner: store.owner }
}

async function userWithGrants(count: number): Promise<SignedIn> {
  const user = await app.newUser({ points: '0' })
  for (let amount = 1; amount <= count; amount += 1) await give(user, String(amount))
  return user
}

it('a wallet statement lists transfers newest first, with kind, subject and balance', async () => {
  const user = await app.newUser({ points: '0' })
  const grant = await give(user, '0.2')
  await user.register()
  const [commit] = await app.sql<{ id: string }>('select id from commits where author_id = $1::uuid', [user.id])
  const page = await read(user)
  expect(page.totalCount).toBe(2)
  expect(linesOf(page)).toMatchObject([
    {
      kind: 'COMMIT',
      subjectId: toId('commit', commit!.id),
      num: '0',
      points: '-0.179',
      balance: { num: '0', points: '0.021' },
    },
    {
      kind: 'GRANT',
      subjectId: toId('grant', grant.id),
      num: '0',
      points: '0.2',
      balance: { num: '0', points: '0.2' },
    },
  ])
  expect(page.edges.every(({ cursor, node }) => cursor === node.id && /^transfer_/.test(cursor))).toBe(true)
})

it('a wallet statement returns the balance of each currency after each transfer', async () => {
  const user = await app.newUser({ points: '0.1', num: '5' })
  await user.register()
  await user.register()
  const lines = linesOf(await read(user)).map(({ num, points, balance }) => [num, points, balance.num, balance.points])
  expect(lines.slice(0, 2)).toEqual([
    ['-0.179', '0', '4.742', '0'],
    ['-0.079', '-0.1', '4.921', '0'],
  ])
  expect(lines.slice(2).map(([, , num, points]) => [num, points])).toContainEqual(['5', '0.1'])
})

it.each(['down', 'up'] as const)(
  'pages a wallet statement %s without gaps and with correct balances',
  async (direction) => {
    const user = await userWithGrants(7)
    const lines: Line[] = []
    let cursor: string | undefined
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await read(user, direction === 'down' ? { first: 2, after: cursor } : { last: 2, before: cursor })
      const { pageInfo } = page
      expect(direction === 'down' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage).toBe(pages < 3)
      lines[direction === 'down' ? 'push' : 'unshift'](...linesOf(page))
      cursor = direction === 'down' ? pageInfo.endCursor : pageInfo.startCursor
    }
    expect(lines.map(({ points }) => points)).toEqual(['7', '6', '5', '4', '3', '2', '1'])
    expect(lines.map(({ balance }) => balance.points)).toEqual(['28', '21', '15', '10', '6', '3', '1'])
  },
)

it('skips the first transfers of a wallet statement for a given offset', async () => {
  const page = await read(await userWithGrants(4), { first: 2, offset: 1 })
  expect(linesOf(page).map(({ points, balance }) => [points, balance.points])).toEqual([
    ['3', '6'],
    ['2', '3'],
  ])
})

it('the last balance of a wallet statement matches the wallet after concurrent charges', async () => {
  const user = await app.newUser({ points: '0' })
  await give(user, '2')
  await Promise.all(Array.from({ length: 5 }, () => user.register()))
  const lines = linesOf(await read(user))
  const { points } = await app.wallet(user)
  expect(lines[0]!.balance.points).toBe(points)
  expect(add(...lines.map((line) => line.points))).toBe(points)
})

it('a wallet statement is empty for a wallet without transfers', async () => {
  const user = await app.newUser({ points: '0' })
  expect(await read(user)).toMatchObject({ totalCount: 0, edges: [], pageInfo: { hasNextPage: false } })
})

it('a wallet statement shows only transfers of the caller, and rejects anonymous callers', async () => {
  expect(linesOf(await read(await userWithGrants(1)))).toHaveLength(1)
  expect(linesOf(await read(admin))).toEqual([])
  expectError(await app.graphql(statementQuery), 'NOT_AUTHENTICATED')
  expectError(await app.rest('GET', 'wallet/transfers/'), 'NOT_AUTHENTICATED')
})

it('a wallet statement rejects an invalid cursor', async () => {
  const user = await app.newUser()
  for (const after of ['', 'GPC:S:x', toId('order', user.id), 'transfer_x']) {
    expectError(await user.graphql(statementQuery, { first: 1, after }), 'VALIDATION_FAILED')
  }
})

describe('transfers found by ID', () => {
  const find = async (who: Pick<SignedIn, 'graphql'>, id: string) =>
    expectOk(
      await who.graphql(
        `query ($id: ID!) { node(id: $id) { __typename ... on Transfer { id kind subjectId num points balance { num points } createdAt }
           ... on PointGrant { id amount reason user { id } } } }`,
        { id },
      ),
    ).node

  it('a transfer has the same fields in its own query as in the wallet statement', async () => {
    const user = await userWithGrants(3)
    for (const line of linesOf(await read(user))) {
      expect(await find(user, line.id)).toEqual({ __typename: 'Transfer', ...line })
    }
  })

  it('a transfer shows buyer and seller the amounts of their own wallet, and shows others nothing', async () => {
    const { order, buyer, owner } = await sellOnce()
    const [paid] = await app.sql<{ id: string }>('select id from transfers where reference = $1', [
      `order:${fromId(order.id)!.uuid}`,
    ])
    const id = toId('transfer', paid!.id)
    expect(await find(buyer, id)).toMatchObject({ points: '-1', subjectId: order.id })
    expect(await find(owner, id)).toMatchObject({ points: '0.88', subjectId: order.id })
    for (const who of [await app.newUser(), await app.admin(), app]) expect(await find(who, id)).toBeNull()
  })

  it('a transfer links to its grant, which only the recipient and administrators can read', async () => {
    const user = await userWithGrants(1)
    const [line] = linesOf(await read(user))
    const grant = {
      __typename: 'PointGrant',
      id: line!.subjectId,
      amount: '1',
      reason: 'Test',
      user: { id: user.publicId },
    }
    expect(await find(user, line!.subjectId)).toEqual(grant)
    expect(await find(admin, line!.subjectId)).toEqual(grant)
    for (const who of [await app.newUser(), app]) expect(await find(who, line!.subjectId)).toBeNull()
  })
})

it('REST and GraphQL return the same wallet statement', async () => {
  const user = await userWithGrants(3)
  await user.register()
  const rest = expectOk(await user.rest('GET', 'wallet/transfers/?limit=2&offset=1'))
  const page = await read(user, { first: 2, offset: 1 })
  expect(rest).toMatchObject({ count: page.totalCount, next: expect.stringContaining('offset=3') })
  expect(rest.results).toEqual(
    page.edges.map(({ node: { kind, subjectId, balance, ...node } }) => ({
      id: node.id,
      kind: kind.toLowerCase(),
      subject_id: subjectId,
      num: node.num,
      points: node.points,
      balance_num: balance.num,
      balance_points: balance.points,
      created_at: (node as unknown as { createdAt: string }).createdAt,
    })),
  )
})
