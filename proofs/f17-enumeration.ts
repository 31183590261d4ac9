/**
 * F17: whether somebody has an account is not told by asking for a new password, nor by signing in with a wrong one: not by
 * the answer, and not by the time it takes.
 */
import { Agent } from 'node:http'
import { type Answer, trySend } from '../test/support/http-client.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { startCarelessAccounts } from './harness/careless-account.ts'
import { brokenInvariants, type Parts, startParts } from './harness/parts.ts'
import {
  addressOf,
  forgetLimits,
  mailsAway,
  openGateways,
  type Person,
  signUp,
  stopGateways,
} from './harness/people.ts'
import { percentile } from './harness/percentile.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import { areaUnderCurve } from './harness/rank-sum.ts'

/** Of whoever tells known from unknown by the time; 0.5 is guessing. */
const AREA = { from: 0.45, to: 0.55 }
/** Requests for one address that no limit refuses yet, whether or not it is known: five mails an hour, four guesses by strangers. */
const PER_ADDRESS = 4
/** Requests of a control for each kind. */
const FEW = 60

const doors = {
  reset: { path: '/api/v3/auth/users/reset_password/', status: 201, body: (email: string) => ({ email }) },
  login: {
    path: '/api/v3/auth/token/login/',
    status: 400,
    body: (email: string) => ({ email, password: 'not the password' }),
  },
} as const
type Door = keyof typeof doors

interface Addresses {
  known: string[]
  unknown: string[]
}

interface Heard {
  known: Answer[]
  unknown: Answer[]
}

export async function proveNoEnumeration(context: ProofContext): Promise<ProofResult> {
  const requests = context.setting('REQUESTS', 1_000)
  const accounts = context.setting('ACCOUNTS', 50)
  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const gateways = await openGateways(context, parts, { mailServer, count: 1 })
  const [gateway] = gateways
  const known: Person[] = []
  while (known.length < accounts) known.push(await signUp(gateway!, `person${known.length}`))
  const addresses = {
    known: known.map(({ email }) => email),
    // As long as the known ones.
    unknown: known.map((_, index) => addressOf(`nobody${index}`)),
  }

  const reasons: string[] = []
  const figures: string[] = []
  for (const door of ['reset', 'login'] as const) {
    const random = context.random.fork(door)
    // What only the first requests pay is not measured.
    await compare(gateway!.url, door, {
      addresses,
      requests: Math.min(FEW, requests),
      parts,
      random: random.fork('warm'),
    })
    const heard = await compare(gateway!.url, door, { addresses, requests, parts, random })
    const area = areaOf(heard)
    figures.push(`${door} AUC ${area.toFixed(3)}`)
    reasons.push(...judgeAnswers(door, heard), ...judgeTimes(door, heard))
    context.say(`${door}: ${describe(heard)}`)
  }
  await mailsAway(parts.database)
  if (mailServer.mails.some(({ to }) => to.some((address) => addresses.unknown.includes(address))))
    reasons.push('Somebody unknown got a mail.')
  const told = new Set(mailServer.mails.flatMap(({ to }) => to)).size
  if (told < accounts) reasons.push(`Only ${told} of ${accounts} known people got a mail: the run is invalid.`)
  reasons.push(...(await stopGateways(gateways)), ...(await brokenInvariants(parts.database)))
  reasons.push(...(await catchCareless(context, parts, mailServer.url, addresses)))
  return conclude({ figure: figures.join(', '), n: 4 * requests, faultsInjected: 2 * requests, reasons })
}

interface Comparison {
  addresses: Addresses
  /** Of each kind. */
  requests: number
  parts: Parts
  random: Random
}

/**
 * Known and unknown addresses one after the other over one connection, in an order that chance decides. Each address is
 * asked for as often as every other one; before a limit is reached, its time passes.
 */
async function compare(base: string, door: Door, { addresses, requests, parts, random }: Comparison): Promise<Heard> {
  const { path, body } = doors[door]
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const heard: Heard = { known: [], unknown: [] }
  const kinds = ['known', 'unknown'] as const
  while (heard.known.length < requests) {
    await forgetLimits(parts.database)
    const each = Math.min(requests - heard.known.length, addresses.known.length * PER_ADDRESS)
    const wishes = Array.from({ length: each }, (_, index) =>
      kinds.map((kind) => ({ kind, email: addresses[kind][index % addresses[kind].length]! })),
    )
    for (const { kind, email } of random.shuffle(wishes.flat()))
      heard[kind].push(await trySend(base, { path, json: body(email) }, { agent }))
  }
  agent.destroy()
  return heard
}

const timesOf = (exchanges: readonly Answer[]) => exchanges.map(({ milliseconds }) => milliseconds)
const areaOf = ({ known, unknown }: Heard) => areaUnderCurve(timesOf(known), timesOf(unknown))

const describe = (heard: Heard) => {
  const median = (kind: keyof Heard) => percentile(heard[kind], 0.5).toFixed(2)
  return `AUC ${areaOf(heard).toFixed(3)}; medians: known ${median('known')} ms, unknown ${median('unknown')} ms`
}

/** What differs from answer to answer whoever is asked for. */
const own = new Set(['date', 'x-request-id'])

/** An answer with all that could tell something. */
function appearance({ status, headers, text }: Answer): string {
  return JSON.stringify([status, [...headers].filter(([name]) => !own.has(name)), text])
}

/** A sentence when answers differ in anything but their time, or are not what the door says. */
function judgeAnswers(door: Door, { known, unknown }: Heard): string[] {
  const all = [...known, ...unknown]
  const different = new Set(all.map(appearance))
  const wrong = all.find(({ status }) => status !== doors[door].status)
  return [
    ...(different.size > 1 ? [`There are ${different.size} different answers: ${[...different].join(' and ')}`] : []),
    ...(wrong ? [`A ${door} was answered with ${wrong.status}: ${wrong.text}`] : []),
  ]
}

function judgeTimes(door: string, heard: Heard): string[] {
  const area = areaOf(heard)
  return area < AREA.from || area > AREA.to
    ? [`The time of a ${door} tells who has an account: ${describe(heard)}.`]
    : []
}

/** The controls: a mail that is sent within the request, and a password that is looked at only where there is one. */
async function catchCareless(
  context: ProofContext,
  parts: Parts,
  smtpUrl: string,
  addresses: Addresses,
): Promise<string[]> {
  const careless = await startCarelessAccounts(context, { database: parts.database, smtpUrl })
  const reasons: string[] = []
  for (const door of ['reset', 'login'] as const) {
    const random = context.random.fork(`careless ${door}`)
    const heard = await compare(careless.url, door, { addresses, requests: FEW, parts, random })
    context.say(`control, ${door}: ${describe(heard)}`)
    if (judgeTimes(door, heard).length === 0)
      reasons.push(`The control was not caught: a ${door} that does more where there is an account.`)
  }
  return reasons
}
