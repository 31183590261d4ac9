/** F25: a disk that is full, fills up during a write, or fails to sync causes no data loss. It is used again as soon as it works. */
import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConnectedDatabase } from '../src/db/database.ts'
import { int, statement, text } from '../src/db/sql.ts'
import { createBlockDirectory } from '../src/files/block-directory.ts'
import { identifyDocument } from '../src/files/cids.ts'
import { createContentStore } from '../src/files/content-store.ts'
import { actionNids } from '../src/modules/commits/commits.ts'
import { until } from '../test/support/eventually.ts'
import { graphqlMessage } from '../test/support/graphql-client.ts'
import { type Message, send, trySend } from '../test/support/http-client.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { holdingsOf } from './harness/holdings.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { signIn, signUp } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import { randomBytes } from './harness/random-bytes.ts'
import { mountSmallDisk } from './harness/small-disk.ts'

/** Maximum response time, in milliseconds. */
const MOST_WAIT = 10_000
const HANDS = 6
/** Number of rejections after which a worker stops. */
const ENOUGH = 4

interface Outcome {
  status: number
  text: string
  milliseconds: number
  isAccepted: boolean
  /** True if the response is the documented error for a full disk. */
  isRefused: boolean
}

const fileOf = (random: Random, bytes: number) =>
  new File([new Uint8Array(randomBytes(random, bytes))], 'photo.png', { type: 'image/png' })

const registerAsset = 'mutation ($file: Upload!) { registerAsset(input: { assetFile: $file }) { asset { id } } }'

async function attempt(url: string, message: Message): Promise<Outcome> {
  const { status, text, headers, milliseconds } = await send(url, message)
  const hasData = status === 201 || (status === 200 && !text.includes('"errors"'))
  return {
    status,
    text,
    milliseconds,
    isAccepted: hasData,
    isRefused:
      headers.has('retry-after') &&
      ((status === 507 && text.includes('"insufficient_storage"')) ||
        (status === 503 && text.includes('"INSUFFICIENT_STORAGE"'))),
  }
}

/** Prepares a registration over REST or GraphQL. It can be sent again with the same key and file. */
function registration(gateway: Gateway, token: string, file: File, byGraphQL: boolean, key: string = randomUUID()) {
  if (!byGraphQL)
    return () => attempt(gateway.url, { path: '/api/v3/assets/', token, key, multipart: { asset_file: file } })
  return () => attempt(gateway.url, { path: '/graphql', token, key, ...graphqlMessage(registerAsset, { file }) })
}

const countPaid = statement(
  'proof_paid',
  { columns: { assets: int, charged: text } },
  `select (select count(*)::int from assets) as assets,
     (select count(*)::text from transfers where reference like 'commit:%') as charged`,
)
const countOpen = statement(
  'proof_open_commits',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status <> 'FINAL'`,
)
const findPins = statement('proof_pins', { columns: { cid: text } }, 'select distinct cid from pins')

/** Counts blocks that no pin references. */
async function orphansIn(dir: string, database: ConnectedDatabase): Promise<number> {
  const store = createContentStore({ dir })
  async function* pinned() {
    yield* Object.values(actionNids(store))
    for (const { cid } of await database.query(findPins)) yield cid
  }
  return store.collectGarbage(pinned(), 0)
}

/** Control: a writer that stores blocks one by one until the disk is full, and leaves them there. */
async function leftByCareless(context: ProofContext): Promise<number> {
  const dir = join(context.dir, 'careless')
  await mountSmallDisk(context, dir, 1)
  const blocks = createBlockDirectory(dir)
  try {
    for (let i = 0; i < 20; i += 1) {
      const bytes = Buffer.alloc(100_000, i)
      await blocks.put(identifyDocument(bytes).cid, bytes)
    }
  } catch {
    async function* nothing(): AsyncGenerator<string> {}
    return createContentStore({ dir }).collectGarbage(nothing(), 0)
  }
  return 0
}

export async function proveDiskFull(context: ProofContext): Promise<ProofResult> {
  const { dir, random, say, setting } = context
  const size = setting('DISK_MIB', 16)
  const parts = await startParts(context)
  const blocks = await mountSmallDisk(context, join(dir, 'blocks'), size)
  const uploads = await mountSmallDisk(context, join(dir, 'uploads'), size)
  const flag = join(dir, 'sync-fails')
  const gateway = await createGateway(context, 'gateway', {
    ...parts.env,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'harness/failing-sync.ts')}`,
    SYNC_FAILS: flag,
  })
  await gateway.start()
  const pid = gateway.pid()!
  const tokens: string[] = []
  while (tokens.length < HANDS) tokens.push(await signIn(gateway, await signUp(gateway, `hand${tokens.length}`)))
  const reasons: string[] = []
  const all: Outcome[] = []
  let refused = 0

  const note = (outcome: Outcome, what: string) => {
    all.push(outcome)
    if (outcome.isRefused) refused += 1
    else if (!outcome.isAccepted) reasons.push(`${what}: ${outcome.status} ${outcome.text.slice(0, 200)}`)
    if (outcome.text.includes(dir)) reasons.push(`${what}: the answer names a path.`)
    return outcome
  }

  /** All workers register files until each was rejected several times. */
  const fill = async (what: string) => {
    const waiting: ReturnType<typeof registration>[] = []
    await Promise.all(
      tokens.map(async (token, index) => {
        const own = random.fork(`${what} ${index}`)
        for (let seen = 0; seen < ENOUGH; ) {
          const again = registration(gateway, token, fileOf(own, 200_000 + own.below(1_200_000)), index % 2 === 1)
          if (note(await again(), what).isRefused) {
            seen += 1
            waiting.push(again)
          }
        }
      }),
    )
    return waiting
  }

  /** Sends the rejected registrations again. The same process must accept them. */
  const recover = async (what: string, waiting: ReturnType<typeof registration>[]) => {
    for (const again of waiting) {
      const outcome = note(await again(), `${what}, again`)
      if (!outcome.isAccepted) reasons.push(`${what}: it is still refused after there is room.`)
    }
    if (gateway.pid() !== pid || !gateway.isReady()) reasons.push(`${what}: the gateway ended.`)
  }

  const assertClean = async (what: string) => {
    const [{ assets, charged } = { assets: -1, charged: '' }] = await parts.database.query(countPaid)
    const accepted = all.filter(({ isAccepted }) => isAccepted).length
    if (assets !== accepted || Number(charged) !== accepted)
      reasons.push(`${what}: ${accepted} accepted, ${assets} there, ${charged} charged.`)
    const isEmpty = async () => (await holdingsOf(pid, join(dir, 'uploads'))).files.length === 0
    await until('uploads are let go', isEmpty, 10_000, 100).catch(() => reasons.push(`${what}: uploads are left.`))
    const alive = await trySend(`${gateway.url}/readyz`)
    if (alive.status !== 200) reasons.push(`${what}: /readyz says ${alive.status}.`)
  }

  const waiting = await fill('the content store is full')
  const full = { used: await blocks.used(), refused }
  await assertClean('the content store is full')
  await blocks.resize(size * 8)
  await recover('the content store is full', waiting)

  const large = tokens.map((token, i) => registration(gateway, token, fileOf(random, (size + 4) << 20), i % 2 === 1))
  for (const again of large) {
    if (!note(await again(), 'the upload folder is full').isRefused)
      reasons.push('A file fits that is larger than its folder.')
  }
  await assertClean('the upload folder is full')
  if ((await uploads.used()) > 0) reasons.push(`${await uploads.used()} bytes are left in the upload folder.`)
  await uploads.resize((size + 8) * HANDS)
  await recover('the upload folder is full', large.slice(0, 2))

  await writeFile(flag, '')
  const unsynced = await fill('fsync fails')
  const failures = (await readFile(flag, 'utf8')).length
  await assertClean('fsync fails')
  await rm(flag)
  await recover('fsync fails', unsynced)
  if (failures === 0) reasons.push('fsync never failed.')
  if (full.refused === 0) reasons.push('The disk was never full.')

  await until(
    'every commit is final',
    async () => (await parts.database.query(countOpen))[0]!.count === 0,
    120_000,
    200,
  )
  const orphans = await orphansIn(join(dir, 'blocks'), parts.database)
  if (orphans > 0) reasons.push(`${orphans} blocks are left that nobody pins.`)
  const slowest = Math.max(...all.map(({ milliseconds }) => milliseconds))
  if (slowest > MOST_WAIT) reasons.push(`Somebody waited ${(slowest / 1_000).toFixed(1)} s.`)
  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)

  const careless = await leftByCareless(context)
  if (careless === 0) reasons.push('The control was not caught: it leaves nothing.')
  say(
    `content store full at ${(full.used / (1 << 20)).toFixed(1)} MiB; fsync failed ${failures} times; control: ${careless} blocks left`,
  )
  reasons.push(...(await brokenInvariants(parts.database)))
  const accepted = all.filter(({ isAccepted }) => isAccepted).length
  return conclude({
    figure: `${refused} refused with 507 or 503, ${accepted} accepted and charged once each, ${orphans} blocks left, slowest answer ${(slowest / 1_000).toFixed(1)} s; the control leaves ${careless}`,
    n: all.length,
    faultsInjected: refused + failures,
    reasons: [...new Set(reasons)].slice(0, 20),
  })
}
