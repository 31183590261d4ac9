/** What people do with the service on one day of a simulated year, through its doors. The same each day, but for who does it. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type Answer, type Message, send } from '../test/support/http-client.ts'

const PASSWORD = 'a password for a year'

interface Person {
  id: string
  token: string
  email: string
  /** Assets of theirs. */
  nids: string[]
}

/** How often each is done on a day. */
export interface DayLoad {
  signIns: number
  registrations: number
  updates: number
  paidOrders: number
  unpaidOrders: number
  grants: number
  resets: number
}

/** A day of a small installation; a thousand of them are one of a large one. */
export const dayLoad: DayLoad = {
  signIns: 1,
  registrations: 2,
  updates: 6,
  paidOrders: 4,
  unpaidOrders: 2,
  grants: 2,
  resets: 1,
}

/** Days between two sign-ups. */
const SIGN_UP_EVERY = 3
/** Days between two deletions: of an asset, and of an account. */
const ASSET_DELETED_EVERY = 4
const ACCOUNT_DELETED_EVERY = 30
/** Every so many webhook calls fails once. */
export const FAILS_EVERY = 10

interface Parts {
  url: string
  receiverUrl: string
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>
}

/** People, a seller and a trusted service; `day` does what is done on a day, and returns how many requests that were. */
export async function createYearLoad({ url, receiverUrl, sql }: Parts) {
  let requests = 0
  let files = 0
  let turn = 0
  const people: Person[] = []

  async function ask(message: Message, ...expected: number[]): Promise<Answer> {
    requests += 1
    const answer = await send(url, { ...message, path: `/api/v3/${message.path}` })
    if (expected.includes(answer.status)) return answer
    throw new Error(`${message.method ?? ''} ${message.path}: ${answer.status} ${answer.text.slice(0, 300)}`)
  }
  const key = () => ({ 'Idempotency-Key': randomUUID() })

  async function signUp(): Promise<Person> {
    const name = `y${randomBytes(6).toString('hex')}`
    const email = `${name}@example.org`
    await ask({ path: 'auth/users/', json: { username: name, email, password: PASSWORD }, headers: key() }, 201)
    const [row] = await sql<{ id: string }>('select id::text from users where username = $1', [name])
    return { id: row!.id, email, token: await signIn(email), nids: [] }
  }

  async function signIn(email: string): Promise<string> {
    const { body } = await ask({ path: 'auth/token/login/', json: { email, password: PASSWORD } }, 200, 201)
    return body.auth_token
  }

  /** Somebody whose session has ended because they did not use it signs in again. */
  async function askAs(person: Person, message: Message, ...expected: number[]): Promise<Answer> {
    const answer = await ask({ ...message, token: person.token }, 401, ...expected)
    if (answer.status !== 401) return answer
    person.token = await signIn(person.email)
    return ask({ ...message, token: person.token }, ...expected)
  }

  const seller = await signUp()
  await sql(`update users set role = 'ADMIN' where id = $1::uuid`, [seller.id])
  const secret = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  await sql('insert into api_keys (name, prefix, hash) values ($1, $2, $3)', [
    'year',
    secret.slice(0, 8),
    createHash('sha256').update(secret).digest(),
  ])
  const app = async (fields: object) =>
    (
      await askAs(
        seller,
        {
          path: 'store/network-apps/',
          json: { name: randomUUID(), price_mode: 'fixed', price: '0.5', ...fields },
        },
        201,
      )
    ).body.id as string
  const apps = [await app({}), await app({ webhook_url: receiverUrl })]

  /** Whose turn it is, one after the other. */
  const next = () => {
    turn += 1
    return people[turn % people.length]!
  }

  async function register(person: Person) {
    files += 1
    const multipart = {
      asset_file: new File([`file ${files} ${randomUUID()}`], 'note.txt', { type: 'text/plain' }),
      caption: `Note ${files}`,
      headline: 'A note of the year',
    }
    const { body } = await askAs(person, { path: 'assets/', multipart, headers: key() }, 201)
    person.nids.push(body.id)
  }

  async function update(person: Person) {
    if (person.nids.length === 0) await register(person)
    const nid = person.nids[turn % person.nids.length]!
    const json = {
      caption: `A caption of about the usual length, number ${requests}`,
      nit_commit_message: 'A better caption',
    }
    await askAs(person, { method: 'PATCH', path: `assets/${nid}/`, json, headers: key() }, 200)
  }

  async function order(person: Person, index: number): Promise<string> {
    const json = { network_app: apps[index % apps.length], action_args: { nid: person.nids[0] ?? 'none', scale: 2 } }
    const message = { path: 'store/network-app-orders/', apiKey: secret, json, headers: key() }
    return (await askAs(person, message, 201)).body.id
  }
  const orderStep = (person: Person, id: string, step: string) =>
    askAs(
      person,
      {
        method: 'POST',
        path: `store/network-app-orders/${id}/${step}/`,
        apiKey: secret,
        headers: key(),
      },
      200,
    )

  const grant = (person: Person) => {
    const json = { user_id: person.email, amount: '20', reason: 'A gift' }
    return askAs(seller, { path: 'store/point-grants/', json, headers: key() }, 201)
  }

  const times = async (count: number, work: (index: number) => Promise<unknown>) => {
    for (let index = 0; index < count; index += 1) await work(index)
  }

  await times(12, async () => people.push(await signUp()))

  return {
    async day(day: number): Promise<number> {
      const before = requests
      if (day % SIGN_UP_EVERY === 0) people.push(await signUp())
      await times(dayLoad.signIns, async () => {
        const person = next()
        person.token = await signIn(person.email)
      })
      await times(dayLoad.grants, () => grant(next()))
      await times(dayLoad.registrations, () => register(next()))
      await times(dayLoad.updates, () => update(next()))
      await times(dayLoad.paidOrders, async (index) => {
        const person = next()
        await orderStep(person, await order(person, index), 'confirm')
      })
      await times(dayLoad.unpaidOrders, (index) => order(next(), index))
      await times(dayLoad.resets, () =>
        ask({ path: 'auth/users/reset_password/', json: { email: next().email } }, 200, 201, 204),
      )
      if (day % ASSET_DELETED_EVERY === 0) {
        const person = people.find(({ nids }) => nids.length > 3)
        const nid = person?.nids.shift()
        if (nid) await askAs(person!, { method: 'DELETE', path: `assets/${nid}/` }, 204)
      }
      if (day % ACCOUNT_DELETED_EVERY === 0) {
        const [gone] = people.splice(0, 1)
        await askAs(gone!, { method: 'DELETE', path: 'auth/users/me/' }, 204)
      }
      return requests - before
    },
    people: () => people.length,
  }
}
