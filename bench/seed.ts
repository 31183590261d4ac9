/**
 * Fills an empty database with what the peers of the benchmark work on, in Annal's own tables and with all its
 * invariants: real key pairs, real trees under their real CIDs, a charge for every commit. Neither blocks nor pins are
 * written, because no operation of the benchmark reads a file. Started by the runner, whose variables it reads.
 */
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { keyPairs } from '../src/chain/transaction.ts'
import { readConfig } from '../src/config.ts'
import { invariants } from '../src/db/invariants/check-invariants.ts'
import { prepareDatabase } from '../src/db/migrations.ts'
import { createContentStore } from '../src/files/content-store.ts'
import { createCustody } from '../src/keys/envelope-encryption.ts'
import type { SealedKey } from '../src/keys/key-types.ts'
import { createLocalKeyVault } from '../src/keys/key-vault.ts'
import { noteBalances } from './growth/seed-statements.ts'
import { type AssetRecord, type Owner, uuidAt, writeHistory } from './history.ts'
import { type PeerAsset, type PeerUser, readAssets, readUsers } from './peer-data.ts'
import { installationDir } from './place.ts'
import {
  chargeCommits,
  countAssets,
  insertAssets,
  insertCommits,
  insertUsers,
  openWallets,
  settleCommits,
} from './seed-statements.ts'
import { seedStore } from './seed-store.ts'

/** Assets in one statement: large enough to be quick, small enough for memory. */
const BATCH = 2_000
/** A list of the runner names every fifth asset. */
const LIST_STEP = 5
const KEYS_AT_ONCE = 64
const BUSY = 20

interface Registered {
  peer: PeerAsset
  owner: Owner
  record: AssetRecord
}

const required = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: the benchmark's runner starts this program, see bench/run.ts.`)
  return value
}

const work = required('BENCH_WORK')
const databaseUrl = required('DATABASE_URL')
const dir = installationDir(work)
const { money, keys } = readConfig({ ...process.env, ANNAL_DIR: dir, ANNAL_EMBEDDED: 'true' })
const started = performance.now()
const tell = (what: string) =>
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${what}\n`)

// The embedded chain belongs to one database; that of an earlier run is of no use.
rmSync(dir, { recursive: true, force: true })
await prepareDatabase(databaseUrl)
const vault = createLocalKeyVault({ ...keys, dir })
const custody = createCustody({ vault, keyPairs })
const peers = new pg.Client(required('BENCH_DATABASE_URL'))
const client = new pg.Client(databaseUrl)
await Promise.all([peers.connect(), client.connect()])
try {
  // Foreign keys are right by how the rows are made, and checking two million of them takes half of the time.
  await client.query('set session_replication_role = replica')
  const users = await readUsers(peers)
  const owners = await seedUsers(users)
  tell(`${owners.size} users`)
  const assets = await readAssets(peers)
  const listed = await seedAssets(assets, owners)
  tell(`${assets.length} assets with their commits`)
  await client.query(settleCommits)
  await client.query(countAssets)
  const fees = [money.assetUpdateFee, money.gasFee]
  await client.query('analyze commits')
  await client.query(openWallets, fees)
  await client.query(chargeCommits, fees)
  tell('charges')
  await seedStore(client, await sellerOf())
  await client.query(noteBalances)
  tell('orders')
  await client.query('vacuum analyze')
  for (const { id, sentence, query } of invariants) {
    const { rows } = await client.query(query)
    if (rows.length) throw new Error(`${id} does not hold after the seed: ${sentence} ${JSON.stringify(rows[0])}`)
  }
  await client.query('checkpoint')
  writeLists(users, listed)
  tell('done')
} finally {
  await Promise.all([peers.end(), client.end()])
}

/** The administrator who sells. */
async function sellerOf() {
  const id = uuidAt(Date.now() - 95 * 86_400_000)
  return { id, ...(await custody.create(id)) }
}

/** Users with wallets, sealed keys and tokens, by the peers' ids. */
async function seedUsers(users: PeerUser[]): Promise<Map<string, Owner>> {
  const signedUpAt = Date.now() - 90 * 86_400_000
  const rows: { user: PeerUser; id: string; key: SealedKey & { address: string } }[] = []
  // Every key waits for the disk, which takes many waiters at once.
  for (let start = 0; start < users.length; start += KEYS_AT_ONCE) {
    const made = users.slice(start, start + KEYS_AT_ONCE).map(async (user, index) => {
      const id = uuidAt(signedUpAt + start + index)
      return { user, id, key: await custody.create(id) }
    })
    rows.push(...(await Promise.all(made)))
  }
  await client.query(insertUsers, [
    rows.map(({ id }) => id),
    rows.map(({ user }) => user.username),
    rows.map(({ user }) => user.email),
    rows.map(({ key }) => key.address),
    rows.map(({ user }) => user.num),
    rows.map(({ user }) => user.points),
    rows[0]!.key.vaultKeyId,
    rows.map(({ key }) => Buffer.from(key.wrappedDataKey)),
    rows.map(({ key }) => Buffer.from(key.sealedPrivateKey)),
    rows.map(({ user }) => createHash('sha256').update(user.token).digest()),
    rows[0]!.key.version,
  ])
  return new Map(rows.map(({ user, id, key }) => [user.id, { id, username: user.username, address: key.address }]))
}

/** Assets and commits, oldest first. One batch is written while the next one is made. */
async function seedAssets(assets: PeerAsset[], owners: Map<string, Owner>): Promise<Listed[]> {
  const { identify } = createContentStore({ dir: `${dir}/blocks` })
  const listed: Listed[] = []
  let writing: Promise<unknown> = Promise.resolve()
  for (let start = 0; start < assets.length; start += BATCH) {
    const batch = assets.slice(start, start + BATCH).map((peer): Registered => {
      const owner = owners.get(peer.ownerId)!
      return { peer, owner, record: writeHistory(peer, owner, identify) }
    })
    listed.push(
      ...batch.map(({ peer, record }) => ({ ownerId: peer.ownerId, nid: record.nid, commits: record.commits.length })),
    )
    await writing
    writing = writeBatch(batch)
  }
  await writing
  return listed
}

async function writeBatch(batch: Registered[]) {
  const asset = <T>(of: (registered: Registered) => T) => batch.map(of)
  await client.query(insertAssets, [
    asset(({ record }) => record.id),
    asset(({ record }) => record.nid),
    asset(({ owner }) => owner.id),
    asset(({ peer }) => peer.fileName),
    asset(({ peer }) => peer.mimeType),
    asset(({ record }) => record.size),
    asset(({ record }) => record.sha256),
    asset(({ peer }) => peer.caption),
    asset(({ peer }) => peer.headline),
    asset(({ peer }) => JSON.stringify(peer.custom)),
    asset(({ record }) => record.commits.length),
    asset(({ record }) => record.commits.at(-1)!.id),
    asset(({ record }) => record.uploadedAt),
    asset(({ record }) => record.updatedAt),
  ])
  const commits = batch.flatMap(({ owner, record }) =>
    record.commits.map((commit) => ({ ...commit, assetId: record.id, authorId: owner.id })),
  )
  const commit = <T>(of: (row: (typeof commits)[number]) => T) => commits.map(of)
  await client.query(insertCommits, [
    commit(({ id }) => id),
    commit(({ assetId }) => assetId),
    commit(({ sequence }) => sequence),
    commit(({ authorId }) => authorId),
    commit(({ message }) => message),
    commit(({ changes }) => changes),
    commit(({ tree }) => tree),
    commit(({ treeCid }) => treeCid),
    commit(({ treeSha256 }) => treeSha256),
    commit(({ createdAt }) => createdAt),
  ])
}

interface Listed {
  /** The peers' id of the owner. */
  ownerId: string
  nid: string
  commits: number
}

/** The runner's lists: tokens, and assets with their owners' tokens. `listed` begins with the oldest asset. */
function writeLists(users: PeerUser[], listed: Listed[]) {
  const tokens = new Map(users.map(({ id, token }) => [id, token]))
  const write = (name: string, lines: string[]) => writeFileSync(`${work}/ours-${name}.txt`, `${lines.join('\n')}\n`)
  const line = ({ ownerId, nid }: Listed) => `${tokens.get(ownerId)} ${nid}`
  const newestFirst = listed.toReversed()
  write('tokens', [...tokens.values()])
  write('assets', newestFirst.filter((_, index) => index % LIST_STEP === 0).map(line))
  write('busy', newestFirst.filter(({ commits }) => commits >= BUSY).map(line))
}
