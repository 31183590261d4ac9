/**
 * F20: 10,000 passwords are tried for a few accounts in every way there is, at both doors of two gateways, also with stolen
 * sessions. However they are mixed, argon2 looks at five wrong ones for each account in a quarter of an hour, one of
 * which is kept for sessions: an address that nobody has gets four.
 */
import { join } from 'node:path'
import { float, int, statement, text } from '../src/domain/sql.ts'
import { trySend } from '../test/support/http-client.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { linkIn, mailsOf } from '../test/support/read-mails.ts'
import { startBenign } from './harness/benign.ts'
import { countCareless } from './harness/careless-checks.ts'
import type { Gateway } from './harness/gateway.ts'
import { createGateway } from './harness/gateway.ts'
import { guess, open, stolen, type Target } from './harness/guesses.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import {
  addressOf,
  askReset,
  mailsAway,
  type Person,
  signIn,
  signUp,
  stopGateways,
  trySignIn,
} from './harness/people.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import { countingEnv, countWrong, NOBODY, since } from './harness/verifications.ts'

/** Wrong guesses at an account in a quarter of an hour, and those of them that strangers may make. */
const MOST = 5
const MOST_BY_STRANGERS = 4
const SECONDS = 900
/** Milliseconds. */
const P99 = 500
const ACCOUNTS = 3
const STRANGERS = 1
/** Guesses at each account that come at once when a quarter of an hour begins. */
const BURST = 20

interface Scene {
  context: ProofContext
  parts: Parts
  gateways: Gateway[]
  targets: Target[]
  /** Where gateways write what argon2 saw. */
  witnesses: string[]
}

export async function proveBruteLimit(context: ProofContext): Promise<ProofResult> {
  const tries = context.setting('TRIES', 10_000)
  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const witnesses = ['a', 'b'].map((name) => join(context.dir, `verifications-${name}`))
  const gateways: Gateway[] = []
  for (const [index, path] of witnesses.entries()) {
    const env = { ...parts.env, ...countingEnv(path), ...unlimited, SMTP_URL: mailServer.url }
    gateways.push(await createGateway(context, `gateway-${index}`, env))
    await gateways[index]!.start()
  }
  const people: Person[] = []
  while (people.length < ACCOUNTS) people.push(await signUp(gateways[0]!, `victim${people.length}`))
  const targets: Target[] = Array.from({ length: STRANGERS }, (_, index) => ({ email: addressOf(`stranger${index}`) }))
  for (const person of people) targets.push({ email: person.email, token: await signIn(gateways[0]!, person) })
  const scene = { context, parts, gateways, targets, witnesses }

  const benign = await startBenign(gateways)
  const reasons: string[] = []
  const verdicts = new Map<string, number>()
  let tried = 0
  let looked = 0
  for (const part of ['first', 'second']) {
    const before = await countWrong(parts.database, witnesses)
    const attack = await attackOnce(scene, context.random.fork(part), tries / 2)
    const counts = since(before, await countWrong(parts.database, witnesses))
    reasons.push(...judgeCounts(counts).map((reason) => `${part} quarter of an hour: ${reason}`), ...attack.reasons)
    tried += attack.tried
    for (const count of counts.values()) looked += count
    for (const [verdict, count] of attack.verdicts) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + count)
    if (part === 'first') await parts.database.query(passTime)
  }
  const heard = await benign.stop()
  context.say(`answers: ${JSON.stringify(Object.fromEntries(verdicts))}`)
  // What argon2 saw and what callers were told are two accounts of one thing.
  const told = verdicts.get('wrong') ?? 0
  if (told !== looked) reasons.push(`${told} guesses were told to be wrong, and argon2 looked at ${looked}.`)
  for (const verdict of verdicts.keys())
    if (!['wrong', 'throttled', 'refused'].includes(verdict)) reasons.push(`A guess was answered with "${verdict}".`)

  const p99 = percentile(heard.answers, 0.99)
  if (heard.failures.length) reasons.push(`The benign user was refused: ${heard.failures[0]}`)
  if (p99 > P99) reasons.push(`The benign user's slowest hundredth took ${Math.round(p99)} ms, ${P99} are allowed.`)
  context.say(heard.summary)

  reasons.push(...(await letOwnersIn(scene, people, mailServer)))
  reasons.push(...(await stopGateways(gateways)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(scene)))
  return conclude({
    figure: `${looked} checks for ${targets.length} accounts in 2 quarters of an hour, ${tried} tries, p99 ${Math.round(p99)} ms`,
    n: tried,
    faultsInjected: tried,
    reasons,
  })
}

const unlimited = { LIMIT_REQUESTS_PER_IP: '100000000', LIMIT_REQUESTS_PER_TOKEN: '100000000' }

/** A sentence for each account that was guessed at too often, or so seldom that nothing is shown. */
function judgeCounts(counts: ReadonlyMap<string, number>): string[] {
  const owners = [...Array.from({ length: ACCOUNTS }, (_, index) => addressOf(`victim${index}`)), NOBODY]
  return owners.flatMap((owner) => {
    const most = owner === NOBODY ? MOST_BY_STRANGERS * STRANGERS : MOST
    const count = counts.get(owner) ?? 0
    if (count > most) return [`${count} wrong passwords of ${owner} were checked, ${most} are allowed.`]
    return count < most
      ? [`Only ${count} of ${owner} were checked: the limit was not reached, the run is invalid.`]
      : []
  })
}

const findEnds = statement(
  'proof_window_ends',
  { parameters: { most: int }, columns: { key: text, end: text } },
  `select key, window_end::text as end from limits where key like 'password-wrong:%' and window_end > now() and count >= $most order by key`,
)
const findLongest = statement(
  'proof_longest_window',
  { columns: { seconds: float } },
  `select coalesce(extract(epoch from max(window_end) - now()), 0)::float8 as seconds from limits where key like 'password-check:%'`,
)
const passTime = statement('proof_pass_limits', {}, `update limits set window_end = now() where window_end > now()`)

/** One account after the other is guessed at by many at once, then all of them on and on by so many hands. */
async function attackOnce({ context, parts, gateways, targets }: Scene, random: Random, tries: number) {
  const hands = context.setting('HANDS', 6)
  const verdicts = new Map<string, number>()
  const ways = new Set<string>()
  let tried = 0
  const one = async (target: Target, serial: number) => {
    const guessed = await guess(random.pick(gateways).url, target, serial, random)
    tried += 1
    ways.add(guessed.way)
    for (const verdict of guessed.verdicts) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
  }
  const first = Math.min(BURST, Math.ceil(tries / targets.length / 2))
  for (const [index, target] of random.shuffle(targets).entries())
    await Promise.all(Array.from({ length: first }, (_, nth) => one(target, index * first + nth)))
  const ends = await parts.database.query(findEnds, { most: MOST_BY_STRANGERS })
  if (ends.length !== targets.length) throw new Error('Not every account is locked after the first guesses.')
  let serial = first * targets.length
  const hand = async () => {
    while (tried < tries) await one(random.pick(targets), serial++)
  }
  await Promise.all(Array.from({ length: hands }, hand))

  const reasons: string[] = []
  const missing = Object.keys({ ...open, ...stolen }).filter((way) => !ways.has(way))
  if (missing.length) reasons.push(`Nobody tried ${missing.join(', ')}: the run is invalid.`)
  const [longest] = await parts.database.query(findLongest)
  if (longest!.seconds > SECONDS) reasons.push(`A wait is ${longest!.seconds} s long.`)
  if (JSON.stringify(await parts.database.query(findEnds, { most: MOST_BY_STRANGERS })) !== JSON.stringify(ends))
    reasons.push('Going on prolonged a wait.')
  return { tried, verdicts, reasons }
}

/** Who owns the account waits, or resets the password and is in at once. */
async function letOwnersIn(
  { parts, gateways, targets }: Scene,
  [locked, patient]: Person[],
  mailServer: MailServer,
): Promise<string[]> {
  const [one, other] = gateways as [Gateway, Gateway]
  const reasons: string[] = []
  for (const person of [locked!, patient!]) {
    const answer = await trySignIn(other, person)
    const wait = Number(answer.headers.get('retry-after'))
    if (answer.status !== 429 || !(wait > 0 && wait <= SECONDS))
      reasons.push(`A locked owner was answered with ${answer.status}, Retry-After ${wait}.`)
  }
  await askReset(one, locked!.email)
  await mailsAway(parts.database)
  const [mail] = mailsOf(mailServer, 'password-reset')
  const { uid, token } = linkIn(mail!)
  const url = `${other.url}/api/v3/auth/users/reset_password_confirm/`
  const reset = await trySend(url, { json: { uid, token, new_password: 'chosen by its owner' } })
  const back = await trySignIn(one, { ...locked!, password: 'chosen by its owner' })
  if (reset.status !== 204 || back.status !== 200)
    reasons.push(`The reset was answered with ${reset.status}, and signing in with ${back.status}.`)
  const thief = targets.find(({ email }) => email === locked!.email)!.token!
  const me = await trySend(`${one.url}/api/v3/auth/users/me/`, { token: thief })
  if (me.status !== 401) reasons.push(`The stolen session was answered with ${me.status} after the reset.`)
  await parts.database.query(passTime)
  const waited = await trySignIn(one, patient!)
  if (waited.status !== 200) reasons.push(`Who waited was answered with ${waited.status}.`)
  return reasons
}

/** The controls: a limit for each path, and one that counts when it has looked, must be seen to let more through. */
async function catchCareless({ context, parts }: Scene): Promise<string[]> {
  const { perPath, lateCount } = await countCareless(parts.database, ['login', 'signIn', 'set_password'], MOST * 2)
  context.say(`controls: ${perPath} checks with a limit for each path, ${lateCount} when counting afterwards`)
  const victim = addressOf('victim0')
  const isCaught = (count: number) =>
    judgeCounts(new Map([[victim, count]])).some((reason) => reason.includes('are allowed'))
  return [
    ...(isCaught(perPath) ? [] : ['The control was not caught: a limit for each path.']),
    ...(isCaught(lateCount) ? [] : ['The control was not caught: a limit that counts afterwards.']),
  ]
}
