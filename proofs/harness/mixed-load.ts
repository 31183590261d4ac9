/** Clients of all kinds at REST and GraphQL of one address, which record each attempt, and followers of event feeds. */
import { setTimeout as delay } from 'node:timers/promises'
import { readEvents } from '../../test/support/event-stream.ts'
import { until } from '../../test/support/eventually.ts'
import { graphqlMessage } from '../../test/support/graphql-client.ts'
import { type Answer, trySend } from '../../test/support/http-client.ts'
import {
  type Account,
  type Acknowledged,
  nothingAcknowledged,
  openAccount,
  passwordOf,
  signUpCall,
  updateCall,
} from './callers.ts'
import { type Call, soonGivingUp } from './client.ts'
import { type FeedFollower, followFeed, type Opening } from './feed-follower.ts'
import { verdictOf } from './leavers.ts'
import type { ProofContext } from './proof.ts'
import type { Random } from './random.ts'
import { randomBytes } from './random-bytes.ts'

/** One attempt of a request. Times are values of `performance.now()`. */
export interface Try {
  what: string
  sentAt: number
  endedAt: number
  /** `done`, `no answer`, `status 503`, or an error type. */
  verdict: string
  /** True if the request can be retried safely, by its method or its idempotency key. */
  isRepeatable: boolean
}

export interface MixedLoad {
  acknowledged: Acknowledged
  tries: Try[]
  feeds: readonly FeedFollower[]
  /** Returns the number of pending requests. */
  inTransit(): number
  /** Returns the number of events that subscriptions received. */
  told(): number
  /** Stops the clients, each after its last response. */
  stop(): Promise<void>
  /** Waits until each follower has received all events, and stops them. Returns a message for each missing event. */
  finishFeeds(): Promise<string[]>
}

/** A client that runs one operation. */
export interface Hand {
  account: Account
  random: Random
  /** A unique name for the objects that it creates. */
  id: string
  /**
   * Sends a request until it gets a final response. Returns undefined and records a surprise if the verdict is neither `done` nor in
   * `also`.
   */
  ask(what: string, call: Call, also?: readonly string[]): Promise<Answer | undefined>
  acknowledged: Acknowledged
  /** Commit messages of its own updates, in order. */
  mine: string[]
}

/** Returns true for verdicts after which the same request is sent again. */
const isPassing = (verdict: string) =>
  verdict === 'no answer' ||
  /^status 5\d\d$/.test(verdict) ||
  ['conflict', 'idempotency_key_in_use', ...notNow].includes(verdict)
/** Error codes for temporary errors of GraphQL, which have the HTTP status 200. */
const notNow = ['unavailable', 'service_unavailable', 'insufficient_storage', 'internal']

const isSafe = ({ method }: Call) => method === 'GET'

/** Returns a GraphQL request. */
export const graphql = (query: string, variables: object, rest: Omit<Call, 'path'>): Call => ({
  ...rest,
  ...graphqlMessage(query, variables),
  method: 'POST',
  path: '/graphql',
})

const registerDocument = `mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id } } }`
const updateDocument = `mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id headId } } }`
const signInDocument = `mutation ($input: SignInInput!) { signIn(input: $input) { token } }`
const readDocument = `query ($id: ID!) { me { username wallet { num points } } asset(id: $id) { id caption commits(first: 5) { nodes { message } } } }`

async function upload({ ask, account, id, random, acknowledged }: Hand): Promise<void> {
  const size = random.next() < 0.2 ? 300_000 + random.below(700_000) : 200 + random.below(2_000)
  const bytes = Buffer.concat([Buffer.from(`the file of ${id}`), randomBytes(random, size)])
  const file = new File([new Uint8Array(bytes)], 'file.bin', { type: 'application/octet-stream' })
  const common = { key: `register ${id}`, token: account.token }
  const fields = { asset_file: file, caption: id, commit_message: id }
  const call =
    random.next() < 0.5
      ? { method: 'POST', path: '/api/v3/assets/', ...common, multipart: fields }
      : graphql(registerDocument, { input: { assetFile: file, caption: id, commitMessage: id } }, common)
  if (!(await ask('upload', call))) return
  acknowledged.commits.push(id)
  acknowledged.byAccount.get(account.username)!.push(id)
}

async function update({ ask, account, id, random, acknowledged, mine }: Hand): Promise<void> {
  const common = { key: `update ${id}`, token: account.token }
  const input = { id: account.nid, caption: id, commitMessage: id }
  const call = random.next() < 0.5 ? updateCall(account, id) : graphql(updateDocument, { input }, common)
  if (!(await ask('update', call))) return
  acknowledged.commits.push(id)
  acknowledged.byAccount.get(account.username)!.push(id)
  mine.push(id)
}

async function signUp({ ask, id, acknowledged }: Hand): Promise<void> {
  if (await ask('sign-up', signUpCall(id))) acknowledged.signUps.push(id)
}

/** Signs in without an idempotency key. A retry only creates a second session. */
async function signIn({ ask, account: { username }, random }: Hand): Promise<void> {
  const credentials = { email: `${username}@example.org`, password: passwordOf(username) }
  const json = { query: signInDocument, variables: { input: credentials } }
  const call =
    random.next() < 0.5
      ? { method: 'POST', path: '/api/v3/auth/token/login/', json: credentials }
      : { method: 'POST', path: '/graphql', json }
  await ask('sign-in', call)
}

async function read({ ask, account: { token, nid }, random }: Hand): Promise<void> {
  const paths = ['/api/v3/auth/users/me/', `/api/v3/assets/${nid}/`, `/api/v3/assets/${nid}/history/`]
  const call =
    random.next() < 0.6
      ? { method: 'GET', path: random.pick(paths), token }
      : graphql(readDocument, { id: nid }, { token })
  await ask('read', call)
}

/** Operations of a client with their frequencies, which add up to one. */
export type Deeds = readonly (readonly [share: number, deed: (hand: Hand) => Promise<unknown>])[]

/** Operations of clients that buy nothing. */
export const plainDeeds: Deeds = [
  [0.12, upload],
  [0.4, update],
  [0.03, signUp],
  [0.05, signIn],
  [0.4, read],
]

function chooseDeed(deeds: Deeds, random: Random) {
  let dice = random.next()
  for (const [share, deed] of deeds) {
    dice -= share
    if (dice < 0) return deed
  }
  return read
}

export interface MixedLoadOptions {
  callers?: number
  /** Maximum pause between two requests of a client, in milliseconds. */
  rest?: number
  deeds?: Deeds
  /** Address at which accounts are created before any faults. Defaults to the same address. */
  openAt?: string
}

/** Time within which each request must finally succeed, in milliseconds. */
const PATIENCE_MS = 240_000

const usernames = ['alice', 'bob', 'carol']

/** Starts clients and followers at `base`. A gateway must already be ready there. */
export async function startMixedLoad(
  context: ProofContext,
  base: string,
  { callers = 8, rest = 150, deeds = plainDeeds, openAt = base }: MixedLoadOptions = {},
): Promise<MixedLoad> {
  const acknowledged = nothingAcknowledged()
  const tries: Try[] = []
  const accounts: Account[] = []
  for (const name of usernames) accounts.push(await openAccount(openAt, name, acknowledged))
  const openings = (what: string) => (opening: Opening) => {
    const verdict = opening.status === 200 ? 'done' : opening.status === 0 ? 'no answer' : `status ${opening.status}`
    tries.push({ what, isRepeatable: true, verdict, sentAt: opening.sentAt, endedAt: opening.endedAt })
  }
  const feeds: FeedFollower[] = []
  for (const { token } of accounts) feeds.push(await followFeed(base, token, openings('stream')))
  let isOver = false
  let sending = 0

  const tryOnce = async (what: string, call: Call) => {
    sending += 1
    const answer = await trySend(base, call, soonGivingUp).finally(() => {
      sending -= 1
    })
    const verdict = verdictOf(answer)
    const { sentAt } = answer
    const isRepeatable = isSafe(call) || call.key !== undefined
    tries.push({ what, sentAt, endedAt: performance.now(), verdict, isRepeatable })
    return { answer, verdict }
  }
  const ask: Hand['ask'] = async (what, call, also = []) => {
    let count = 0
    const { answer, verdict } = await until(
      `an answer to ${what}`,
      async () => {
        count += 1
        const found = await tryOnce(what, call)
        return isPassing(found.verdict) ? undefined : found
      },
      PATIENCE_MS,
      50,
    )
    acknowledged.retries += count - 1
    if (answer.headers.get('idempotency-replayed') === 'true') acknowledged.replays += 1
    if (verdict === 'done' || also.includes(verdict)) return answer
    acknowledged.surprises.push(`${what} after ${count} tries: ${verdict}, ${answer.text.slice(0, 300)}`)
    return undefined
  }
  const caller = async (index: number) => {
    const random = context.random.fork(`caller ${index}`)
    const account = accounts[index % accounts.length]!
    const mine: string[] = []
    acknowledged.byCaller.push(mine)
    for (let serial = 0; !isOver; serial += 1) {
      await delay(random.below(rest))
      await chooseDeed(deeds, random)({ account, random, id: `c${index}-${serial}`, ask, acknowledged, mine })
    }
  }

  let told = 0
  const subscriptions = new AbortController()
  /** Subscriptions have no positions, so a client subscribes again after a disconnect. */
  const subscribe = async ({ token, nid }: Account) => {
    const query = `subscription { commitUpdated(nid: "${nid}") { sequence status } }`
    const tell = openings('subscription')
    while (!subscriptions.signal.aborted) {
      const sentAt = performance.now()
      const reader = await readEvents(`${base}/graphql`, { token, body: { query } }).catch(() => undefined)
      tell({ sentAt, endedAt: performance.now(), status: reader?.status ?? 0 })
      const close = () => reader?.close()
      subscriptions.signal.addEventListener('abort', close)
      await reader?.ended.catch(() => undefined)
      subscriptions.signal.removeEventListener('abort', close)
      told += reader?.events.length ?? 0
      if (!subscriptions.signal.aborted) await delay(200)
    }
  }

  const working = Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  const subscribed = Promise.all(accounts.map(subscribe))
  const stop = async () => {
    isOver = true
    await working
  }
  const close = async () => {
    subscriptions.abort()
    await Promise.all([subscribed, ...feeds.map((feed) => feed.close())])
  }
  context.afterwards(async () => {
    isOver = true
    await Promise.allSettled([close(), working])
  })
  return {
    acknowledged,
    tries,
    feeds,
    inTransit: () => sending,
    told: () => told,
    stop,
    async finishFeeds() {
      const reasons = (await Promise.all(feeds.map((feed) => feed.finish()))).flat()
      await close()
      return reasons
    },
  }
}
