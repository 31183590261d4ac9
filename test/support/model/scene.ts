/** The users of one sequence. Runs the model's operations on the real service and reads its state. */
import { randomBytes } from 'node:crypto'
import { globalAgent } from 'node:http'
import type { Database } from '../../../src/db/database-types.ts'
import { expireOrdersStatement } from '../../../src/modules/store/expire-orders.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { trySend } from '../http-client.ts'
import type { Transport } from '../use-cases.ts'
import type { Deed, Who } from './deeds.ts'
import { type Asked, type Real, readAnswer, requestOf, type Told } from './requests.ts'
import type { Attempt, Seen } from './step.ts'
import { units } from './units.ts'

/** A user with an account and a session. */
export interface Resident {
  id: string
  publicId: string
  username: string
  email: string
  token: string
}

/** The service under test. Scenes share it, but not their data. */
export interface TriedService {
  urls: readonly string[]
  database: Database
  sql<Row>(text: string, values: unknown[]): Promise<Row[]>
  apiKey: string
  password: string
  admit(role: 'USER' | 'ADMIN'): Promise<Resident>
  instead?(deed: Deed, real: Real, turns: Turns): Promise<Told> | undefined
}

/** Chooses the next operation to continue. The same seed gives the same choices. */
export interface Turns {
  take(name: string): Promise<void>
  until<T>(work: Promise<T>): Promise<T>
}

/** Continues all operations together. */
export const noTurns: Turns = { take: async () => undefined, until: (work) => work }

/** Balances and all other state that operations may change, by names of the model. */
export interface Observed {
  wallets: Record<string, { num: string; points: string }>
  orders: Record<string, string>
  commits: Record<string, number>
}

export interface Scene {
  ask(attempt: Attempt, transport: Transport): Promise<Told & { seen: Seen }>
  observe(): Promise<Observed>
  books(): Promise<{ book: string; currency: string; amount: string }[]>
  get(who: Who, path: string): ReturnType<typeof trySend>
  graphql(who: Who, query: string): ReturnType<typeof trySend>
  turns: Turns
  real: Real
}

const shiftSql = [
  `update orders set created_at = created_at - $2 * interval '1 minute', expires_at = expires_at - $2 * interval '1 minute',
     paid_at = paid_at - $2 * interval '1 minute', settled_at = settled_at - $2 * interval '1 minute' where buyer_id = any ($1::uuid[])`,
  `update withdrawals set created_at = created_at - $2 * interval '1 minute', due_at = due_at - $2 * interval '1 minute',
     settled_at = settled_at - $2 * interval '1 minute' where wallet_id = any ($1::uuid[])`,
]

const depositSql = `
  with paid as (update wallets set num = num + $2::numeric where user_id = $1::uuid returning user_id),
  moved as (insert into transfers (reference) select 'deposit:' || gen_random_uuid() from paid returning id)
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select moved.id, line.* from moved, lateral (values
    (1, $1::uuid, null::book, 'NUM'::currency, $2::numeric), (2, null, 'DEPOSITS', 'NUM', -$2::numeric)) as line`

const appSql = `insert into network_apps (id, owner_id, name, price) values ($1::uuid, $2::uuid, $3, $4::numeric)`

/** The service was too busy for a request. The outcome is unknown and says nothing about the rules. */
export class PutOff extends Error {
  override readonly name = 'PutOff'
}

async function answered(asked: ReturnType<typeof trySend>) {
  const answer = await asked
  const isBusy = answer.status === 0 || answer.status === 503 || answer.text.includes('"UNAVAILABLE"')
  if (isBusy) throw new PutOff(`${answer.sent} was put off: ${answer.status} ${answer.text.slice(0, 300)}`)
  return answer
}

/** Creates the users of a sequence: two users, a free place for a third, an administrator and an app of the first user. */
export async function openScene(service: TriedService, price: string, turns: Turns): Promise<Scene> {
  const tag = randomBytes(6).toString('hex')
  const [ada, ben, admin] = [await service.admit('USER'), await service.admit('USER'), await service.admit('ADMIN')]
  const newcomer = { id: '', publicId: 'user_00000000000000000000000000', token: '' }
  const places = [ada, ben, { ...newcomer, username: `c${tag}`, email: `c${tag}@example.org` }]
  const accounts: Record<string, string> = { 'person 0': ada.id, 'person 1': ben.id, admin: admin.id }
  const made: Record<'apps' | 'orders' | 'withdrawals', Record<string, string>> = {
    apps: {},
    orders: {},
    withdrawals: {},
  }
  const nids: Record<string, string> = {}
  let requests = 0
  const resident = (who: number | 'admin') => (who === 'admin' ? admin : places[who]!)

  const appName = (attempt: string) => `app ${tag} ${attempt}`
  const [{ id: firstApp }] = (await service.sql<{ id: string }>('select gen_random_uuid()::text as id', [])) as [
    { id: string },
  ]
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

  const headersOf = (who: Who) => {
    const token = who === 'anonymous' ? '' : resident(who).token
    return {
      Accept: 'application/json',
      'x-api-key': service.apiKey,
      ...(token && { authorization: `token ${token}` }),
    }
  }
  const nextUrl = () => service.urls[requests++ % service.urls.length]!
  const everybody = () => Object.values(accounts)

  function remember(name: string, deed: Deed, told: Told) {
    if (told.code !== 'ok' || told.made === undefined) return
    if (deed.kind === 'signUp') {
      places[deed.who]!.publicId = told.made
      places[deed.who]!.id = fromId(told.made, 'user')!.uuid
      accounts[name] = places[deed.who]!.id
    } else if (deed.kind === 'signIn') places[deed.who]!.token = told.made
    else if (deed.kind === 'register') nids[deed.file] = told.made
    else if (deed.kind === 'order') made.orders[name] ??= told.made
    else if (deed.kind === 'withdraw') made.withdrawals[name] ??= told.made
    else if (deed.kind === 'list') made.apps[name] = told.made
  }

  async function byHand(deed: Extract<Deed, { kind: 'deposit' | 'elapse' | 'sweep' }>): Promise<Told> {
    if (deed.kind === 'deposit') await service.sql(depositSql, [resident(deed.who).id, deed.amount])
    else if (deed.kind === 'elapse') for (const text of shiftSql) await service.sql(text, [everybody(), deed.minutes])
    else {
      await service.database.query(expireOrdersStatement, {
        orders: Object.values(made.orders).map((id) => fromId(id, 'order')!.uuid),
      })
    }
    return { code: 'ok' }
  }

  async function feeOf(withdrawal: string): Promise<Seen> {
    const { uuid } = fromId(withdrawal, 'withdrawal')!
    const [row] = await service.sql<{ fee: string }>('select fee::text from withdrawals where id = $1::uuid', [uuid])
    return { fee: units(row!.fee) }
  }

  return {
    real,
    turns,
    async ask(attempt, transport) {
      const { name, deed, key } = attempt
      const other = service.instead?.(deed, real, turns)
      if (other) return { ...(await other), seen: {} }
      if (deed.kind === 'deposit' || deed.kind === 'elapse' || deed.kind === 'sweep')
        return { ...(await byHand(deed)), seen: {} }
      const isNewcomer = deed.kind === 'signUp' || deed.kind === 'signIn'
      const {
        authorization,
        'x-api-key': apiKey,
        Accept,
      } = headersOf(isNewcomer ? 'anonymous' : deed.who) as Record<string, string>
      const message = requestOf(deed as Extract<Deed, { kind: Asked }>, transport, real, name)
      const isTrusted = deed.kind === 'order' ? deed.isTrusted : deed.kind === 'confirm'
      const headers = given({
        ...{ Accept, authorization, 'x-api-key': isTrusted ? apiKey : undefined },
        ...{ 'idempotency-key': key === undefined ? undefined : `${tag} ${key}`, ...message.headers },
      })
      const answer = await answered(trySend(nextUrl(), { ...message, headers }, { agent: globalAgent }))
      const told = readAnswer(deed.kind, transport, answer)
      if (told.code === 'unknown')
        throw new Error(`${message.name} was answered ${answer.status} ${answer.text.slice(0, 500)}`)
      remember(name, deed, told)
      const seen = deed.kind === 'withdraw' && told.made !== undefined ? await feeOf(told.made) : {}
      return { ...told, seen }
    },
    async observe() {
      const ids = everybody()
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
        [everybody()],
      ),
    get: (who, path) => answered(trySend(nextUrl(), { path, headers: headersOf(who) }, { agent: globalAgent })),
    graphql: (who, query) =>
      answered(
        trySend(nextUrl(), { path: '/graphql', json: { query }, headers: headersOf(who) }, { agent: globalAgent }),
      ),
  }
}

const given = (fields: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined))
