/** Expensive operations are limited per account and per network address, so many accounts at one address leave places to others. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { recordExport } from '../../../src/modules/accounts/export-account.ts'
import { issueApiKey } from '../../../src/modules/store/api-keys.ts'
import { until } from '../../support/eventually.ts'
import type { Answer } from '../../support/http-client.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp, registerWith, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp({ withChain: true, env: { TRUSTED_PROXIES: '127.0.0.1' } })
const ACCOUNTS = 12

async function newAccount() {
  const user = await app.newUser({ num: '10' })
  const { body } = await registerWith(user.rest, { asset_file: await newPicture(), public_access: 'true' })
  return { ...user, nid: body.id as string }
}

const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, newAccount))
const stranger = await newAccount()
const { key: apiKey } = await issueApiKey(asSystem(app.context), { name: 'Partner' })

afterEach(async () => {
  vi.restoreAllMocks()
  await app.sql('update assets set c2pa_cid = null, c2pa_version = null')
})

function holdWork() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let running = 0
  return {
    running: () => running,
    release: resolve,
    async hold() {
      running += 1
      await promise
      running -= 1
    },
  }
}
type Held = ReturnType<typeof holdWork>

interface Operation {
  hold(held: Held): void
  ask(account: SignedIn & { nid: string }, headers: Record<string, string>): Promise<Answer>
  /** Number of requests per account that fills the queue of one address. */
  each?: number
}

const operations: Record<string, Operation> = {
  verifications: {
    hold({ hold }) {
      const { histories } = app.chain
      const verify = histories.verify.bind(histories)
      vi.spyOn(histories, 'verify').mockImplementation(async (...args) => {
        await hold()
        return verify(...args)
      })
    },
    ask: ({ graphql, nid }, headers) =>
      graphql(`{ asset(id: "${nid}") { verification { verdict } } }`, {}, { headers }),
  },
  proofs: {
    each: 3,
    hold({ hold }) {
      vi.spyOn(app.chain.histories, 'prove').mockImplementation(async function* () {
        await hold()
        yield Buffer.from('proof')
      })
    },
    ask: ({ rest, nid }, headers) => rest('GET', `assets/${nid}/proof/`, { headers }),
  },
  'files with Content Credentials': {
    hold({ hold }) {
      vi.spyOn(app.context.contentCredentials, 'write').mockImplementation(async function* () {
        await hold()
        yield Buffer.from('a signed file')
      })
    },
    ask: ({ rest, nid }, headers) => rest('GET', `assets/${nid}/c2pa/`, { headers }),
  },
  exports: {
    hold({ hold }) {
      const { database } = app.installation
      const query = database.query.bind(database)
      vi.spyOn(database, 'query').mockImplementation(async (statement, parameters) => {
        if (Object.is(statement, recordExport)) await hold()
        return query(statement, parameters)
      })
    },
    ask: ({ rest }, headers) => rest('GET', 'auth/users/me/export/', { headers }),
  },
}

const isRefused = ({ status, body }: Answer) => status === 503 || body?.errors?.[0]?.extensions?.code === 'UNAVAILABLE'

/** Sends requests of all accounts until one is rejected because the queue is full. Returns the end of all requests. */
async function crowd({ ask, each = 1 }: Operation, headersOf: (account: number) => Record<string, string>) {
  let refusals = 0
  const asked = accounts
    .flatMap((account, index) => Array.from({ length: each }, () => ({ account, index })))
    .map(async ({ account, index }) => {
      if (isRefused(await ask(account, headersOf(index)))) refusals += 1
    })
  await until('a request is refused because too many wait', () => refusals > 0)
  return { ended: Promise.all(asked) }
}

describe.each(Object.entries(operations))('concurrent %s', (_, operation) => {
  it.each([
    ['one IPv4 address', () => '203.0.113.1', '203.0.113.2'],
    ['one IPv6 network', (index: number) => `2001:db8::${index + 1}`, '2001:db8:0:1::1'],
  ])(
    'concurrent requests of twelve accounts at %s leave capacity for other addresses',
    async (_place, addressOf, elsewhere) => {
      const held = holdWork()
      operation.hold(held)
      const { ended } = await crowd(operation, (index) => ({ 'X-Forwarded-For': addressOf(index) }))
      await until('one operation of the address runs', () => held.running() === 1)
      const other = operation.ask(stranger, { 'X-Forwarded-For': elsewhere })
      await until('the operation of another address runs', () => held.running() === 2)
      held.release()
      expect(isRefused(await other)).toBe(false)
      await ended
    },
  )

  it('does not limit concurrent requests of a trusted service by network address', async () => {
    const held = holdWork()
    operation.hold(held)
    const headers = { 'X-Forwarded-For': '203.0.113.3', 'x-api-key': apiKey }
    const [first, second] = accounts
    const asked = [operation.ask(first!, headers), operation.ask(second!, headers)]
    await until('two operations from one address run', () => held.running() === 2)
    held.release()
    for (const answer of await Promise.all(asked)) expect(isRefused(answer)).toBe(false)
  })
})

describe('concurrent profile pictures', () => {
  const upload = async ({ rest }: SignedIn, address: string, headers = {}) =>
    rest('PATCH', 'auth/users/profile/', {
      multipart: { profile_picture: await newPicture() },
      headers: { 'X-Forwarded-For': address, ...headers },
    })

  /** Blocks each picture until its function is called. */
  function holdPictures() {
    const { pictures } = app.installation
    const make = pictures.make.bind(pictures)
    const ends: (() => void)[] = []
    vi.spyOn(pictures, 'make').mockImplementation(async (...args) => {
      await new Promise<void>((resolve) => ends.push(resolve))
      return make(...args)
    })
    return ends
  }

  it('profile pictures of twelve accounts at one address do not delay a picture from another address', async () => {
    const ends = holdPictures()
    const done: string[] = []
    const note = (name: string) => (answer: Answer) => {
      if (answer.status === 200) done.push(name)
      return answer.status
    }
    const crowded = accounts.map((account) => upload(account, '203.0.113.1').then(note('crowd')))
    const throttled = crowded.map(async (each) => (await each) === 429)
    await Promise.any(throttled.map((each) => each.then((is) => is || Promise.reject(new Error('not throttled')))))
    await until('one picture of the address is made', () => ends.length === 1)
    const other = upload(stranger, '203.0.113.2').then(note('stranger'))
    const counted = () => app.sql('select 1 from limits where key = $1', [`picture:${stranger.id}`])
    await until('the request of another address is counted', async () => (await counted()).length === 1)
    for (let index = 0; index < 5; index += 1) {
      await until('the next picture is made', () => ends.length > index)
      ends[index]!()
    }
    await Promise.all([...crowded, other])
    expect(done).toHaveLength(5)
    // The second picture of that address may have started earlier.
    expect(done.indexOf('stranger')).toBeLessThanOrEqual(2)
  })
})
