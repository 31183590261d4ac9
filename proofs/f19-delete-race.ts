/**
 * F19: an account is deleted 50 times concurrently, with 50 updates of its asset and 50 confirms of its orders, over REST and GraphQL of
 * two gateways. It is deleted once. Nothing that was paid for, owed or promised is lost.
 */

import { createRegistry, registrySetting } from '../src/chain/registry/registry.ts'
import { keyPairs } from '../src/chain/transaction.ts'
import { arrayOf, boolean, int, statement, text, uuid } from '../src/db/sql.ts'
import { createCustody } from '../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../src/keys/key-vault.ts'
import { cleanUpDeletedAccounts } from '../src/modules/accounts/delete-account.ts'
import type { CommitData } from '../src/modules/commits/commits.ts'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { recoverSigner } from '../test/support/recover-signer.ts'
import { createCarelessDeletion } from './harness/careless-deletion.ts'
import { judgeStandings, readStandings } from './harness/confirms.ts'
import { dumpKeys, type KeyRow, openedBy, readKeys } from './harness/key-rows.ts'
import {
  countTold,
  type Departure,
  type DepartureOptions,
  deletionBegins,
  depart,
  type Leaver,
  openLeaver,
  type Told,
  type Wish,
} from './harness/leavers.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { closeStore, openStore, readWallet, type Store } from './harness/store.ts'

const TEXT = 'a tree'
const PRICE = '1'
/** Errors that the account's own requests may get after the deletion. */
const gone = ['authentication_failed']

/** Allowed errors per kind of request. Any other error is a failure. */
const allowed: Record<Wish, string[]> = {
  delete: ['done', 'conflict', ...gone],
  update: ['done', 'resource_not_found', 'asset_write_permission_denied', ...gone],
  confirm: ['done', 'conflict', 'unable_to_confirm_order', 'resource_not_found', ...gone],
  sale: ['done', 'unable_to_confirm_order'],
  order: ['done', ...gone],
  register: ['done', ...gone],
  'sign in': ['done', 'incorrect_login_credentials'],
}

interface Scene {
  context: ProofContext
  parts: Parts
  store: Store
}

export async function proveDeleteRace(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 10)
  const times = context.setting('TIMES', 50)
  const parts = await startParts(context)
  const insecure = { ALLOW_INSECURE_WEBHOOKS: 'true' }
  const store = await openStore(context, parts, { price: PRICE, gateways: [insecure, insecure] })
  const scene = { context, parts, store }
  const receiver = await startPatientReceiver(context)

  const leavers: Leaver[] = []
  for (let round = 0; round < rounds; round += 1)
    leavers.push(await openLeaver(store, parts, { username: `leaver${round}`, count: times, webhookUrl: receiver.url }))
  const before = await dumpKeys(parts.database, 'before')
  const custody = openCustody(context)
  const theirs = (rows: readonly KeyRow[]) => rows.filter(({ userId }) => leavers.some(({ id }) => id === userId))
  const reasons: string[] = []
  if ((await openedBy(custody, theirs(await before.read()), TEXT)) !== rounds)
    reasons.push('Not every key opens before the deletion: the run is invalid.')

  const random = context.random.fork('departures')
  const all: Departure[] = []
  for (const [round, leaver] of leavers.entries()) {
    receiver.hold()
    const departure = await depart(store, random, leaver, { times, ...momentOf(parts, leaver, round) })
    receiver.release()
    all.push(departure)
    reasons.push(...judgeTold(departure, times).map((reason) => `${leaver.username}: ${reason}`))
  }
  const told = all.flatMap((departure) => departure.told)
  context.say(`verdicts: ${JSON.stringify(countTold(told))}`)
  reasons.push(...judgeChances(told))

  reasons.push(...(await judgeBooks(scene, leavers)), ...(await judgeChain(scene, leavers, all)))
  const opened = await until('no key of before opens', async () =>
    (await openedBy(custody, theirs(await before.read()), TEXT)) === 0 ? 0 : undefined,
  ).catch(async () => openedBy(custody, theirs(await before.read()), TEXT))
  if (opened) reasons.push(`${opened} of ${rounds} keys open from the rows of before.`)
  const left = theirs(await readKeys(parts.database)).length
  if (left) reasons.push(`${left} keys are in the tables.`)
  reasons.push(...(await judgeNames(scene, leavers)))
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(scene, receiver.url, times)))

  const ended = told.filter(({ wish, verdict }) => wish === 'delete' && verdict === 'done').length
  return conclude({
    figure: `${ended} deletions of ${rounds} accounts, ${opened} keys open`,
    n: told.length,
    faultsInjected: all.reduce((sum, { atOnce }) => sum + atOnce - 1, 0),
    reasons,
  })
}

/** Returns the timing of a round: all requests at once, most of them one by one, or all of them after the deletion has begun. */
function momentOf({ database }: Parts, leaver: Leaver, round: number): Partial<DepartureOptions> {
  if (round % 3 === 0) return {}
  return round % 3 === 1 ? { following: 0.9 } : { until: deletionBegins(database, leaver) }
}

const openVault = ({ dir }: ProofContext) => createLocalKeyVault({ dir, key: '11'.repeat(32) })
const openCustody = (context: ProofContext) => createCustody({ vault: openVault(context), keyPairs })

/** Starts a webhook receiver that delays requests until the account is deleted. Then it responds with 410, which causes refunds. */
async function startPatientReceiver(context: ProofContext) {
  let waiting: (() => void)[] | undefined
  const receiver = await startReceiver(context.afterwards, (response) => {
    const answer = () => void response.writeHead(410).end()
    if (waiting) waiting.push(answer)
    else answer()
  })
  return {
    url: receiver.url,
    hold() {
      waiting = []
    },
    release() {
      for (const answer of waiting ?? []) answer()
      waiting = undefined
    },
  }
}

/** Returns unexpected responses of one round. */
function judgeTold({ told, atOnce }: Departure, times: number): string[] {
  const strange = told.filter(({ wish, verdict }) => !allowed[wish].includes(verdict))
  const deleted = told.filter(({ wish, verdict }) => wish === 'delete' && verdict === 'done').length
  return [
    ...Object.entries(countTold(strange)).map(([wish, verdicts]) => `"${wish}" was told ${JSON.stringify(verdicts)}.`),
    ...(deleted === 1 ? [] : [`${deleted} deletions were told to be done.`]),
    ...(atOnce < times ? [`Only ${atOnce} requests were under way at once: the round is invalid.`] : []),
  ]
}

/** Checks that both outcomes occurred. Otherwise there was no race. */
function judgeChances(told: readonly Told[]): string[] {
  return (['update', 'confirm'] as const).flatMap((wish) => {
    const done = told.filter((each) => each.wish === wish && each.verdict === 'done').length
    const refused = told.filter((each) => each.wish === wish && each.verdict !== 'done').length
    return done && refused ? [] : [`${done} of "${wish}" were done and ${refused} refused: the run is invalid.`]
  })
}

const findOrders = statement(
  'proof_leaver_orders',
  { parameters: { buyer: uuid }, columns: { id: text, status: text, paid: boolean } },
  `select id::text, status::text, paid_at is not null as paid from orders where buyer_id = $buyer`,
)
const countForfeits = statement(
  'proof_forfeits',
  { parameters: { user: text }, columns: { count: int } },
  `select count(*)::int as count from transfers where reference like 'forfeit:' || $user || ':%'`,
)

/** Checks that no order is open and no money is left, including later income. */
async function judgeBooks({ context, parts: { database } }: Scene, leavers: readonly Leaver[]) {
  const reasons: string[] = []
  await until('every delivery is settled', async () => {
    const statuses = await Promise.all(leavers.map(({ id }) => database.query(findOrders, { buyer: id })))
    return statuses.flat().every(({ status }) => status !== 'PENDING')
  })
  const held = await Promise.all(leavers.map(({ id }) => readWallet(database, id)))
  const late = held.filter(({ points, num }) => Number(points) + Number(num) > 0).length
  await cleanUpDeletedAccounts({ database, log: silent })
  let forfeits = 0
  for (const { id, username } of leavers) {
    const orders = await database.query(findOrders, { buyer: id })
    const open = orders.filter(({ status }) => !['CANCELLED', 'REFUNDED', 'FAILURE', 'SUCCESS'].includes(status))
    if (open.length) reasons.push(`${username} has ${open.length} orders open.`)
    const { points, num } = await readWallet(database, id)
    if (Number(points) !== 0 || Number(num) !== 0) reasons.push(`${username} has ${points} points and ${num} left.`)
    forfeits += (await database.query(countForfeits, { user: id }))[0]!.count
  }
  if (late === 0 || forfeits < late)
    reasons.push(`Money came to ${late} accounts after their end, and ${forfeits} forfeits took it.`)
  const sales = await readStandings(
    database,
    leavers.flatMap((leaver) => leaver.sales),
  )
  reasons.push(...judgeStandings(sales, 0))
  context.say(`money came to ${late} of ${leavers.length} accounts after their end`)
  return reasons
}

const findOpen = statement(
  'proof_open_relays',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status not in ('FINAL', 'FAILED')`,
)
const findCommits = statement(
  'proof_leaver_commits',
  { parameters: { author: uuid }, columns: { nid: text, address: text, failed: int, trees: arrayOf(text) } },
  `select a.nid, w.address, count(*) filter (where r.status = 'FAILED')::int as failed, array_agg(c.tree_cid order by c.sequence) as trees
   from commits c join assets a on a.id = c.asset_id join wallets w on w.user_id = c.author_id join commit_relays r on r.commit_id = c.id
   where c.author_id = $author group by a.nid, w.address`,
)
const findSettings = statement(
  'proof_chain_settings',
  { columns: { key: text, value: text } },
  'select key, value from key_values',
)

const isChange = (wish: Wish) => wish === 'update' || wish === 'register'
const isSignedBy = (author: string, data: CommitData | undefined) =>
  data?.assetTreeSignature ? recoverSigner(data.assetTreeSha256, data.assetTreeSignature) === author : false

/** Checks that every accepted commit is on the chain, in order, with its author's signature. */
async function judgeChain(
  { context, parts: { database, rpcUrl } }: Scene,
  leavers: readonly Leaver[],
  all: readonly Departure[],
) {
  await until('every commit is settled', async () => (await database.query(findOpen))[0]!.count === 0, 120_000, 100)
  const known = new Map((await database.query(findSettings)).map(({ key, value }) => [key, value]))
  const address = known.get(registrySetting(Number(known.get('chain:id'))))
  if (!address) return ['There is no registry.']
  const registry = createRegistry({ rpcUrl, address })
  const reasons: string[] = []
  let accepted = 0
  for (const [round, { id, username }] of leavers.entries()) {
    const histories = await database.query(findCommits, { author: id })
    const count = histories.reduce((sum, { trees }) => sum + trees.length, 0)
    accepted += count
    // The first commit was made before the race.
    const promised = 1 + all[round]!.told.filter(({ wish, verdict }) => isChange(wish) && verdict === 'done').length
    if (count !== promised) reasons.push(`${username} was told of ${promised} commits, and has ${count}.`)
    for (const { nid, address: author, failed, trees } of histories) {
      const found = (await registry.readCommits(nid)).map(({ commitData }) => commitData)
      if (failed || found.map((data) => data?.assetTreeCid).join() !== trees.join())
        reasons.push(`${username}: ${trees.length} commits were accepted, ${found.length} are on the chain.`)
      const foreign = found.filter((data) => !isSignedBy(author, data))
      if (foreign.length) reasons.push(`${username}: ${foreign.length} commits are signed by somebody else.`)
    }
  }
  context.say(`${accepted} commits of the deleted accounts are final and signed by them`)
  return reasons
}

/** Checks that names and addresses can be used again, and that the old token is rejected. */
async function judgeNames({ store }: Scene, leavers: readonly Leaver[]): Promise<string[]> {
  const reasons: string[] = []
  const base = store.gateways[1]!.url
  for (const { username, token } of leavers) {
    const me = await trySend(base, { method: 'GET', path: '/api/v3/auth/users/me/', token })
    if (me.status !== 401) reasons.push(`The token of ${username} was answered with ${JSON.stringify(me)}.`)
    const json = { username, email: `${username}@example.org`, password: 'another password' }
    const answer = await trySend(base, { path: '/api/v3/auth/users/', json })
    if (answer.status !== 201) reasons.push(`The name of ${username} is not free: ${JSON.stringify(answer)}`)
  }
  return reasons
}

/** Control: a deletion that checks first and deletes later, and leaves the key, must be detected. */
async function catchCareless(scene: Scene, webhookUrl: string, times: number): Promise<string[]> {
  const { context, parts, store } = scene
  for (const gateway of store.gateways) await gateway.start()
  const leaver = await openLeaver(store, parts, { username: 'careless', count: times, webhookUrl })
  const before = (await readKeys(parts.database)).filter(({ userId }) => userId === leaver.id)
  const careless = await createCarelessDeletion(parts.databaseUrl, leaver.id)
  await careless.look()
  // Check immediately, because gateways destroy the key of a deleted account when they find it.
  const openedAfter = async () => {
    await careless.delete()
    return openedBy(openCustody(context), before, TEXT)
  }
  let deleting: Promise<number> | undefined
  const departure = await depart(store, context.random.fork('careless'), leaver, {
    times,
    wants: (wish) => wish !== 'delete',
    onDone(wish) {
      if (wish === 'confirm') deleting ??= openedAfter()
    },
  })
  const opened = (await deleting) ?? 0
  await careless.close()
  for (const gateway of store.gateways) await gateway.stop()
  const found = await brokenInvariants(parts.database)
  context.say(`control: ${JSON.stringify(countTold(departure.told))}; ${opened} keys open; ${found.join(' ')}`)
  const isBroken = ['I2', 'I9'].some((id) => found.some((reason) => reason.startsWith(`${id} `)))
  return [
    ...(deleting && isBroken ? [] : ['The control was not caught: a careless deletion left nothing behind.']),
    ...(opened === 1 ? [] : ['The control was not caught: a key that nobody destroyed does not open.']),
  ]
}
