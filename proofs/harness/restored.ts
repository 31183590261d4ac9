/** Checks of an installation whose parts were restored from different snapshots. */
import { readFile } from 'node:fs/promises'
import { createRelayAccount } from '../../src/chain/keys.ts'
import { createRegistry, registrySetting } from '../../src/chain/registry/registry.ts'
import { findSetting } from '../../src/db/key-value-store.ts'
import { developmentKey, findEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { until } from '../../test/support/eventually.ts'
import { trySend } from '../../test/support/http-client.ts'
import { registerCall, updateCall } from './callers.ts'
import { ask } from './client.ts'
import type { CheckFinding, Installation, Kind } from './installation.ts'
import { findUnsettled } from './moment-statements.ts'
import {
  coinsOf,
  feeOf,
  isCredited,
  keeperName,
  leaverOf,
  type Moment,
  personOf,
  readBalance,
  type Story,
  sendCoins,
  signIn,
} from './moments.ts'

/** Index of the snapshot for each part. */
export type Mixture = Record<Kind, number>

export interface Expected {
  /** True if the vault lacks a key that wraps rows of the database. The start must then fail. */
  isRefused: boolean
  /** IDs of commits that are on the chain according to the database, but not on the restored chain. */
  lost: Set<string>
  /** IDs of commits on the chain that the database does not have. */
  unknown: Set<string>
  /** Number of deposits in the ledger that the chain does not have. */
  lostDeposits: number
  /** IDs of accounts whose key shares are missing. */
  keyless: Set<string>
  /** IDs of accounts in the vault that the database does not have. */
  ownerless: Set<string>
  /** IDs of deleted accounts that still exist in the database or the vault. */
  undone: Set<string>
  /** Nids of files that the store does not have. */
  missingFiles: Set<string>
}

const isPlaced = ({ status }: { status: string }) => status === 'FINAL' || status === 'INCLUDED'
const placedAt = ({ commits }: Moment) => new Set([...commits.values()].filter(isPlaced).map(({ id }) => id))
const less = <T>(all: Iterable<T>, taken: { has(item: T): boolean }) =>
  new Set([...all].filter((item) => !taken.has(item)))

export function expectationOf({ moments }: Story, mixture: Mixture): Expected {
  const of = (kind: Kind) => moments[mixture[kind]]!
  const database = of('database')
  const idsOf = (moment: Moment, names: Iterable<string>) => new Set([...names].map((name) => moment.people.get(name)!))
  // A key share is created and deleted together with its account.
  const keys = of('keys')
  const deletedByKeys = moments.slice(0, mixture.keys).map((_, moment) => leaverOf(moment))
  const deletedInDatabase = moments.slice(0, mixture.database).map((_, moment) => leaverOf(moment))
  const known = new Map(moments.flatMap(({ people }) => [...people]))
  return {
    isRefused: less(database.wrappedBy, heldBy(moments, mixture.keys)).size > 0,
    lost: less(placedAt(database), placedAt(of('chain'))),
    unknown: less(placedAt(of('chain')), database.commits),
    lostDeposits: less(database.deposits, of('chain').deposits).size,
    keyless: idsOf(database, less(database.people.keys(), keys.people)),
    ownerless: new Set(
      [...less(keys.people.keys(), database.people)]
        .filter((name) => !deletedInDatabase.includes(name))
        .map((name) => known.get(name)!),
    ),
    undone: new Set([
      ...deletedByKeys.filter((name) => database.people.has(name)).map((name) => known.get(name)!),
      ...deletedInDatabase.filter((name) => keys.people.has(name)).map((name) => known.get(name)!),
    ]),
    missingFiles: less(database.files.keys(), filesUntil(moments, mixture.blocks)),
  }
}

/** Returns the files in the store at a snapshot. Nothing is garbage-collected within the first hour. */
const filesUntil = (moments: readonly Moment[], last: number) =>
  new Set(moments.slice(0, last + 1).flatMap(({ files }) => [...files.keys()]))
const heldBy = (moments: readonly Moment[], last: number) =>
  new Set(moments.slice(0, last + 1).flatMap(({ wrappedBy }) => [...wrappedBy]))

const uuidOf = (findings: CheckFinding[], id: string, field: string) =>
  new Set(findings.find((finding) => finding.id === id)?.rows.map((row) => row[field]))

/** Returns a message if a set differs from the expected one. */
export function differ(what: string, seen: Iterable<unknown>, expected: Iterable<unknown>): string[] {
  const [left, right] = [[...seen].map(String).sort(), [...expected].map(String).sort()]
  return left.join() === right.join() ? [] : [`${what}: ${left.length} were named, ${right.length} expected.`]
}

/** Checks that `annal check` reports missing and superfluous data before the service starts. */
export async function judgeCold({ check }: Installation, expected: Expected, toId: (uuid: string) => string) {
  const { code, findings } = await check()
  const all = [...findings.values()]
  const rows = (id: string) => findings.get(id)?.rows ?? []
  const isBook = /^(I|C)\d/
  const reasons = all
    .filter(({ id, holds }) => isBook.test(id) && !holds)
    .map(({ id, rows: [row] }) => `${id} is broken, such as by ${JSON.stringify(row)}`)
  reasons.push(...differ('H1, commits lost by the chain', uuidOf(all, 'H1', 'commit'), expected.lost))
  reasons.push(...differ('H4, commits unknown to the database', rows('H4').keys(), [...expected.unknown].keys()))
  reasons.push(...differ('H5, deposits lost by the chain', rows('H5').keys(), Array(expected.lostDeposits).keys()))
  for (const id of ['H2', 'H3'])
    if (rows(id).length) reasons.push(`${id} is broken, such as by ${JSON.stringify(rows(id)[0])}`)
  if (!expected.isRefused) {
    reasons.push(...differ('S1, keys that are lost', uuidOf(all, 'S1', 'subject'), [...expected.keyless].map(toId)))
  } else if (rows('S1').length === 0) reasons.push('S1 does not name what the lacking key wraps.')
  reasons.push(
    ...differ('S2, deletions that were undone', uuidOf(all, 'S2', 'subject'), [...expected.undone].map(toId)),
  )
  reasons.push(...differ('S3, key shares of nobody', uuidOf(all, 'S3', 'subject'), [...expected.ownerless].map(toId)))
  const files = rows('B1').filter(({ kind }) => kind === 'file')
  reasons.push(
    ...differ(
      'B1, files that are missing',
      files.map(({ subject }) => subject),
      expected.missingFiles,
    ),
  )
  const isWrong = all.some(({ holds, isNote }) => !holds && !isNote)
  if (code !== (isWrong ? 1 : 0)) reasons.push(`annal check ended with ${code}.`)
  return reasons
}

const refusal = /lacks keys that wrap the keys of accounts: local:\w+ .* Restore the newest backup/

/** Checks that the start fails with a message that names the problem and the fix. */
export async function judgeRefusal({ gateway }: Installation, log: string): Promise<string[]> {
  const started = await gateway.start().then(
    () => true,
    () => false,
  )
  if (started) return ['It started without a key that wraps the keys of accounts.']
  const said = await readFile(log, 'utf8')
  return refusal.test(said) ? [] : [`It did not say why it does not start: ${said.slice(-500)}`]
}

/** Reads commits that are not settled: those that wait for a lost key, and all others. */
const readOpen = ({ beside }: Installation, { keyless, undone }: Expected) =>
  beside(async ({ database }) => {
    const rows = await database.query(findUnsettled)
    // An account that is deleted again can no longer sign, so its open commits fail.
    const open = rows.filter(({ author, failed }) => !(failed && undone.has(author)))
    const isWaiting = ({ author, waits }: (typeof rows)[number]) => waits && keyless.has(author) && !undone.has(author)
    return { waiting: open.filter(isWaiting), others: open.filter((row) => !isWaiting(row)) }
  })

/** Finds commits that are on the chain more than once. Returns a message for each. */
export async function doublesOnChain(installation: Installation): Promise<{ reasons: string[]; events: number }> {
  const anvil = await findEmbeddedAnvil(installation.dir)
  if (!anvil) return { reasons: ['No chain runs there.'], events: 0 }
  const { rpcUrl } = anvil
  const address = await installation.beside(async ({ database }) => {
    const [row] = await database.query(findSetting, { key: registrySetting(31337) })
    return row!.value
  })
  const recorder = createRelayAccount(developmentKey).address
  const tells: string[] = []
  for await (const { commitData, text } of createRegistry({ rpcUrl, address }).readAll([recorder], 0))
    tells.push(commitData ? `${commitData.assetTreeCid} ${commitData.timestampCreated} ${commitData.committer}` : text)
  const doubles = [...Map.groupBy(tells, (tell) => tell).values()].filter(({ length }) => length > 1)
  return {
    reasons: doubles.length ? [`${doubles.length} commits are on the chain twice, such as ${doubles[0]![0]}.`] : [],
    events: tells.length,
  }
}

/**
 * Checks that accounts deleted according to the database or the vault are deleted again, after the relay has checked their commits on the
 * chain.
 */
async function judgeDeletions(url: string, { moments }: Story, { database, keys }: Mixture): Promise<string[]> {
  const reasons: string[] = []
  for (const [moment] of moments.entries()) {
    const name = leaverOf(moment)
    const isGone = moment !== database || moment < keys
    const asItShould = async () => ((await signIn(url, name)) === undefined) === isGone
    await until(
      `${name} ${isGone ? 'is refused after their deletion' : 'can sign in'}`,
      asItShould,
      60_000,
      2_000,
    ).catch((error: Error) => reasons.push(error.message))
  }
  return reasons
}

/** Checks a restored service. Returns the problems. */
export async function judgeService(
  installation: Installation,
  story: Story,
  mixture: Mixture,
  expected: Expected,
): Promise<string[]> {
  const reasons: string[] = []
  const { url } = installation.gateway
  const database = story.moments[mixture.database]!

  reasons.push(...(await judgeDeletions(url, story, mixture)))
  const token = await signIn(url, keeperName)
  if (!token) return [...reasons, `${keeperName} cannot sign in.`]
  const { keeper } = story
  await ask(url, updateCall({ token, nid: keeper.nid }, 'after the restore'), 200)
  // A user whose key may be lost. Updates are accepted and wait, and do not block others.
  const person = personOf(mixture.database)
  const session = await signIn(url, person)
  if (!session) reasons.push(`${person} cannot sign in.`)
  const [nid] = [...database.files].find(([, owner]) => owner === person) ?? []
  if (session && nid) await ask(url, updateCall({ token: session, nid }, `${person} after the restore`), 200)

  const deposit = await sendCoins(installation, keeper.address, 5)
  const open = await until(
    'what can be settled is settled',
    async () => {
      const found = await readOpen(installation, expected)
      return found.others.length === 0 ? found : undefined
    },
    120_000,
    200,
  ).catch(async () => readOpen(installation, expected))
  if (open.others.length)
    reasons.push(`${open.others.length} commits are not settled: ${JSON.stringify(open.others[0])}`)
  const isWaiting = expected.keyless.has(database.people.get(person)!)
  if (isWaiting !== open.waiting.length > 0) reasons.push(`${open.waiting.length} commits wait for a key.`)

  await until('a deposit after the restore is credited', () => isCredited(installation, deposit), 60_000, 200).catch(
    (error: Error) => reasons.push(error.message),
  )
  // Deposits that only the chain has are credited once, in addition to the new one.
  const coins = coinsSince(mixture) + 5
  const balance = await readBalance(installation)
  // Deposits that only the ledger has are frozen.
  const due = database.balance + coins - coinsLost(mixture) - feeOf(1)
  if (Math.abs(balance - due) > 1e-6) reasons.push(`${keeperName} has ${balance}, and ${due} are due.`)
  reasons.push(...(await doublesOnChain(installation)).reasons)
  return reasons
}

/** Returns the coins of deposits that the chain has and the database does not. */
function coinsSince({ database, chain }: Mixture): number {
  let sum = 0
  for (let moment = database + 1; moment <= chain; moment += 1) sum += coinsOf(moment)
  return sum
}

/** Returns the coins of deposits that the ledger has and the chain does not. */
const coinsLost = ({ database, chain }: Mixture) => coinsSince({ database: chain, chain: database } as Mixture)

/** Returns the problems that remain after the service has started. Accounts that were deleted again need neither keys nor files. */
export function leftOf({ moments }: Story, mixture: Mixture, expected: Expected): Expected {
  const { people, files } = moments[mixture.database]!
  const keyless = less(expected.keyless, expected.undone)
  const missing = [...expected.missingFiles].filter((nid) => !expected.undone.has(people.get(files.get(nid)!)!))
  return { ...expected, lostDeposits: 0, keyless, missingFiles: new Set(missing), undone: new Set() }
}

/** Checks that the service has repaired what it can, and that `annal check` reports the rest. */
export async function judgeAfterwards(
  installation: Installation,
  expected: Expected,
  toId: (uuid: string) => string,
): Promise<string[]> {
  const mended = JSON.parse((await installation.annal(['repair', '--json'])).stdout) as {
    missing: { subject: string }[]
  }
  const reasons = differ(
    'mend, what cannot be made',
    new Set(mended.missing.map(({ subject }) => subject)),
    expected.missingFiles,
  )
  const { findings } = await installation.check()
  const rows = (id: string) => findings.get(id)?.rows ?? []
  for (const {
    id,
    holds,
    rows: [row],
  } of findings.values()) {
    // These invariants are expected to fail, because the data cannot be restored.
    if (['S1', 'S3', 'B1', 'H4', 'H5', 'H6', 'H7', 'W1'].includes(id) || holds) continue
    reasons.push(`${id} is broken afterwards, such as by ${JSON.stringify(row)}`)
  }
  if (expected.keyless.size > 0 !== rows('W1').length > 0) reasons.push(`W1 tells of ${rows('W1').length} commits.`)
  reasons.push(
    ...differ('S1 afterwards', new Set(rows('S1').map(({ subject }) => subject)), [...expected.keyless].map(toId)),
  )
  reasons.push(...differ('B1 afterwards', new Set(rows('B1').map(({ subject }) => subject)), expected.missingFiles))
  return reasons
}

/** Checks that missing files are restored when users upload them again. */
export async function judgeHealing(installation: Installation, story: Story, mixture: Mixture, expected: Expected) {
  if (expected.missingFiles.size === 0) return []
  const { url } = installation.gateway
  const token = await signIn(url, keeperName)
  const database = story.moments[mixture.database]!
  for (const nid of expected.missingFiles) {
    const call = registerCall(token!, `${database.files.get(nid)} first`)
    const answer = await trySend(url, { ...call, key: `heal ${nid}` })
    if (answer.status !== 400) return [`A file that is registered was answered with ${JSON.stringify(answer)}`]
  }
  const { findings } = await installation.check()
  const left = findings.get('B1')?.rows ?? []
  return left.length ? [`${left.length} files are missing after they were sent again.`] : []
}
