/**
 * `node bench/relay.ts [commits]`: how many commits a second one process gets onto the embedded chain, and what each costs in
 * processor time of this process. Commits that are ready (their trees stored and signed) and commits as they were accepted;
 * each in a transaction of its own, and in batches. All in one run, each on a fresh installation: read the ratios. Beside it stands the processor time
 * of everything else, PostgreSQL and the chain included, and how idle the machine was: commits a second mean something where nothing else ran.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { loadModules, openChain } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { arrayOf, bytes, int, smallint, statement, text, uuid } from '../src/db/sql.ts'
import { type Infrastructure, openInfrastructure } from '../src/infrastructure.ts'

const COMMITS = Number(process.argv[2] ?? 5_000)
const ASSETS = 200
const POLL_MS = 20

const insertOwner = statement(
  'bench_owner',
  {
    parameters: {
      ...{ id: uuid, address: text, version: smallint, vaultKeyId: text },
      ...{ wrappedDataKey: bytes, sealedPrivateKey: bytes },
    },
  },
  `with created as (
     insert into users (id, username, username_key, email, password_hash, display_name)
     values ($id, left($address, 12), username_key(left($address, 12)), $address || '@example.org', '!', 'owner')
   ),
   opened as (insert into wallets (user_id, address, num) values ($id, $address, 1000))
   insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
   values ($id, $version, $vaultKeyId, $wrappedDataKey, $sealedPrivateKey)`,
)
const insertAssets = statement(
  'bench_assets',
  { parameters: { owner: uuid, ids: arrayOf(uuid), nids: arrayOf(text) } },
  `insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id)
   select id, nid, $owner, $owner, 'a.png', 'image/png', 1, repeat('0', 64), id from unnest($ids, $nids) as t (id, nid)`,
)
const insertCommits = statement(
  'bench_commits',
  {
    parameters: {
      ...{ author: uuid, assets: arrayOf(uuid), sequences: arrayOf(int), trees: arrayOf(text) },
      ...{ cids: arrayOf(text), hashes: arrayOf(text), signature: text },
    },
    patience: 60_000,
  },
  `with made as (
     insert into commits (asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
     select asset, sequence, $author, 'a change of the caption', '{}', tree, cid, hash
     from unnest($assets, $sequences, $trees, $cids, $hashes) as t (asset, sequence, tree, cid, hash)
     returning id
   )
   insert into commit_relays (commit_id, tree_signature) select id, nullif($signature, '') from made`,
)
const countIncluded = statement(
  'bench_included',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status in ('INCLUDED', 'FINAL')`,
)

/** Accepts that many commits in one statement. `isReady`: as if their author had signed them. */
async function addCommits({ database, contentStore, custody }: Infrastructure, count: number, isReady: boolean) {
  const owner = randomUUID()
  await database.query(insertOwner, { id: owner, ...(await custody.create(owner)) })
  const ids = Array.from({ length: ASSETS }, () => randomUUID())
  const nids = ids.map((id) => contentStore.identify(Buffer.from(id)).cid)
  await database.query(insertAssets, { owner, ids, nids })
  const commits = Array.from({ length: count }, (_, index) => {
    const asset = index % ASSETS
    const sequence = Math.floor(index / ASSETS) + 1
    const tree = JSON.stringify(
      { assetCid: nids[asset], caption: `version ${sequence}`, text: 'x'.repeat(500) },
      null,
      2,
    )
    return { asset: ids[asset]!, sequence, tree, ...contentStore.identify(Buffer.from(tree)) }
  })
  await database.query(insertCommits, {
    author: owner,
    assets: commits.map(({ asset }) => asset),
    sequences: commits.map(({ sequence }) => sequence),
    trees: commits.map(({ tree }) => tree),
    cids: commits.map(({ cid }) => cid),
    hashes: commits.map(({ tree }) => createHash('sha256').update(tree).digest('hex')),
    signature: isReady ? `0x${'1'.repeat(130)}` : '',
  })
}

/** Milliseconds that all processors of this machine have worked, and have been there. */
function machineTime() {
  let busy = 0
  let whole = 0
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.irq + times.idle
    whole += all
    busy += all - times.idle
  }
  return { busy, whole }
}

async function measure(name: string, isReady: boolean, perTransaction: number) {
  const dir = await mkdtemp(join(tmpdir(), 'annal-bench-'))
  const silent = () => undefined
  const log = { debug: silent, info: silent, warn: silent, error: silent, child: () => log }
  const env = { ANNAL_DIR: dir, ANNAL_EMBEDDED: 'true' }
  const config = readConfig(env)
  const chainConfig = { ...config.chain, commitsPerTransaction: perTransaction }
  const installation = await openInfrastructure({ ...config, chain: chainConfig }, log, { isService: true })
  const chain = await openChain(installation, 'http://localhost:4000', await loadModules())
  try {
    chain.relay.start()
    const untilIncluded = async (count: number) => {
      while ((await installation.database.query(countIncluded))[0]!.count < count) await delay(POLL_MS)
    }
    // What was accepted before the first transaction is sought on the chain before it is signed.
    await addCommits(installation, 1, true)
    await untilIncluded(1)
    await addCommits(installation, COMMITS, isReady)
    const before = process.cpuUsage()
    const machineBefore = machineTime()
    const start = performance.now()
    chain.relay.wake()
    await untilIncluded(1 + COMMITS)
    const seconds = (performance.now() - start) / 1_000
    const { user, system } = process.cpuUsage(before)
    const each = (user + system) / 1_000 / COMMITS
    const machine = machineTime()
    const busy = machine.busy - machineBefore.busy
    const idle = 1 - busy / (machine.whole - machineBefore.whole)
    process.stdout.write(
      `${name.padEnd(28)} ${(COMMITS / seconds).toFixed(0).padStart(6)} commits/s in ${seconds.toFixed(1)} s ${each.toFixed(2).padStart(6)} ms CPU each, ` +
        `${(busy / COMMITS - each).toFixed(2)} of all else; machine idle ${(idle * 100).toFixed(0)} %, load ${loadavg()[0]!.toFixed(1)}\n`,
    )
  } finally {
    await chain.close()
    await installation.close()
    await rm(dir, { recursive: true, force: true })
  }
}

const wanted = process.argv[3]
for (const [name, isReady, perTransaction] of [
  ['ready, one by one', true, 1],
  ['ready, in batches', true, 64],
  ['as accepted, one by one', false, 1],
  ['as accepted, in batches', false, 64],
] as const) {
  if (!wanted || name.includes(wanted)) await measure(name, isReady, perTransaction)
}
