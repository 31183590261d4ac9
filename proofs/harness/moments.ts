/** Runs an installation, and takes snapshots of all its parts at several times. */
import { join } from 'node:path'
import { developmentKey } from '../../src/embedded/embedded-anvil.ts'
import { until } from '../../test/support/eventually.ts'
import { trySend } from '../../test/support/http-client.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { type Account, nothingAcknowledged, openAccount, updateCall } from './callers.ts'
import { ask } from './client.ts'
import { copyParts, type Installation, openInstallation } from './installation.ts'
import {
  countUnsettled,
  findBalance,
  findCommits,
  findCredited,
  findDeposits,
  findFiles,
  findKeys,
  findPeople,
  findSigned,
  makeCallsDue,
  makeJobsDue,
} from './moment-statements.ts'
import type { ProofContext } from './proof.ts'

export interface CommitFact {
  id: string
  nid: string
  status: string
  author: string
}

/** State of the installation at a snapshot. */
export interface Moment {
  /** Folder of the copied parts. */
  dir: string
  /** Commits by ID. */
  commits: Map<string, CommitFact>
  /** Transaction hashes of the deposits in the ledger. */
  deposits: Set<string>
  /** Total balance of the wallet that receives the coins, in points and currency units. */
  balance: number
  /** IDs by username, without deleted accounts. */
  people: Map<string, string>
  /** Owners by nid, without deleted assets. */
  files: Map<string, string>
  /** IDs of the key-encryption keys in use. */
  wrappedBy: Set<string>
  /** Session that was created for this snapshot and ends after it. */
  session: string
}

export interface Story {
  moments: Moment[]
  keeper: Account & { address: string }
  /** The webhook receiver. Passwords are derived from usernames (see `signIn`). */
  receiver: Receiver
  /** Index of the snapshot before which each long-lived account was created, by username. */
  madeBefore: Map<string, number>
}

export const keeperName = 'keeper'
export const personOf = (moment: number) => `person${moment}`
/** Returns the name of the account that exists at a snapshot and is deleted before the next one. */
export const leaverOf = (moment: number) => `leaver${moment}`
/** Returns the number of coins to send before a snapshot. */
export const coinsOf = (moment: number) => moment + 1
const fee = 0.179

/** Environment with a chain node that does not respond, so that the relay waits. */
const awayChain = {
  CHAIN_RPC_URL: 'http://127.0.0.1:1',
  CHAIN_RELAY_KEYS: developmentKey,
  CHAIN_DEPLOY_REGISTRY: 'true',
}

/** Signs in with the password that `openAccount` chose. Returns undefined if the sign-in is rejected. */
export async function signIn(url: string, username: string): Promise<string | undefined> {
  const json = { email: `${username}@example.org`, password: `password of ${username}`.slice(0, 32) }
  const { status, body } = await trySend(url, { path: '/api/v3/auth/token/login/', json })
  return status === 200 ? (body as { auth_token: string }).auth_token : undefined
}

export const countOpen = ({ beside }: Installation) =>
  beside(async ({ database }) => {
    const [row] = await database.query(countUnsettled)
    return row!.open
  })

/** Sends coins from an unknown account on the chain. Returns the transaction hash. */
export const sendCoins = ({ beside }: Installation, address: string, coins: number) =>
  beside(async ({ rpc }) => {
    const from = '0x00000000000000000000000000000000000000aa'
    await rpc('anvil_setBalance', [from, '0x56bc75e2d63100000'])
    await rpc('anvil_impersonateAccount', [from])
    const value = `0x${(BigInt(coins) * 10n ** 18n).toString(16)}`
    return rpc<string>('eth_sendTransaction', [{ from, to: address, value }])
  })

/** Makes webhook retries due immediately. */
export const hasten = ({ beside }: Installation) =>
  beside(async ({ database }) => {
    await database.query(makeCallsDue)
    await database.query(makeJobsDue)
  })

export const isCredited = ({ beside }: Installation, transaction: string) =>
  beside(async ({ database }) => {
    return (await database.query(findCredited, { transaction })).length === 1
  })

/** Runs the installation for `count` snapshots. Key rotations can happen between snapshots. */
export async function liveThrough(context: ProofContext, count: number, rotatesBefore: number): Promise<Story> {
  const dir = join(context.dir, 'live')
  let epoch = 0
  const firstSeen = new Map<string, number>()
  // The receiver rejects an event until the snapshot after the first attempt has been taken.
  const receiver = await startReceiver(context.afterwards, (response, { id }) => {
    if (!firstSeen.has(id)) firstSeen.set(id, epoch)
    response.writeHead(firstSeen.get(id) === epoch ? 503 : 204).end()
  })
  const random = context.random.fork('story')
  const installation = await openInstallation(context, 'live', dir)
  const { url } = installation.gateway
  await installation.gateway.start()
  const keeper = await openAccount(url, keeperName, nothingAcknowledged())
  const { address } = await ask(url, { method: 'GET', path: '/api/v3/auth/users/me/', token: keeper.token }, 200)
  const story: Story = { moments: [], keeper: { ...keeper, address: address! }, receiver, madeBefore: new Map() }
  const shop = await openShop(installation, receiver.url)
  let session = keeper.token
  let leaver: Account | undefined

  for (; epoch < count; epoch += 1) {
    if (epoch > 0) await installation.gateway.start()
    if (epoch === rotatesBefore && epoch > 0) await installation.annal(['keys', 'rotate'])
    if (leaver) await ask(url, { method: 'DELETE', path: '/api/v3/auth/users/me/', token: leaver.token }, 204)
    const next = await signIn(url, keeperName)
    await ask(url, { method: 'POST', path: '/api/v3/auth/token/logout/', token: session }, 204)
    session = next!
    await hasten(installation)
    await shop.buy(session, `order ${epoch}`)
    const person = await openAccount(url, personOf(epoch), nothingAcknowledged())
    leaver = await openAccount(url, leaverOf(epoch), nothingAcknowledged())
    story.madeBefore.set(person.username, epoch).set(leaver.username, epoch)
    const writers: Account[] = [{ ...keeper, token: session }, person, leaver]
    const update = (account: Account, message: string) => ask(url, updateCall(account, message), 200)
    for (const account of writers)
      for (let serial = random.below(3); serial >= 0; serial -= 1)
        await update(account, `${account.username} ${epoch}.${serial}`)
    const deposit = await sendCoins(installation, story.keeper.address, coinsOf(epoch))
    await until('the deposit is credited', () => isCredited(installation, deposit), 60_000, 100)
    await until('everything is final', async () => (await countOpen(installation)) === 0, 60_000, 100)
    await installation.gateway.stop()
    await acceptWithoutChain(context, installation, writers, epoch)
    story.moments.push(await copyMoment(context, installation, epoch, session))
    context.say(
      `moment ${epoch}: ${story.moments.at(-1)!.commits.size} commits, ${story.moments.at(-1)!.people.size} accounts`,
    )
  }
  return story
}

const hasSigned = ({ beside }: Installation) =>
  beside(async ({ database }) => (await database.query(findSigned)).length > 0)

/** Creates commits without a chain node, so they are accepted but not sent. They are sent after the snapshot. */
async function acceptWithoutChain(context: ProofContext, { dir }: Installation, writers: Account[], epoch: number) {
  const lonely = await openInstallation(context, `lonely${epoch}`, dir, awayChain)
  await lonely.gateway.start()
  const accept = (account: Account) =>
    ask(lonely.gateway.url, updateCall(account, `${account.username} ${epoch} waits`), 200)
  const [first, ...others] = writers
  await accept(first!)
  // At least one commit is signed. The others may be signed or not.
  await until('a commit that waits is signed', () => hasSigned(lonely), 60_000, 100)
  for (const account of others) await accept(account)
  await lonely.gateway.stop()
}

async function copyMoment(context: ProofContext, live: Installation, epoch: number, session: string): Promise<Moment> {
  const facts = await live.beside(async ({ database }) => {
    const commits: CommitFact[] = await database.query(findCommits)
    const people = await database.query(findPeople)
    const files = await database.query(findFiles)
    const deposits = await database.query(findDeposits)
    const keys = await database.query(findKeys)
    const [wallet] = await database.query(findBalance, { username: keeperName })
    return {
      commits: new Map(commits.map((commit) => [commit.id, commit])),
      people: new Map(people.map(({ username, id }) => [username, id])),
      files: new Map(files.map(({ nid, username }) => [nid, username])),
      deposits: new Set(deposits.map(({ hash }) => hash)),
      wrappedBy: new Set(keys.map(({ id }) => id)),
      balance: wallet!.balance,
    }
  })
  const dir = join(context.dir, `moment${epoch}`)
  const { dir: all } = live
  await copyParts({ database: all, keys: all, blocks: all, chain: all }, dir)
  return { dir, session, ...facts }
}

export const readBalance = ({ beside }: Installation) =>
  beside(async ({ database }) => {
    const [wallet] = await database.query(findBalance, { username: keeperName })
    return wallet!.balance
  })

export const feeOf = (commits: number) => commits * fee

/** Creates a network app with a webhook, and a trusted service that orders it. */
async function openShop(installation: Installation, webhookUrl: string) {
  const { url } = installation.gateway
  const said = await installation.annal(
    ['admin', 'create', '--username', 'root', '--email', 'root@example.org', '--json'],
    'correct horse\n',
  )
  const { token } = JSON.parse(said.stdout) as { token: string }
  const { key } = JSON.parse((await installation.annal(['api-key', 'issue', '--name', 'shop', '--json'])).stdout) as {
    key: string
  }
  const app = { name: 'upscale', price_mode: 'fixed', price: '1', webhook_url: webhookUrl }
  await ask(url, { method: 'POST', path: '/api/v3/store/network-apps/', token, json: app }, 201)
  return {
    async buy(session: string, note: string) {
      const json = { network_app: 'upscale', action_args: { note } }
      const orders = '/api/v3/store/network-app-orders/'
      const { id } = await ask(url, { method: 'POST', path: orders, token: session, apiKey: key, json }, 201)
      await ask(url, { method: 'POST', path: `${orders}${id}/confirm/`, token: session, apiKey: key }, 200)
    },
  }
}
