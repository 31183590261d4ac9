/** Lists are in the order in which things happened, by the database, whatever the clocks of the gateways say. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { storeSweep } from '../../../src/modules/coins/coin-transfers.ts'
import { noteDeposits } from '../../../src/modules/coins/deposits.sql.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createRest, type Rest } from '../../support/rest-client.ts'
import { startGateway } from '../../support/start-gateway.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const [{ began }] = (await app.sql<{ began: Date }>('select clock_timestamp() as began')) as [{ began: Date }]
const TEN_MINUTES = 600_000
const urls = await Promise.all([
  startGateway(app, { clockShift: TEN_MINUTES }),
  startGateway(app, { clockShift: -TEN_MINUTES }),
])
const admin = await app.newUser({ role: 'ADMIN', num: '100' })
const store = await createStore(app, { price: '0' })
const doors = [0, 1, 0, 1].map((gateway) => createRest(urls[gateway]!, { actor: admin }))
type Door = (typeof doors)[number]

const makeApp = async (door: Door, more = {}): Promise<string> => {
  const json = { name: randomUUID(), price_mode: 'fixed', price: '0', ...more }
  return expectOk(await door('POST', 'store/network-apps/', { json })).id
}
const issueKey = async (door: Door): Promise<string> =>
  expectOk(await door('POST', 'store/api-keys/', { json: { name: randomUUID() } })).id
const buy = async (door: Door, networkApp = store.appId): Promise<string> => {
  const headers = store.service
  const json = { network_app: networkApp }
  const { id } = expectOk(await door('POST', 'store/network-app-orders/', { json, headers }))
  expectOk(await door('POST', `store/network-app-orders/${id}/confirm/`, { headers }))
  return id
}
const register = async (door: Door): Promise<string> =>
  expectOk(await door('POST', 'assets/', { multipart: { asset_file: newFile() } })).id

const headOf = (answer: { headers: Headers }): string => /commit_\w+/.exec(answer.headers.get('etag')!)![0]

const give = async (door: Door, user = admin): Promise<string> => {
  const json = { user_id: user.publicId, amount: '5', reason: 'Test' }
  return expectOk(await door('POST', 'store/point-grants/', { json })).id
}

await give(doors[0]!)
const changing = await register(doors[0]!)
const calling = await makeApp(doors[0]!, { webhook_url: 'http://127.0.0.1:9/' })
const refunded = await buy(doors[0]!, await makeApp(doors[0]!, { price: '1' }))

interface List {
  type: string
  make(door: Door): Promise<string>
  graphql: string
  rest?: string
  called?: string
  isOldestFirst?: true
}

async function withdraw(door: Rest): Promise<string> {
  const json = { amount: '0.001', to: `0x${'e1'.repeat(20)}`, current_password: PASSWORD }
  return expectOk(await door('POST', 'wallet/withdrawals/', { json })).id
}

async function receive(): Promise<string> {
  const key = randomUUID()
  const place = { setting: key, from: '1', to: '2', references: [key], kinds: ['COIN' as const], hashes: [key] }
  await app.sql(`insert into key_values values ($1, '1')`, [key])
  await app.installation.database.query(noteDeposits, {
    ...{ ...place, addresses: [admin.address], amounts: ['1'], blockNumbers: [1], blockHashes: [key] },
  })
  return key
}

const lists: List[] = [
  {
    type: 'TransferConnection',
    make: (door) => give(door),
    graphql: 'transfers(first: 4) { nodes { name: subjectId } }',
    rest: 'wallet/transfers/',
    called: 'subject_id',
  },
  {
    type: 'WithdrawalConnection',
    make: withdraw,
    graphql: 'withdrawals(first: 4) { nodes { name: id } }',
    rest: 'wallet/withdrawals/',
    called: 'id',
  },
  {
    type: 'AssetConnection',
    make: register,
    graphql: 'assets(first: 4) { nodes { name: id } }',
    rest: 'assets/',
    called: 'id',
  },
  {
    type: 'CommitConnection',
    make: async (door) => {
      const commit_message = randomUUID()
      expectOk(await door('PATCH', `assets/${changing}/`, { json: { caption: commit_message, commit_message } }))
      return commit_message
    },
    graphql: `asset(id: "${changing}") { list: commits(first: 4) { nodes { name: message } } }`,
    rest: `assets/${changing}/history/`,
    called: 'commitMessage',
    isOldestFirst: true,
  },
  {
    type: 'AssetLinkConnection',
    make: async (door) => expectOk(await door('POST', `assets/${changing}/links/`, { json: {} })).id,
    graphql: `asset(id: "${changing}") { list: links(first: 4) { nodes { name: id } } }`,
    rest: `assets/${changing}/links/`,
    called: 'id',
  },
  {
    type: 'OrderConnection',
    make: (door) => buy(door),
    graphql: 'orders(first: 4) { nodes { name: id } }',
    rest: 'store/network-app-orders/',
    called: 'id',
  },
  { type: 'SaleConnection', make: (door) => buy(door), graphql: 'sales(first: 4) { nodes { name: orderId } }' },
  {
    type: 'RefundConnection',
    make: async (door) => {
      const json = { amount: '0.1', reason: 'Test' }
      return expectOk(await door('POST', `store/network-app-orders/${refunded}/refunds/`, { json })).id
    },
    graphql: `refunds(orderId: "${refunded}", last: 4) { nodes { name: id } }`,
    rest: `store/network-app-orders/${refunded}/refunds/`,
    called: 'id',
    isOldestFirst: true,
  },
  {
    type: 'EventConnection',
    make: async (door) => {
      const answer = await door('PATCH', `assets/${changing}/`, { json: { caption: randomUUID() } })
      expectOk(answer)
      return headOf(answer)
    },
    graphql: 'events(last: 4) { nodes { name: commitId } }',
    rest: 'events/',
    called: 'commit_id',
    isOldestFirst: true,
  },
  {
    type: 'WebhookDeliveryConnection',
    make: (door) => buy(door, calling),
    graphql: 'webhookDeliveries(first: 4) { nodes { name: orderId } }',
    rest: 'store/webhook-deliveries/',
    called: 'order_id',
  },
  {
    type: 'NetworkAppConnection',
    make: (door) => makeApp(door),
    graphql: 'networkApps(first: 4) { nodes { name: id } }',
    rest: 'store/network-apps/',
    called: 'id',
  },
  {
    type: 'ApiKeyConnection',
    make: issueKey,
    graphql: 'apiKeys(first: 4) { nodes { name: id } }',
    rest: 'store/api-keys/',
    called: 'id',
  },
  {
    type: 'AuditEntryConnection',
    make: issueKey,
    graphql: 'auditEntries(first: 4) { nodes { name: subject } }',
    rest: 'auth/users/me/audit-entries/',
    called: 'subject',
  },
  {
    type: 'SessionConnection',
    make: async (door) => {
      const name = randomUUID()
      const json = { email: admin.email, password: PASSWORD }
      expectOk(await door('POST', 'auth/token/login/', { json, headers: { 'User-Agent': name } }))
      return name
    },
    graphql: 'sessions(first: 4) { nodes { name } }',
    rest: 'auth/sessions/',
    called: 'name',
  },
  {
    type: 'AccountWithdrawalConnection',
    make: withdraw,
    graphql: 'accountWithdrawals(first: 4) { nodes { name: withdrawalId } }',
  },
  {
    type: 'AccountDepositConnection',
    make: receive,
    graphql: 'accountDeposits(first: 4) { nodes { name: transactionHash } }',
  },
  {
    type: 'DepositConnection',
    make: receive,
    graphql: 'deposits(first: 4) { nodes { name: transactionHash } }',
    rest: 'wallet/deposits/',
    called: 'transaction_hash',
  },
]

it.each(lists)('$type: both APIs list the newest entry last', async (list) => {
  const made: string[] = []
  for (const door of doors) made.push(await list.make(door))
  const newestFirst = made.toReversed()

  const data = expectOk(await admin.graphql(`{ ${list.graphql.startsWith('asset(') ? '' : 'list: '}${list.graphql} }`))
  const { nodes } = data.list ?? data.asset.list
  const told = nodes.map(({ name }: { name: string }) => name)
  expect(told).toEqual(list.graphql.includes('last: 4') ? made : newestFirst)

  const { rest, called } = list
  if (rest === undefined || called === undefined) return
  const body = expectOk(await admin.rest('GET', rest))
  const items = (body.results ?? body.commits).map((item: Record<string, string>) => item[called])
  if (list.isOldestFirst) expect(items.slice(-4)).toEqual(made)
  else expect(items.slice(0, 4)).toEqual(newestFirst)
})

it('lists the refunds of an order in order of creation', async () => {
  const id = await buy(doors[0]!, await makeApp(doors[0]!, { price: '1' }))
  const reasons = doors.map((_, serial) => `refund ${serial}`)
  for (const [serial, door] of doors.entries()) {
    const json = { amount: '0.1', reason: reasons[serial] }
    expectOk(await door('POST', `store/network-app-orders/${id}/refunds/`, { json }))
  }
  const { order } = expectOk(await admin.graphql('query ($id: ID!) { order(id: $id) { refunds { reason } } }', { id }))
  expect(order.refunds.map(({ reason }: { reason: string }) => reason)).toEqual(reasons)
})

it('dates admin sessions by the database clock', async () => {
  const form = new URLSearchParams({ email: admin.email, password: PASSWORD, next: '/admin' })
  const headers = { 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${urls[0]}/admin/sign-in`, { method: 'POST', body: form, headers, redirect: 'manual' })
  expect(answer.status).toBe(303)
})

it('covers every list of the schema', () => {
  const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema.graphql'), 'utf8'))
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  const connections = types.map(({ name }) => name).filter((name) => name.endsWith('Connection'))
  expect(lists.map(({ type }) => type).toSorted()).toEqual(connections.toSorted())
})

interface Line {
  id: string
  subjectId: string
  points: string
  balance: { points: string }
  createdAt: string
}
const readLines = async (user: SignedIn, page: object): Promise<Line[]> => {
  const document = `query ($first: Int, $after: String, $last: Int, $before: String) {
    transfers(first: $first, after: $after, last: $last, before: $before) {
      nodes { id subjectId points balance { points } createdAt }
    }
  }`
  return expectOk(await user.graphql(document, page)).transfers.nodes
}

const movements = {
  grant: (gateway: number, user: SignedIn) => give(doors[gateway]!, user),
  async commit(gateway: number, user: SignedIn) {
    const door = createRest(urls[gateway]!, { actor: user })
    const answer = await door('POST', 'assets/', { multipart: { asset_file: newFile() } })
    expectOk(answer)
    return headOf(answer)
  },
  order: (gateway: number, user: SignedIn) => buy(createRest(urls[gateway]!, { actor: user }), sold),
}
const sold = await makeApp(doors[0]!, { price: '0.3' })

it('reading a statement by cursors during writes returns each line once', async () => {
  const user = await app.newUser({ points: '0' })
  await give(doors[0]!, user)
  const [start] = await readLines(user, { first: 1 })
  let isWriting = true
  const writing = Promise.all(
    [0, 1, 0, 1].map(async (gateway) => {
      for (let count = 0; count < 5; count += 1) await movements.grant(gateway, user)
    }),
  ).finally(() => {
    isWriting = false
  })
  const followed = [start!]
  for (let isLast = false; !isLast; ) {
    isLast = !isWriting
    const page = await readLines(user, { last: 3, before: followed.at(-1)!.id })
    followed.push(...page.toReversed())
    isLast &&= page.length === 0
  }
  await writing
  const all = await readLines(user, { first: 100 })
  expect(followed.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toReversed())
  expect(all).toHaveLength(21)
})

const NAMED_BEFORE = ['users', 'pictures', 'orders', 'network_apps', 'api_keys', 'refunds', 'processes']
const LATER = ['due_at', 'expires_at', 'window_end', 'next_attempt_at', 'previous_secret_expires_at']

it("stores no time of a gateway's clock, except IDs that are created before the insert", async () => {
  const columns = await app.sql<{ table: string; column: string; type: string }>(
    `select table_name as "table", column_name as "column", data_type as type from information_schema.columns
     where table_schema = 'public' and table_name <> '_prisma_migrations'
       and (data_type = 'timestamp with time zone' or (data_type = 'uuid' and column_name = 'id'))`,
  )
  const signed = [{ hash: randomUUID(), raw: Buffer.of(0), value: 1n, gasPrice: 1n }]
  const move = { userId: admin.id, sender: admin.address, recipient: admin.address, nonce: 0, amount: 2n, signed }
  await storeSweep(app.installation.database.query, move)
  const wrong: string[] = []
  const unseen: string[] = []
  for (const { table, column, type } of columns) {
    if (LATER.includes(column) || (type === 'uuid' && NAMED_BEFORE.includes(table))) continue
    const time = type === 'uuid' ? `uuid_extract_timestamp(${column})` : column
    const [found] = await app.sql<{ all: number; wrong: number }>(
      `select count(*)::int as all, (count(*) filter (where ${time} not between $1::timestamptz - interval '1 minute' and now()
         + interval '1 minute'))::int as wrong from ${table} where ${time} is not null`,
      [began],
    )
    if (found!.wrong > 0) wrong.push(`${table}.${column}`)
    if (found!.all === 0 && type === 'uuid') unseen.push(table)
  }
  expect(wrong).toEqual([])
  expect(unseen, 'Tables of which nothing was written here').toEqual([])
})
