/**
 * F18: a mailed token is used many times concurrently, over all interfaces of two gateways. One use sets its password, and all earlier
 * sessions end. A token that is expired, replaced or used, or whose account is deleted, has no effect.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { verify } from '@node-rs/argon2'
import { until } from '../test/support/eventually.ts'
import { trySend } from '../test/support/http-client.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { linkIn, type MailedLink, mailsOf, type ReadMail } from '../test/support/read-mails.ts'
import { createCarelessReset } from './harness/careless-reset.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import {
  askReset,
  forgetLimits,
  mailsAway,
  openGateways,
  type Person,
  signIn,
  signUp,
  stopGateways,
  trySignIn,
} from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import {
  atOnce,
  doorNames,
  judgeUses,
  moveExpiry,
  type Outcome,
  planUses,
  readStanding,
  repeatMail,
  type Standing,
  useToken,
  winnersOf,
} from './harness/token-uses.ts'

/** Maximum time for which an old access token may still be accepted, in milliseconds. */
const AFTERLIFE = 1_000
/** Number of sign-ins with the old password during the reset. It is below the limit of wrong guesses. */
const SIGN_INS = 3
/** Number of accounts that are deleted while their token is used. */
const LEAVERS = 6
/** Time span of these deletions, in milliseconds. Hashing a password takes a part of it. */
const LEAVING = 300
/** Expiry of a token that has just expired, in seconds from now. */
const LONG_AGO = -0.001

interface Scene {
  parts: Parts
  mailServer: MailServer
  gateways: { url: string }[]
  random: Random
  uses: number
  reasons: string[]
  outcomes: Outcome[]
  rivals: number
  /** Longest time for which an old access token was accepted after the new password was acknowledged, in milliseconds. */
  afterlife: number
}

export async function proveTokenRace(context: ProofContext): Promise<ProofResult> {
  const rounds = context.setting('ROUNDS', 10)
  const uses = context.setting('USES', 50)
  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const gateways = await openGateways(context, parts, { mailServer, count: 2 })
  const random = context.random.fork('uses')
  const scene: Scene = { parts, mailServer, gateways, random, uses, reasons: [], outcomes: [], rivals: 0, afterlife: 0 }
  const { reasons, outcomes } = scene

  let won = 0
  for (let round = 0; round < rounds; round += 1) {
    const person = await newPerson(scene, `racer${round}`)
    const mail = await lose(scene, person)
    won += (await race(scene, person, `round ${round}`, [linkIn(mail)])).length
  }
  context.say(`${won} of ${outcomes.length} uses succeeded in ${rounds} rounds`)
  await expired(scene)
  await replaced(scene)
  await deleted(scene)
  let gone = 0
  for (let leaver = 0; leaver < LEAVERS; leaver += 1)
    gone += (await deletedMeanwhile(scene, `waverer${leaver}`)) ? 1 : 0
  context.say(`${gone} of ${LEAVERS} deletions were quicker than every use`)
  await mailsAway(parts.database)
  reasons.push(...(await brokenInvariants(parts.database)), ...(await catchCareless(context, scene)))
  reasons.push(...(await stopGateways(gateways)))
  return conclude({
    figure: `${won} successes in ${rounds} rounds; old sessions at most ${Math.round(scene.afterlife)} ms`,
    n: outcomes.length,
    faultsInjected: scene.rivals,
    reasons,
  })
}

async function newPerson({ parts, gateways }: Scene, username: string): Promise<Person> {
  await forgetLimits(parts.database)
  return signUp(gateways[0]!, username)
}

/** Requests a password reset and returns the mail. */
async function lose({ mailServer, gateways, random }: Scene, { email }: Person): Promise<ReadMail> {
  const taken = mailServer.mails.length
  const answer = await askReset(random.pick(gateways), email)
  if (answer.status !== 201) throw new Error(`A reset was answered with ${answer.status}: ${answer.text}`)
  return until('the mail arrives', () => mailsOf(mailServer, 'password-reset', { to: email, skip: taken })[0])
}

async function useAll(scene: Scene, name: string, links: readonly MailedLink[], count: number): Promise<Outcome[]> {
  const { gateways, random, outcomes } = scene
  const plan = planUses(random, count, gateways.length, links, name)
  const all = await Promise.all(plan.map((use) => useToken(gateways, use)))
  outcomes.push(...all)
  return all
}

/** Uses the tokens concurrently, while old sessions and the old password are used, too. Returns the successful uses. */
async function race(scene: Scene, person: Person, name: string, links: readonly MailedLink[]): Promise<Outcome[]> {
  const { parts, mailServer, gateways, reasons, uses } = scene
  const before = await readStanding(parts.database, person.email)
  const taken = mailServer.mails.length
  const tokens = await Promise.all(gateways.map((gateway) => signIn(gateway, person)))
  const watches = tokens.flatMap((token) => gateways.map((gateway) => watchSession(gateway, token)))
  const signIns = Array.from({ length: SIGN_INS }, (_, index) =>
    delay(index * 50).then(() => trySignIn(gateways[index % gateways.length]!, person)),
  )
  const all = await useAll(scene, name, links, uses)
  const rivals = atOnce(all) - 1
  scene.rivals += rivals
  if (rivals < uses / 2 - 1) reasons.push(`${name} had only ${rivals + 1} uses at once: it is invalid.`)
  reasons.push(...judgeUses(name, all, 1))
  await Promise.all(signIns)
  const winners = winnersOf(all)
  const lives = await Promise.all(watches)
  const [winner] = winners
  if (!winner) return winners

  if (lives.includes(0)) reasons.push(`${name}: an old session was never let through: it is invalid.`)
  const afterlife = Math.max(0, ...lives.map((lastLetThrough) => lastLetThrough - winner.answeredAt))
  scene.afterlife = Math.max(scene.afterlife, afterlife)
  if (afterlife > AFTERLIFE) reasons.push(`${name}: an old session was let through ${Math.round(afterlife)} ms later.`)
  const after = await readStanding(parts.database, person.email)
  reasons.push(...judgeStandings(name, before, after))
  if (!(await verify(after.hash, winner.password)))
    reasons.push(`${name}: the password is not that of the use that succeeded.`)
  await mailsAway(parts.database)
  const told = mailsOf(mailServer, 'password-changed', { to: person.email, skip: taken }).length
  if (told !== 1) reasons.push(`${name}: ${told} mails tell that the password was changed.`)
  await forgetLimits(parts.database)
  for (const gateway of gateways) {
    const fresh = await trySignIn(gateway, { ...person, password: winner.password })
    const stale = await trySignIn(gateway, person)
    if (fresh.status !== 200 || stale.status !== 400)
      reasons.push(`${name}: the new password was answered with ${fresh.status}, the old one with ${stale.status}.`)
  }
  reasons.push(...(await refusedEverywhere(scene, person, `${name}, afterwards`, links)))
  return winners
}

/** Returns the problems of an account after a reset. */
const judgeStandings = (name: string, before: Standing, after: Standing): string[] => [
  ...(after.sessions === 0 ? [] : [`${name}: ${after.sessions} sessions are left.`]),
  ...(after.resets === before.resets + 1 ? [] : [`${name}: the audit trail tells of ${after.resets} resets.`]),
]

/** Uses a session until it is rejected. Returns when the last accepted request was sent. */
async function watchSession({ url }: { url: string }, token: string): Promise<number> {
  let lastLetThrough = 0
  await until(
    'an old session ends',
    async () => {
      const { status, sentAt } = await trySend(`${url}/api/v3/auth/users/me/`, { token })
      if (status === 200) lastLetThrough = sentAt
      return status === 401
    },
    60_000,
    20,
  )
  return lastLetThrough
}

/** Checks that every interface of every gateway rejects the token, and that the password stays the same. */
async function refusedEverywhere(scene: Scene, person: Person, what: string, links: readonly MailedLink[]) {
  const before = await readStanding(scene.parts.database, person.email)
  const count = doorNames.length * scene.gateways.length * links.length
  const all = await useAll(scene, 'too late', links, count)
  const after = await readStanding(scene.parts.database, person.email)
  return [
    ...judgeUses(what, all, 0),
    ...(before?.hash === after?.hash ? [] : [`${what}: the password was changed all the same.`]),
  ]
}

/** Checks that repeating a mail job sends nothing if its token was replaced or used, or the account is deleted. */
async function refusedAgain({ parts, mailServer, reasons }: Scene, { email }: Person, what: string, { id }: ReadMail) {
  const taken = mailServer.mails.length
  await repeatMail(parts.database, id, email)
  await mailsAway(parts.database)
  if (mailServer.mails.length > taken) reasons.push(`${what}: a mail was sent once more.`)
}

async function expired(scene: Scene): Promise<void> {
  const person = await newPerson(scene, 'sleeper')
  const mail = await lose(scene, person)
  await moveExpiry(scene.parts.database, person.email, LONG_AGO)
  scene.reasons.push(...(await refusedEverywhere(scene, person, 'An expired token', [linkIn(mail)])))
}

/** Uses an older token after a newer one, and both concurrently. Then repeats their mail jobs. */
async function replaced(scene: Scene): Promise<void> {
  const person = await newPerson(scene, 'forgetful')
  const older = await lose(scene, person)
  const newer = await lose(scene, person)
  const [old, young] = [linkIn(older), linkIn(newer)]
  scene.reasons.push(...(await refusedEverywhere(scene, person, 'An older token', [old])))
  await refusedAgain(scene, person, 'An older request', older)
  const winners = await race(scene, person, 'older and newer', [old, young])
  if (winners.some(({ link }) => link.token !== young.token)) scene.reasons.push('An older token succeeded.')
  await refusedAgain(scene, person, 'A used token', newer)
  scene.reasons.push(...(await refusedEverywhere(scene, person, 'A used token', [old, young])))
}

const leave = ({ url }: { url: string }, token: string) =>
  trySend(`${url}/api/v3/auth/users/me/`, { method: 'DELETE', token })

async function deleted(scene: Scene): Promise<void> {
  const { gateways, reasons } = scene
  const person = await newPerson(scene, 'leaver')
  const token = await signIn(gateways[0]!, person)
  const mail = await lose(scene, person)
  const left = await leave(gateways[0]!, token)
  if (left.status !== 204) reasons.push(`A deletion was answered with ${left.status}: ${left.text}`)
  reasons.push(...(await refusedEverywhere(scene, person, 'After the deletion', [linkIn(mail)])))
  await refusedAgain(scene, person, 'After the deletion', mail)
}

/**
 * Deletes an account while its token is used. Either the account is deleted, or it has a new password and the session may no longer delete
 * it. Returns true if the deletion was faster than every use.
 */
async function deletedMeanwhile(scene: Scene, username: string): Promise<boolean> {
  const { gateways, reasons, parts, uses } = scene
  const person = await newPerson(scene, username)
  const token = await signIn(gateways[0]!, person)
  const link = linkIn(await lose(scene, person))
  const { hash: before } = await readStanding(parts.database, person.email)
  const [all, left] = await Promise.all([
    useAll(scene, 'leaving', [link], uses),
    delay(scene.random.below(LEAVING)).then(() => leave(gateways[1]!, token)),
  ])
  scene.rivals += atOnce(all)
  const isGone = left.status === 204
  if (!isGone && left.status !== 401) reasons.push(`A deletion was answered with ${left.status}: ${left.text}`)
  const won = winnersOf(all).length
  // A deletion that began before the password was set may finish after it.
  reasons.push(...judgeUses('A deletion meanwhile', all, isGone ? Math.min(won, 1) : 1))
  const standing = await readStanding(parts.database, person.email)
  if (isGone === (standing !== undefined)) reasons.push('A deletion meanwhile: the account is not as it was told.')
  if (standing && standing.hash === before) reasons.push('A deletion meanwhile: neither was done.')
  reasons.push(...(await refusedEverywhere(scene, person, 'A deletion meanwhile, afterwards', [link])))
  return isGone && won === 0
}

/** Control: a reset that reads, checks and writes in separate steps must be detected as succeeding more than once. */
async function catchCareless({ say }: ProofContext, scene: Scene): Promise<string[]> {
  const person = await newPerson(scene, 'control')
  await signIn(scene.gateways[0]!, person)
  const link = linkIn(await lose(scene, person))
  const before = await readStanding(scene.parts.database, person.email)
  const careless = await createCarelessReset(scene.parts.databaseUrl)
  const all = await Promise.all(Array.from({ length: scene.uses }, (_, index) => careless.use(link, index)))
  await careless.close()
  const left = judgeStandings('control', before, await readStanding(scene.parts.database, person.email))
  say(`control: reading, checking and writing gave ${winnersOf(all).length} successes for one token`)
  return [
    ...(judgeUses('control', all, 1).length ? [] : ['The control was not caught: a careless reset succeeded once.']),
    ...(left.length === 2 ? [] : ['The control was not caught: a careless reset left sessions and no trace.']),
  ]
}
