/** The users of one sequence. Runs the model's operations on the real service and reads its state. */
import { randomBytes, randomUUID } from 'node:crypto'
import { globalAgent } from 'node:http'
import type { Database } from '../../../src/db/database-types.ts'
import { expireOrdersStatement } from '../../../src/modules/store/expire-orders.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { trySend } from '../http-client.ts'
import { deposit } from '../person.ts'
import type { Transport } from '../use-cases.ts'
import type { Caller, Operation } from './operations.ts'
import { type Real, type RequestKind, type Result, readAnswer, requestOf } from './requests.ts'
import type { Attempt, Decisions } from './step.ts'
import { units } from './units.ts'

export type ModelUser = { id: string; publicId: string; username: string; email: string; token: string }

/** The service under test. Scenes share it, but not their data. */
export interface ServiceUnderTest {
  urls: readonly string[]
  database: Database
  sql<Row>(text: string, values: unknown[]): Promise<Row[]>
  apiKey: string
  password: string
  createUser(role: 'USER' | 'ADMIN'): Promise<ModelUser>
  override?(operation: Operation, real: Real, scheduler: Scheduler): Promise<Result> | undefined
}

/** Chooses the next operation to continue. The same seed gives the same choices. */
export type Scheduler = { take(name: string): Promise<void>; until<T>(work: Promise<T>): Promise<T> }

/** Balances and all other state that operations may change, by names of the model. */
export interface Observed {
  wallets: Record<string, { num: string; points: string }>
  orders: Record<string, string>
  commits: Record<string, number>
}

export interface Scene {
  ask(attempt: Attempt, transport: Transport): Promise<Result & { decisions: Decisions }>
  observe(): Promise<Observed>
  books(): Promise<{ book: string; currency: string; amount: string }[]>
  get(who: Caller, path: string): ReturnType<typeof trySend>
  graphql(who: Caller, query: string): ReturnType<typeof trySend>
  scheduler: Scheduler
  real: Real
}

const shiftSql = [
  `update orders set created_at = created_at - $2 * interval '1 minute', expires_at = expires_at - $2 * interval '1 minute',
     paid_at = paid_at - $2 * interval '1 minute', settled_at = settled_at - $2 * interval '1 minute' where buyer_id = any ($1::uuid[])`,
  `update withdrawals set created_at = created_at - $2 * interval '1 minute', due_at = due_at - $2 * interval '1 minute',
     settled_at = settled_at - $2 * interval '1 minute' where wallet_id = any ($1::uuid[])`,
]

const appSql = `insert into network_apps (id, owner_id, name, price) values ($1::uuid, $2::uuid, $3, $4::numeric)`

/** The service was too busy for a request. The outcome is unknown and says nothing about the rules. */
export class ServiceBusy extends Error {
  override readonly name = 'ServiceBusy'
}

async function answerOrBusy(sent: ReturnType<typeof trySend>) {
  const answer = await sent
  const isBusy = answer.status === 0 || answer.status === 503 || answer.text.includes('"UNAVAILABLE"')
  if (isBusy)
    throw new ServiceBusy(`The service is busy: ${answer.sent}: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer
}

/** Creates the users of a sequence: two users, a free place for a third, an administrator and an app of the first user. */
export async function openScene(service: ServiceUnderTest, price: string, scheduler: Scheduler): Promise<Scene> {
  const tag = randomBytes(6).toString('hex')
  const { createUser } = service
  const [ada, ben, admin] = [await createUser('USER'), await createUser('USER'), await createUser('ADMIN')]
  const newcomer = { id: '', publicId: 'user_00000000000000000000000000', token: '' }
  const places = [ada, ben, { ...newcomer, username: `c${tag}`, email: `c${tag}@example.org` }]
  const accounts: Record<string, string> = { 'person 0': ada.id, 'person 1': ben.id, admin: admin.id }
  type Ids = Record<string, string>
  const made: { apps: Ids; orders: Ids; withdrawals: Ids } = { apps: {}, orders: {}, withdrawals: {} }
  const nids: Record<string, string> = {}
  let requests = 0
  const userOf = (who: number | 'admin') => (who === 'admin' ? admin : places[who]!)

  const appName = (attempt: string) => `app ${tag} ${attempt}`
  const firstApp = randomUUID()
  await service.sql(appSql, [firstApp, ada.id, appName('first'), price])
  made.apps.first = toId('app', firstApp)

  const real: Real = {
    user: (who) => places[who]!.publicId,
    credentials: (who) => {
      const { username, email } = places[who]!
      return { username, email, password: service.password }
    },
    file: (number) => new File([`file ${number} of ${tag}`], 'file.txt', { type: 'text/plain' }),
    nid: (file) => nids[file]!,
    app: (name) => made.apps[name]!,
    order: (name) => made.orders[name]!,
    withdrawal: (name) => made.withdrawals[name]!,
    recipient: `0x${'00'.repeat(13)}${tag}01`.toLowerCase(),
    appName,
  }

  const headersOf = (who: Caller) => {
    const token = who === 'anonymous' ? '' : userOf(who).token
    return {
      Accept: 'application/json',
      'x-api-key': service.apiKey,
      ...(token && { authorization: `token ${token}` }),
    }
  }
  const nextUrl = () => service.urls[requests++ % service.urls.length]!
  const userIds = () => Object.values(accounts)

  function recordId(name: string, operation: Operation, result: Result) {
    if (result.code !== 'ok' || result.made === undefined) return
    if (operation.kind === 'signUp') {
      places[operation.who]!.publicId = result.made
      places[operation.who]!.id = fromId(result.made, 'user')!.uuid
      accounts[name] = places[operation.who]!.id
    } else if (operation.kind === 'signIn') places[operation.who]!.token = result.made
    else if (operation.kind === 'register') nids[operation.file] = result.made
    else if (operation.kind === 'order') made.orders[name] ??= result.made
    else if (operation.kind === 'withdraw') made.withdrawals[name] ??= result.made
    else if (operation.kind === 'list') made.apps[name] = result.made
  }

  async function runDirectly(operation: Extract<Operation, { kind: 'deposit' | 'elapse' | 'sweep' }>): Promise<Result> {
    if (operation.kind === 'deposit')
      await service.database.query(deposit, { user: userOf(operation.who).id, amount: operation.amount })
    else if (operation.kind === 'elapse')
      for (const text of shiftSql) await service.sql(text, [userIds(), operation.minutes])
    else {
      await service.database.query(expireOrdersStatement, {
        orders: Object.values(made.orders).map((id) => fromId(id, 'order')!.uuid),
      })
    }
    return { code: 'ok' }
  }

  async function feeOf(withdrawal: string): Promise<Decisions> {
    const { uuid } = fromId(withdrawal, 'withdrawal')!
    const [row] = await service.sql<{ fee: string }>('select fee::text from withdrawals where id = $1::uuid', [uuid])
    return { fee: units(row!.fee) }
  }

  return {
    real,
    scheduler,
    async ask(attempt, transport) {
      const { name, operation, key } = attempt
      const other = service.override?.(operation, real, scheduler)
      if (other) return { ...(await other), decisions: {} }
      if (operation.kind === 'deposit' || operation.kind === 'elapse' || operation.kind === 'sweep')
        return { ...(await runDirectly(operation)), decisions: {} }
      const isNewcomer = operation.kind === 'signUp' || operation.kind === 'signIn'
      const {
        authorization,
        'x-api-key': apiKey,
        Accept,
      } = headersOf(isNewcomer ? 'anonymous' : operation.who) as Record<string, string>
      const message = requestOf(operation as Extract<Operation, { kind: RequestKind }>, transport, real, name)
      const isTrusted = operation.kind === 'order' ? operation.isTrusted : operation.kind === 'confirm'
      const headers = given({
        ...{ Accept, authorization, 'x-api-key': isTrusted ? apiKey : undefined },
        ...{ 'idempotency-key': key === undefined ? undefined : `${tag} ${key}`, ...message.headers },
      })
      const answer = await answerOrBusy(trySend(nextUrl(), { ...message, headers }, { agent: globalAgent }))
      const result = readAnswer(operation.kind, transport, answer)
      if (result.code === 'unknown')
        throw new Error(`${message.name} was answerOrBusy ${answer.status} ${answer.text.slice(0, 500)}`)
      recordId(name, operation, result)
      const decisions = operation.kind === 'withdraw' && result.made !== undefined ? await feeOf(result.made) : {}
      return { ...result, decisions }
    },
    async observe() {
      const ids = userIds()
      const wallets = await service.sql<{ id: string; num: string; points: string }>(
        `select user_id::text as id, num::text, points::text from wallets where user_id = any ($1::uuid[])`,
        [ids],
      )
      const orders = await service.sql<{ id: string; status: string }>(
        `select id::text, status::text from orders where buyer_id = any ($1::uuid[])`,
        [ids],
      )
      const commits = await service.sql<{ nid: string; count: number }>(
        `select a.nid, count(*)::int as count from assets a join commits c on c.asset_id = a.id
         where a.owner_id = any ($1::uuid[]) and a.deleted_at is null group by a.nid`,
        [ids],
      )
      const nameOf = (names: Record<string, string>, id: string) =>
        Object.entries(names).find(([, known]) => known === id)?.[0] ?? id
      const uuidsOf = (names: Record<string, string>) =>
        Object.fromEntries(Object.entries(names).map(([name, id]) => [name, fromId(id)!.uuid]))
      const orderUuids = uuidsOf(made.orders)
      return {
        wallets: Object.fromEntries(wallets.map(({ id, ...held }) => [nameOf(accounts, id), held])),
        orders: Object.fromEntries(orders.map(({ id, status }) => [nameOf(orderUuids, id), status])),
        commits: Object.fromEntries(commits.map(({ nid, count }) => [nameOf(nids, nid), count])),
      }
    },
    books: () =>
      service.sql(
        `select book::text, currency::text, sum(amount)::text as amount from entries
         where book is not null and transfer_id in (select transfer_id from entries where wallet_id = any ($1::uuid[]))
         group by book, currency having sum(amount) <> 0`,
        [userIds()],
      ),
    get: (who, path) => answerOrBusy(trySend(nextUrl(), { path, headers: headersOf(who) }, { agent: globalAgent })),
    graphql: (who, query) =>
      answerOrBusy(
        trySend(nextUrl(), { path: '/graphql', json: { query }, headers: headersOf(who) }, { agent: globalAgent }),
      ),
  }
}

const given = (fields: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined))
