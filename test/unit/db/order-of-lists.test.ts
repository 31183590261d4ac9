/** Lists are ordered by the database clock, even if the clocks of the gateways are wrong. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, isObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { storeSweep } from '../../../src/modules/coins/coin-transfers.ts'
import { storeFoundDeposits } from '../../../src/modules/coins/deposits.sql.ts'
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
const clients = [0, 1, 0, 1].map((gateway) => createRest(urls[gateway]!, { actor: admin }))

const makeApp = async (client: Rest, more = {}): Promise<string> => {
  const json = { name: randomUUID(), price_mode: 'fixed', price: '0', ...more }
  return expectOk(await client('POST', 'store/network-apps/', { json })).id
}
const issueKey = async (client: Rest): Promise<string> =>
  expectOk(await client('POST', 'store/api-keys/', { json: { name: randomUUID() } })).id
const buy = async (client: Rest, networkApp = store.appId): Promise<string> => {
  const headers = store.service
  const json = { network_app: networkApp }
  const { id } = expectOk(await client('POST', 'store/network-app-orders/', { json, headers }))
  expectOk(await client('POST', `store/network-app-orders/${id}/confirm/`, { headers }))
  return id
}
const register = async (client: Rest): Promise<string> =>
  expectOk(await client('POST', 'assets/', { multipart: { asset_file: newFile() } })).id

const headOf = (answer: { headers: Headers }): string => /commit_\w+/.exec(answer.headers.get('etag')!)![0]

const give = async (client: Rest, user = admin): Promise<string> => {
  const json = { user_id: user.publicId, amount: '5', reason: 'Test' }
  return expectOk(await client('POST', 'store/point-grants/', { json })).id
}

await give(clients[0]!)
const changing = await register(clients[0]!)
const calling = await makeApp(clients[0]!, { webhook_url: 'http://127.0.0.1:9/' })
const refunded = await buy(clients[0]!, await makeApp(clients[0]!, { price: '1' }))

async function withdraw(client: Rest): Promise<string> {
  const json = { amount: '0.001', to: `0x${'e1'.repeat(20)}`, current_password: PASSWORD }
  return expectOk(await client('POST', 'wallet/withdrawals/', { json })).id
}

async function receive(): Promise<string> {
  const key = randomUUID()
  const place = { setting: key, from: '1', to: '2', references: [key], kinds: ['COIN' as const], hashes: [key] }
  await app.sql(`insert into key_values values ($1, '1')`, [key])
  await app.installation.database.query(storeFoundDeposits, {
    ...{ ...place, addresses: [admin.address], amounts: ['1'], blockNumbers: [1], blockHashes: [key] },
  })
  return key
}

const commitCaption = async (client: Rest) => {
  const commit_message = randomUUID()
  expectOk(await client('PATCH', `assets/${changing}/`, { json: { caption: commit_message, commit_message } }))
  return commit_message
}
const causeEvent = async (client: Rest) => {
  const answer = await client('PATCH', `assets/${changing}/`, { json: { caption: randomUUID() } })
  expectOk(answer)
  return headOf(answer)
}
const refunds = `store/network-app-orders/${refunded}/refunds/`
const refund = async (client: Rest): Promise<string> =>
  expectOk(await client('POST', refunds, { json: { amount: '0.1', reason: 'Test' } })).id
const signIn = async (client: Rest) => {
  const name = randomUUID()
  const json = { email: admin.email, password: PASSWORD }
  expectOk(await client('POST', 'auth/token/login/', { json, headers: { 'User-Agent': name } }))
  return name
}
const link = async (client: Rest): Promise<string> =>
  expectOk(await client('POST', `assets/${changing}/links/`, { json: {} })).id

const sell = (client: Rest) => buy(client, calling)

/** Per connection type: creates an entry and returns its name; the GraphQL list and field; the REST list and field. */
type List = [create: (client: Rest) => Promise<string>, list: string, field: string, path?: string, key?: string]
const ofAsset = `asset(id: "${changing}")`
const last = 'last: 4'
const lists: Record<string, List> = {
  TransferConnection: [(client) => give(client), 'transfers', 'subjectId', 'wallet/transfers/', 'subject_id'],
  WithdrawalConnection: [withdraw, 'withdrawals', 'id', 'wallet/withdrawals/', 'id'],
  AssetConnection: [register, 'assets', 'id', 'assets/', 'id'],
  CommitConnection: [commitCaption, `${ofAsset}.commits`, 'message', `assets/${changing}/history/`, 'commitMessage'],
  AssetLinkConnection: [link, `${ofAsset}.links`, 'id', `assets/${changing}/links/`, 'id'],
  OrderConnection: [(client) => buy(client), 'orders', 'id', 'store/network-app-orders/', 'id'],
  SaleConnection: [(client) => buy(client), 'sales', 'orderId'],
  RefundConnection: [refund, `refunds(orderId: "${refunded}", ${last})`, 'id', refunds, 'id'],
  EventConnection: [causeEvent, `events(${last})`, 'commitId', 'events/', 'commit_id'],
  WebhookDeliveryConnection: [sell, 'webhookDeliveries', 'orderId', 'store/webhook-deliveries/', 'order_id'],
  NetworkAppConnection: [(client) => makeApp(client), 'networkApps', 'id', 'store/network-apps/', 'id'],
  ApiKeyConnection: [issueKey, 'apiKeys', 'id', 'store/api-keys/', 'id'],
  AuditEntryConnection: [issueKey, 'auditEntries', 'subject', 'auth/users/me/audit-entries/', 'subject'],
  SessionConnection: [signIn, 'sessions', 'name', 'auth/sessions/', 'name'],
  AccountWithdrawalConnection: [withdraw, 'accountWithdrawals', 'withdrawalId'],
  AccountDepositConnection: [receive, 'accountDeposits', 'transactionHash'],
  DepositConnection: [receive, 'deposits', 'transactionHash', 'wallet/deposits/', 'transaction_hash'],
}
const oldestFirst = ['CommitConnection', 'RefundConnection', 'EventConnection']

it.each(Object.entries(lists))(
  'both APIs list the entries of %s in the order of their creation, despite clock skew',
  async (type, list) => {
    const [create, name, field, path, key] = list
    const made: string[] = []
    for (const client of clients) made.push(await create(client))
    const newestFirst = made.toReversed()

    const [outer, inner] = name.includes('.') ? name.split('.') : [undefined, name]
    const selected = `list: ${name.includes(last) ? inner : `${inner}(first: 4)`} { nodes { name: ${field} } }`
    const data = expectOk(await admin.graphql(outer ? `{ ${outer} { ${selected} } }` : `{ ${selected} }`))
    const { nodes } = data.list ?? data.asset.list
    const names = nodes.map(({ name }: { name: string }) => name)
    expect(names).toEqual(name.includes(last) ? made : newestFirst)

    if (path === undefined || key === undefined) return
    const body = expectOk(await admin.rest('GET', path))
    const items = (body.results ?? body.commits).map((item: Record<string, string>) => item[key])
    if (oldestFirst.includes(type)) expect(items.slice(-4)).toEqual(made)
    else expect(items.slice(0, 4)).toEqual(newestFirst)
  },
)

it('an admin session uses the database clock even if the process clock is wrong', async () => {
  const form = new URLSearchParams({ email: admin.email, password: PASSWORD, next: '/admin' })
  const headers = { 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${urls[0]}/admin/sign-in`, { method: 'POST', body: form, headers, redirect: 'manual' })
  expect(answer.status).toBe(303)
})

it('the test of list orders covers every list of the schema', () => {
  const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema.graphql'), 'utf8'))
  const types = Object.values(schema.getTypeMap()).filter(isObjectType)
  const connections = types.map(({ name }) => name).filter((name) => name.endsWith('Connection'))
  expect(Object.keys(lists).toSorted()).toEqual(connections.toSorted())
})

const readLines = async (user: SignedIn, page: object): Promise<{ id: string }[]> => {
  const document = `query ($first: Int, $last: Int, $before: String) {
    transfers(first: $first, last: $last, before: $before) { nodes { id } } }`
  return expectOk(await user.graphql(document, page)).transfers.nodes
}

it('paging through a wallet statement during writes returns each line once', async () => {
  const user = await app.newUser({ points: '0' })
  await give(clients[0]!, user)
  const [start] = await readLines(user, { first: 1 })
  let isWriting = true
  const writing = Promise.all(
    [0, 1, 0, 1].map(async (gateway) => {
      for (let count = 0; count < 5; count += 1) await give(clients[gateway]!, user)
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

it("stores no time from a gateway's clock, except in IDs that are created before the insert", async () => {
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
  expect(unseen, 'tables without rows').toEqual([])
})
