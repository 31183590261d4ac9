/**
 * Custody: a key opens for its owner alone, unchanged, and never again once its owner is gone, whatever copy of the
 * database is kept. A rotation of the key-encryption key that is killed again and again rewrites wraps and nothing else.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { keyPairs } from '../src/chain/key-pairs.ts'
import type { Custody, KeyVault } from '../src/domain/ports/keys.ts'
import { actionArgsContext } from '../src/domain/store/action-args.ts'
import { createCustody } from '../src/platform/vault/custody.ts'
import { createEnvelopeCipher } from '../src/platform/vault/envelope-cipher.ts'
import { createLocalKeyVault } from '../src/platform/vault/local-key-vault.ts'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { nothingAcknowledged, openAccount } from './harness/callers.ts'
import { createCarelessCustody } from './harness/careless-custody.ts'
import { dumpKeys, type KeyRow, openedBy, readKeys, readTexts, swaps, withFlippedBits } from './harness/key-rows.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { closeStore, openStore, type Store } from './harness/store.ts'

const TEXT = 'a tree'

export async function proveCustody(context: ProofContext): Promise<ProofResult> {
  const count = context.setting('ACCOUNTS', 20)
  const all = await startParts(context)
  const { KEY_ENCRYPTION_KEY: _, ...env } = all.env
  // The service makes its keys itself, in files.
  const parts = { ...all, env }
  const store = await openStore(context, parts, { price: '1', webhookUrl: 'https://example.org/hook', gateways: [{}] })
  const tokens = new Map<string, string>()
  for (let serial = 0; serial < count; serial += 1) {
    const { username, token } = await openAccount(store.gateways[0]!.url, `owner${serial}`, nothingAcknowledged())
    tokens.set(username, token)
  }
  await store.order(count)
  const reasons: string[] = []
  const custody = () => createCustody({ vault: openVault(context), keyPairs })

  const rows = await readKeys(parts.database)
  const forged = [...swaps(rows), ...rows.flatMap((row) => [...withFlippedBits(row)]), ...rows.map(ofAnotherVersion)]
  const whole = await openedBy(custody(), rows, TEXT)
  if (whole !== rows.length) reasons.push(`${rows.length - whole} of ${rows.length} whole keys do not open.`)
  const opened = await openedBy(custody(), forged, TEXT)
  if (opened) reasons.push(`${opened} of ${forged.length} keys open that are swapped or changed.`)
  context.say(`${forged.length} swapped or changed keys: ${opened} open`)

  const rotation = await rotateUnderFire(context, parts, store)
  reasons.push(...rotation.reasons)
  const restored = await restoreDump(context, parts, store, tokens)
  reasons.push(...restored.reasons, ...(await destroyEarlier(context, parts)))
  reasons.push(...(await closeStore(store)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(context)))
  return conclude({
    figure: `${opened} of ${forged.length} forged and ${restored.opened} of ${restored.gone} deleted keys open; ${rotation.kills} kills`,
    n: forged.length + restored.gone,
    faultsInjected: forged.length + restored.gone + rotation.kills,
    reasons,
  })
}

const openVault = ({ dir }: ProofContext) => createLocalKeyVault({ dir, key: undefined })

const ofAnotherVersion = (row: KeyRow): KeyRow => ({ ...row, key: { ...row.key, version: 1 } })

/** `annal keys …` as a process beside the gateway; killed after that many rows' progress was told, if asked for. */
async function annalKeys({ dir }: ProofContext, { env }: Parts, args: string[], killAfter?: number) {
  const cli = join(import.meta.dirname, '../src/cli.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', cli, 'keys', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: dir, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let isKilled = false
  let said = ''
  const ended = once(child, 'exit')
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (killAfter === undefined || isKilled || !text.includes('wrapped anew')) return
    setTimeout(() => {
      isKilled = child.kill('SIGKILL')
    }, killAfter)
  })
  const [code] = (await ended) as [number | null]
  return { code, said, isKilled: isKilled && code === null }
}

/** Rotations that are killed and begun again while the gateway takes accounts and orders. */
async function rotateUnderFire(context: ProofContext, parts: Parts, store: Store) {
  const random = context.random.fork('rotation')
  const wanted = context.setting('KILLS', 3)
  const before = await readKeys(parts.database)
  const texts = await readTexts(parts.database)
  const signatures = await signaturesOf(context, before)
  let isOver = false
  const writers = [0, 1].map(async (writer) => {
    for (let serial = 0; !isOver; serial += 1) {
      await openAccount(store.gateways[0]!.url, `late${writer}-${serial}`, nothingAcknowledged())
      await store.order(1)
    }
  })
  const reasons: string[] = []
  let kills = 0
  for (let tries = 0; kills < wanted && tries < wanted * 4; tries += 1)
    if ((await annalKeys(context, parts, ['rotate'], random.below(40))).isKilled) kills += 1
  if (kills < wanted) reasons.push(`Only ${kills} of ${wanted} rotations were killed: the run is invalid.`)
  isOver = true
  await Promise.all(writers)
  // One run ends what was killed last, and one more moves what the gateway wrapped meanwhile.
  for (let run = 0; run < 2; run += 1) {
    const { code, said } = await annalKeys(context, parts, ['rotate'])
    if (code !== 0) reasons.push(`A rotation ended with ${code}: ${said}`)
  }
  const after = await readKeys(parts.database)
  const { current } = await openVault(context).ring.ids()
  reasons.push(...judgeRotation(before, after, current))
  const moved = new Map((await readTexts(parts.database)).map((text) => [text.id, text]))
  const rewritten = texts.filter(({ id, sealed }) => !moved.get(id)?.sealed.equals(sealed))
  if (rewritten.length) reasons.push(`${rewritten.length} sealed texts were rewritten.`)
  const envelopeCipher = createEnvelopeCipher({ vault: openVault(context) })
  for (const { id, envelope } of moved.values()) await envelopeCipher.open(envelope, actionArgsContext(id))
  const again = await signaturesOf(context, after)
  if (before.some(({ userId }) => signatures.get(userId) !== again.get(userId)))
    reasons.push('A key signs otherwise than before the rotation.')
  context.say(`${kills} rotations killed; ${after.length} keys and ${moved.size} texts open under ${current}`)
  return { reasons, kills }
}

/** A sentence when more than the wraps was written, or less. */
function judgeRotation(before: readonly KeyRow[], after: readonly KeyRow[], current: string): string[] {
  const now = new Map(after.map((row) => [row.userId, row.key]))
  const bytes = (key: Uint8Array | undefined) => Buffer.from(key ?? []).toString('hex')
  const resealed = before.filter(
    ({ userId, key }) => bytes(now.get(userId)?.sealedPrivateKey) !== bytes(key.sealedPrivateKey),
  )
  const stayed = before.filter(
    ({ userId, key }) => bytes(now.get(userId)?.wrappedDataKey) === bytes(key.wrappedDataKey),
  )
  const earlier = after.filter(({ key }) => key.vaultKeyId !== current)
  return [
    ...(resealed.length ? [`${resealed.length} private keys were sealed anew.`] : []),
    ...(stayed.length ? [`${stayed.length} keys were not wrapped anew.`] : []),
    ...(earlier.length ? [`${earlier.length} keys are wrapped by an earlier key.`] : []),
  ]
}

async function signaturesOf(context: ProofContext, rows: readonly KeyRow[]) {
  const custody = createCustody({ vault: openVault(context), keyPairs })
  return new Map(
    await Promise.all(rows.map(async ({ userId, key }) => [userId, await custody.sign(userId, key, TEXT)] as const)),
  )
}

/** Half of the accounts are deleted at the front door, and the tables of before are held against the vault. */
async function restoreDump(context: ProofContext, parts: Parts, store: Store, tokens: Map<string, string>) {
  const dump = await dumpKeys(parts.database, 'last_week')
  const leaving = [...tokens].slice(0, Math.ceil(tokens.size / 2))
  const reasons: string[] = []
  for (const [username, token] of leaving) {
    const answer = await trySend(store.gateways[0]!.url, { method: 'DELETE', path: '/api/v3/auth/users/me/', token })
    if (answer.status !== 204) reasons.push(`${username} could not leave: ${JSON.stringify(answer)}`)
  }
  const restored = await dump.read()
  const names = new Set(leaving.map(([username]) => username))
  const gone = restored.filter(({ username }) => names.has(username))
  const staying = restored.filter(({ username }) => !names.has(username))
  const custody = createCustody({ vault: openVault(context), keyPairs })
  // The key share goes when the deletion stands, by a job.
  const opened = await until(
    'no key of a deleted account opens',
    async () => ((await openedBy(custody, gone, TEXT)) === 0 ? { count: 0 } : undefined),
    30_000,
  ).catch(async () => ({ count: await openedBy(custody, gone, TEXT) }))
  if (opened.count) reasons.push(`${opened.count} of ${gone.length} deleted keys open from the dump.`)
  if (gone.length !== leaving.length) reasons.push('The dump does not hold the deleted accounts: the run is invalid.')
  if ((await openedBy(custody, staying, TEXT)) !== staying.length)
    reasons.push('The dump does not open for those who stay: the run is invalid.')
  context.say(`dump of before ${gone.length} deletions: ${opened.count} of them open, ${staying.length} others do`)
  return { reasons, opened: opened.count, gone: gone.length }
}

/** What a destroyed key wrapped is lost with it: a dump of before the next rotation opens for nobody. */
async function destroyEarlier(context: ProofContext, parts: Parts): Promise<string[]> {
  const before = await readKeys(parts.database)
  const rotated = await annalKeys(context, parts, ['rotate'])
  const early = await annalKeys(context, parts, ['destroy-earlier'])
  const hourAgo = Date.now() / 1_000 - 3_600
  await utimes(join(context.dir, 'keys/key-encryption-key'), hourAgo, hourAgo)
  const destroyed = await annalKeys(context, parts, ['destroy-earlier'])
  const custody = createCustody({ vault: openVault(context), keyPairs })
  const opened = await openedBy(custody, before, TEXT)
  const after = await readKeys(parts.database)
  const codes = [rotated.code, early.code, destroyed.code].join()
  return [
    ...(codes === '0,1,0' ? [] : [`rotate, destroy-earlier too early, destroy-earlier ended with ${codes}.`]),
    ...(opened ? [`${opened} keys open that a destroyed key wraps.`] : []),
    ...((await openedBy(custody, after, TEXT)) === after.length ? [] : ['Not every key opens after the destruction.']),
  ]
}

/** The controls: custody without context, a vault without key shares, and a rotation that seals anew must be seen. */
async function catchCareless(context: ProofContext): Promise<string[]> {
  const vault = openVault(context)
  const make = async (custody: Custody): Promise<KeyRow[]> =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        const userId = crypto.randomUUID()
        const { address: _, ...key } = await custody.create(userId)
        return { userId, username: '', key }
      }),
    )
  const reasons: string[] = []
  const contextless = createCarelessCustody({ vault, keyPairs })
  if ((await openedBy(contextless, swaps(await make(contextless)), TEXT)) === 0)
    reasons.push('The control was not caught: custody that binds nothing to its owner.')

  const flat: KeyVault = {
    ...vault,
    wrapFor: (_owner, dataKey, context) => vault.wrap(dataKey, context),
    unwrapFor: (_owner, keyId, wrapped, context) => vault.unwrap(keyId, wrapped, context),
  }
  const withoutCounterparts = createCustody({ vault: flat, keyPairs })
  const dump = await make(withoutCounterparts)
  for (const { userId } of dump) await withoutCounterparts.forget(userId)
  if ((await openedBy(withoutCounterparts, dump, TEXT)) !== dump.length)
    reasons.push('The control was not caught: a vault without key shares.')

  const before = await make(contextless)
  const resealed = (await make(contextless)).map((row, index) => ({ ...row, userId: before[index]!.userId }))
  if (!judgeRotation(before, resealed, (await vault.ring.ids()).current).some((text) => text.includes('sealed anew')))
    reasons.push('The control was not caught: a rotation that seals private keys anew.')
  return reasons
}
