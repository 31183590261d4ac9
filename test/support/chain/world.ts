/** The database, content store and key custody of relays under test. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRegistry, type RegistryOptions } from '../../../src/chain/registry/registry.ts'
import { createRelay } from '../../../src/chain/relay/relay.ts'
import type { Relay, RelayOptions } from '../../../src/chain/relay/relay-parts.ts'
import { keyPairs } from '../../../src/chain/transaction.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { bytes, int, statement, text, uuid } from '../../../src/db/sql.ts'
import { createContentStore } from '../../../src/files/content-store.ts'
import type { ContentStore } from '../../../src/files/file-types.ts'
import type { Custody } from '../../../src/keys/envelope-encryption.ts'
import { createCustody } from '../../../src/keys/envelope-encryption.ts'
import { createLocalKeyVault } from '../../../src/keys/key-vault.ts'
import { createDescribeCommit } from '../../../src/modules/commits/commits.ts'
import { createTestDatabase, type TestDatabase } from '../test-database.ts'
import { createTestLog } from '../test-log.ts'
import { relayKeys } from './anvil.ts'

export type TestAsset = { id: string; nid: string; owner: { id: string; address: string }; sequence: number }

export const startServer = async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-chain-'))
  const vault = createLocalKeyVault({ key: undefined, dir })
  const custody = createCustody({ vault, keyPairs })
  return {
    async createWorld() {
      const database = await createTestDatabase()
      return createWorld(database, createContentStore({ dir: await mkdtemp(join(dir, 'blocks-')) }), custody)
    },
    stop: () => rm(dir, { recursive: true, force: true }),
  }
}

const provider = { provider: 'annal-test', publicUrl: 'http://annal.test' }
const actionNids = { 'action-initial-registration': 'bafkreiregistration', 'action-commit': 'bafkreicommit' }

const createWorld = ({ url: databaseUrl, drop }: TestDatabase, contentStore: ContentStore, custody: Custody) => {
  const log = createTestLog()
  const database = createDatabase({ url: databaseUrl, pool: 4, log })
  const relays: Relay[] = []
  const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
    database.prisma.$queryRawUnsafe(text, ...values)

  const addUser = async () => {
    const id = randomUUID()
    const { address, ...key } = await custody.create(id)
    await database.transaction(async (query) => {
      await query(insertUser, { id, name: `u${id.slice(0, 8)}` })
      await query(insertWallet, { user: id, address })
      await query(insertKey, { user: id, ...key })
    })
    return { id, address }
  }

  const addAsset = async (owner: TestAsset['owner']): Promise<TestAsset> => {
    const id = randomUUID()
    const { cid: nid, sha256 } = contentStore.identify(Buffer.from(id))
    await database.query(insertAsset, { id, nid, owner: owner.id, sha256 })
    return { id, nid, owner, sequence: 0 }
  }

  const addCommit = async (asset: TestAsset, message = `change ${asset.sequence + 1}`) => {
    asset.sequence += 1
    const tree = JSON.stringify({ assetCid: asset.nid, abstract: message, sequence: asset.sequence }, null, 2)
    const { cid, sha256 } = contentStore.identify(Buffer.from(tree))
    const [row] = await database.query(insertCommit, {
      ...{ asset: asset.id, sequence: asset.sequence, author: asset.owner.id, message, tree, cid, sha256 },
    })
    if (!row) throw new Error('no commit')
    return row.id
  }

  return {
    database,
    databaseUrl,
    contentStore,
    custody,
    log,
    sql,
    addUser,
    addAsset,
    addCommit,
    async addCommits(assets: number, commitsEach: number) {
      const owner = await addUser()
      const made = await Promise.all(Array.from({ length: assets }, () => addAsset(owner)))
      for (let round = 0; round < commitsEach; round += 1) await Promise.all(made.map((asset) => addCommit(asset)))
      return made
    },
    relay(rpcUrl: string, { address, chainId, ...options }: Partial<RelayOptions & RegistryOptions> = {}) {
      const registry = createRegistry({ rpcUrl, database, address, chainId })
      const describe = createDescribeCommit({ ...provider, actionNids })
      const defaults = {
        database,
        databaseUrl,
        registry,
        contentStore,
        custody,
        log,
        describe,
        relayKeys,
        confirmations: 0,
        maxFeePerGas: 500_000_000_000n,
        // The pauses are short, because the chain and the database are local.
        pauses: { idle: 40, resting: 60_000, waiting: 20, sent: 5, woken: 5, longestBackoff: 40 },
        gapPatience: 100,
      }
      const relay = createRelay({ ...defaults, ...options })
      relays.push(relay)
      relay.start()
      return relay
    },
    async statuses() {
      const rows = await sql<{ status: string; count: number }>(
        'select status::text, count(*)::int as count from commit_relays group by 1',
      )
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
    },
    async close() {
      await Promise.all(relays.map((relay) => relay.stop()))
      await database.close()
      await drop()
    },
  }
}

const insertUser = statement(
  'test_user',
  { parameters: { id: uuid, name: text } },
  `insert into users (id, username, email, password_hash, display_name)
   values ($id, $name, $name || '@example.org', 'x', $name)`,
)
const insertWallet = statement(
  'test_wallet',
  { parameters: { user: uuid, address: text } },
  'insert into wallets (user_id, address, num) values ($user, $address, 1000)',
)
const insertKey = statement(
  'test_key',
  { parameters: { user: uuid, version: int, vaultKeyId: text, wrappedDataKey: bytes, sealedPrivateKey: bytes } },
  `insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
   values ($user, $version, $vaultKeyId, $wrappedDataKey, $sealedPrivateKey)`,
)
const insertAsset = statement(
  'test_asset',
  { parameters: { id: uuid, nid: text, owner: uuid, sha256: text } },
  `insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id)
   values ($id, $nid, $owner, $owner, 'a.png', 'image/png', 1, $sha256, $id)`,
)
const insertCommit = statement(
  'test_commit',
  {
    parameters: {
      ...{ asset: uuid, sequence: int, author: uuid },
      ...{ message: text, tree: text, cid: text, sha256: text },
    },
    columns: { id: uuid },
  },
  `with c as (
     insert into commits (asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
     values ($asset, $sequence, $author, $message, '{}', $tree, $cid, $sha256) returning id
   ),
   relayed as (insert into commit_relays (commit_id) select id from c),
   paid as (update wallets set num = num - 0.179 where user_id = $author),
   transfer as (insert into transfers (reference) select 'commit:' || id from c returning id),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select transfer.id, line.* from transfer, (values
       (1, $author, null::book, 'NUM'::currency, -0.179), (2, null, 'REVENUE', 'NUM', 0.1), (3, null, 'GAS', 'NUM', 0.079)
     ) as line
   )
   select id from c`,
)

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

export type World = ReturnType<typeof createWorld>

export type TestServer = Awaited<ReturnType<typeof startServer>>
