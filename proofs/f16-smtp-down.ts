/**
 * F16: the mail server ends every connection, says nothing, or has a passing trouble, each for a while. Whoever lost a
 * password is answered as ever, and the mail arrives soon after the server is back, once.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../test/support/eventually.ts'
import type { Answer } from '../test/support/http-client.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { linkIn, mailsOf, type ReadMail } from '../test/support/read-mails.ts'
import { startCarelessAccounts } from './harness/careless-account.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import { askReset, forgetLimits, mailsAway, openGateways, type Person, signUp, stopGateways } from './harness/people.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'

/** Milliseconds from the server's return to the last mail. */
const ARRIVAL = 60_000
/** Between requests, in milliseconds: nobody waits for anybody. */
const PACE = 50
/** How much slower the middle and the slowest twentieth may be than in peace, as factors. */
const SLOWER = { median: 1.5, p95: 2 }
/** Milliseconds that count as nothing. */
const NOISE = 10
/** Requests of the control. */
const FEW = 4

const troubles = ['refuse', 'hang', '451'] as const
type Trouble = (typeof troubles)[number]

/** Of those who come to one that says nothing, every other waits for an answer to the mail it has sent. */
const moods: Record<Trouble, MailServer['mood']> = {
  refuse: 'refuse',
  hang: (visit) => (visit % 2 === 0 ? 'hang' : 'hang-after-data'),
  '451': '451',
}

interface Scene {
  parts: Parts
  mailServer: MailServer
  gateways: { url: string }[]
  people: Person[]
}

export async function proveSmtpDown(context: ProofContext): Promise<ProofResult> {
  const seconds = context.setting('SECONDS', 60)
  const count = context.setting('ACCOUNTS', 40)
  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const gateways = await openGateways(context, parts, { mailServer, count: 2 })
  const people: Person[] = []
  while (people.length < count) people.push(await signUp(gateways[people.length % 2]!, `person${people.length}`))
  const scene = { parts, mailServer, gateways, people }

  const reasons: string[] = []
  const slower: ReturnType<typeof compare>[] = []
  let slowest = 0
  let faultsInjected = 0
  // What only the first requests pay is not measured.
  await ask(scene, people)
  await inPeace(scene)
  const measured: { trouble: Trouble; peace: Answer[]; outage: Answer[] }[] = []
  for (const trouble of context.random.fork('order').shuffle(troubles)) {
    const before = await inPeace(scene)
    const { outage, arrival, bad, found } = await inTrouble(scene, trouble, seconds)
    const peace = [...before, ...(await inPeace(scene))]
    reasons.push(...found, ...judgeSpeed(trouble, peace, outage))
    slower.push(compare(peace, outage))
    slowest = Math.max(slowest, arrival)
    faultsInjected += bad
    measured.push({ trouble, peace, outage })
    const { median, p95 } = compare(peace, outage)
    context.say(
      `${trouble}: median ${describe(median)}, p95 ${describe(p95)}; the server was bad ${bad} times; ` +
        `the last mail came ${(arrival / 1_000).toFixed(1)} s after it was back`,
    )
  }
  reasons.push(...(await stopGateways(gateways)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchInRequest(context, scene)))
  const worst = (of: 'median' | 'p95') => Math.max(...slower.map((each) => each[of].factor)).toFixed(2)
  return conclude({
    figure: `median × ${worst('median')}, p95 × ${worst('p95')}; last mail ${(slowest / 1_000).toFixed(1)} s after the return`,
    n: measured.reduce((sum, { outage }) => sum + outage.length, 0),
    faultsInjected,
    reasons,
  })
}

/** One request for each, at the gateways in turn. */
async function ask({ gateways }: Pick<Scene, 'gateways'>, people: readonly Person[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [index, { email }] of people.entries()) {
    answers.push(await askReset(gateways[index % gateways.length]!, email))
    await delay(PACE)
  }
  return answers
}

/** The same requests while mail goes out, until all of it is away. */
async function inPeace(scene: Scene): Promise<Answer[]> {
  await forgetLimits(scene.parts.database)
  const answers = await ask(scene, scene.people)
  await mailsAway(scene.parts.database)
  return answers
}

/** Half of the requests when the trouble begins, half when it is about to end; then the mails that come. */
async function inTrouble(scene: Scene, trouble: Trouble, seconds: number) {
  const { parts, mailServer, people } = scene
  await forgetLimits(parts.database)
  const half = Math.ceil(people.length / 2)
  const taken = mailServer.mails.length
  const visits = mailServer.visits
  const began = performance.now()
  mailServer.mood = moods[trouble]
  const outage = await ask(scene, people.slice(0, half))
  await delay(Math.max(0, seconds * 1_000 - (people.length - half) * PACE * 2 - (performance.now() - began)))
  outage.push(...(await ask(scene, people.slice(half))))
  await delay(Math.max(0, seconds * 1_000 - (performance.now() - began)))

  const found: string[] = []
  const bad = mailServer.visits - visits
  if (bad < 2) found.push(`The server was not bad by "${trouble}": the run is invalid.`)
  if (mailServer.mails.length > taken) found.push(`Mails arrived at a server that is bad by "${trouble}".`)
  mailServer.mood = 'accept'
  const back = performance.now()
  await until('the mails arrive', () => mailServer.mails.length >= taken + people.length, 2 * ARRIVAL, 50).catch(
    (error: Error) => found.push(error.message),
  )
  // What a gateway still has in hand, and would send a second time, is away then.
  await mailsAway(parts.database, 2 * ARRIVAL)
  const mails = mailsOf(mailServer, 'password-reset', { skip: taken })
  const arrival = Math.max(0, ...mails.map(({ at }) => at - back))
  if (arrival > ARRIVAL) found.push(`A mail arrived only ${Math.round(arrival)} ms after the server was back.`)
  found.push(...judgeMails(people, mails))
  return { outage, arrival, bad, found }
}

/** Everybody got one mail, with a link of their own. */
function judgeMails(people: readonly Person[], mails: readonly ReadMail[]): string[] {
  const counts = new Map(people.map(({ email }) => [email, 0]))
  for (const { address } of mails) counts.set(address, (counts.get(address) ?? 0) + 1)
  const wrong = [...counts].filter(([, count]) => count !== 1)
  const links = new Set(mails.map((mail) => linkIn(mail).token))
  return [
    ...(wrong.length ? [`${wrong.length} people did not get one mail, such as ${wrong[0]!.join(': ')}.`] : []),
    ...(links.size === mails.length ? [] : ['Two mails carry the same link.']),
  ]
}

function compare(peace: readonly Answer[], outage: readonly Answer[]) {
  const at = (share: number) => {
    const [before, during] = [percentile(peace, share), percentile(outage, share)]
    return { before, during, factor: during / before }
  }
  return { median: at(0.5), p95: at(0.95) }
}

const describe = ({ before, during, factor }: { before: number; during: number; factor: number }) =>
  `${before.toFixed(1)} → ${during.toFixed(1)} ms (× ${factor.toFixed(2)})`

function judgeSpeed(trouble: Trouble, peace: readonly Answer[], outage: readonly Answer[]): string[] {
  const compared = compare(peace, outage)
  const refused = [...peace, ...outage].find(({ status, text }) => status !== 201 || text !== '{}')
  return [
    ...(refused ? [`A request was answered with ${refused.status}: ${refused.text}`] : []),
    ...(['median', 'p95'] as const)
      .filter((of) => compared[of].factor > SLOWER[of] && compared[of].during - compared[of].before > NOISE)
      .map((of) => `With "${trouble}" the ${of} went ${describe(compared[of])}, × ${SLOWER[of]} is allowed.`),
  ]
}

/** The control: whoever sends the mail within the request must be seen to be slow when the server says nothing. */
async function catchInRequest(context: ProofContext, { parts, mailServer, people }: Scene): Promise<string[]> {
  const careless = await startCarelessAccounts(context, { database: parts.database, smtpUrl: mailServer.url })
  const few = people.slice(0, FEW)
  const askAll = () => Promise.all(few.map(({ email }) => askReset(careless, email)))
  await askAll()
  const peace = await askAll()
  mailServer.mood = moods.hang
  const outage = await askAll()
  mailServer.mood = 'accept'
  const { median } = compare(peace, outage)
  context.say(`control: sending within the request, median ${describe(median)}`)
  return judgeSpeed('hang', peace, outage).some((reason) => reason.includes('median'))
    ? []
    : ['The control was not caught: a mail that is sent within the request.']
}
