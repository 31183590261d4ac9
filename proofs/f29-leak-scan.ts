/**
 * F29: every secret of the service is one that can be recognised, and is used, misplaced and lost in every way callers know.
 * Afterwards logs, answers, tables, mails and files are searched for each, in every encoding. It is where it must be, and nowhere else.
 */
import { Webhook } from 'standardwebhooks'
import { int, statement, text } from '../src/domain/sql.ts'
import { fromQuotedPrintable } from '../test/support/parse-mail.ts'
import { type Canary, createFinder, type Haystack, type Hit, searchAll } from './harness/canaries.ts'
import { disturb } from './harness/disturbances.ts'
import { newText, openScene, type Scene } from './harness/leak-scene.ts'
import { appoint, createDoors, tellStory } from './harness/leak-story.ts'
import { leaksOf } from './harness/leaky-gateway.ts'
import { misplace, misplaceRaw } from './harness/misplaced.ts'
import { brokenInvariants } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { dumpTables, readFiles } from './harness/remains.ts'
import { runSql } from './harness/run-sql.ts'
import { answersOf as answers, timesSent } from './harness/transcript.ts'

const AT_ONCE = 4
const SHOWN = 12

export async function proveNoLeaks(context: ProofContext): Promise<ProofResult> {
  const scene = await openScene(context)
  const { transcript, gateway, parts } = scene
  const story = await tellStory(scene)
  const session = await newAdministrator(scene)
  const secrets = [...scene.canaries.values()]
  const requests = context.random.shuffle(secrets.flatMap(({ text }) => misplace(text, session)))
  context.say(`${transcript.exchanges.length} good requests; ${requests.length} with a secret in the wrong place`)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = requests.pop(); next; next = requests.pop()) await transcript.ask(next)
    }),
  )
  for (const { text } of secrets) for (const raw of misplaceRaw(text)) await transcript.askRaw(raw)
  const faults = await disturb(scene, story)
  const reasons = [...(await judgeUse(scene)), ...faults.reasons]
  const tables = await dumpTables(parts.database)
  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)

  const found = await searchRemains(scene, tables)
  for (const { canary, encoding, place, around } of found.hits.slice(0, SHOWN))
    reasons.push(`${canary} (${encoding}) stands in ${place}: ${around}`)
  if (found.hits.length > SHOWN) reasons.push(`There are ${found.hits.length - SHOWN} more.`)
  for (const [kind, count] of summary(found.hits)) context.say(`${count} times: ${kind}`)
  reasons.push(...(await brokenInvariants(parts.database)), ...(await catchLeaky(scene)))
  const mib = (found.bytes / 2 ** 20).toFixed(1)
  return conclude({
    figure: `${found.hits.length} hits of ${secrets.length} secrets in ${mib} MiB`,
    n: transcript.exchanges.length,
    faultsInjected: transcript.exchanges.filter(({ isError }) => isError).length + faults.count,
    reasons,
  })
}

/** Somebody whose guesses may be used up. */
async function newAdministrator(scene: Scene): Promise<Record<string, string>> {
  const { rest } = createDoors(scene)
  const account = { username: 'clumsy', email: 'clumsy@example.org', password: newText() }
  await rest('auth/users/', account)
  const got = await rest('auth/token/login/', account)
  await scene.parts.database.query(appoint, { username: 'clumsy' })
  return { authorization: `token ${got.body.auth_token}` }
}

const countUses = statement(
  'proof_used',
  { parameters: { lane: text }, columns: { sessions: int, transactions: int } },
  `select (select count(*)::int from pg_stat_activity where usename = 'proof_gateway') as sessions,
     (select count(*)::int from commit_relays where lane = $lane) as transactions`,
)

/** A secret that was never used proves nothing. */
async function judgeUse({ canaries, transcript, mailServer, receiver, parts, relayAddress }: Scene): Promise<string[]> {
  const reasons = [...canaries.values()]
    .filter((canary) => timesSent(transcript, canary) === 0)
    .map(({ name }) => `The ${name} was never sent: the run is invalid.`)
  const [row] = await parts.database.query(countUses, { lane: relayAddress })
  const signed = (name: string) =>
    receiver.calls.some(({ headers, body }) => {
      try {
        return Boolean(new Webhook(canaries.get(name)!.text).verify(body, headers as Record<string, string>))
      } catch {
        return false
      }
    })
  const uses = {
    'database password': row!.sessions > 0,
    'relay key': row!.transactions > 0,
    'mail password': mailServer.passwords.has(canaries.get('mail password')!.text),
    'webhook secret': signed('webhook secret'),
    'rotated webhook secret': signed('rotated webhook secret'),
    'live token': receiver.calls.some(({ body }) => body.includes(canaries.get('live token')!.text)),
  }
  for (const [name, isUsed] of Object.entries(uses))
    if (!isUsed) reasons.push(`The ${name} served nothing: the run is invalid.`)
  for (const name of canaries.keys())
    if (
      /^(reset|verification) token/.test(name) &&
      !mailServer.mails.some(({ source }) => fromQuotedPrintable(source).includes(canaries.get(name)!.text))
    )
      reasons.push(`The ${name} was in no mail: the run is invalid.`)
  return reasons
}

/** Everything that is left, and what each place may hold. */
async function searchRemains({ context, canaries, transcript, mailServer }: Scene, tables: Haystack[]) {
  const all = [...canaries.values()]
  const closely = createFinder(all, true)
  const hits: Hit[] = []
  let bytes = 0
  for (const { tells, ...answer } of answers(transcript)) {
    bytes += answer.bytes.length
    hits.push(...closely.find(answer).filter(({ canary }) => !tells.includes(canary)))
  }
  for (const [index, { to, source }] of mailServer.mails.entries()) {
    const mail = { place: `mail ${index} to ${to}`, bytes: Buffer.from(fromQuotedPrintable(source)) }
    bytes += mail.bytes.length
    hits.push(...closely.find(mail).filter(({ canary }) => !/^(reset|verification) token/.test(canary)))
  }
  const logs: Haystack[] = []
  const rest = await searchAll(filesBut(context.dir, logs), all)
  const searched = [rest, await searchAll(logs, all, true), await searchAll(tables, all)]
  for (const {
    place,
    bytes: { length },
  } of logs)
    context.say(`${length} bytes in ${place}`)
  if (logs.every(({ bytes }) => bytes.length < 1_000)) throw new Error('There are no logs: the run is invalid.')
  return {
    hits: [...hits, ...searched.flatMap((search) => search.hits)],
    bytes: searched.reduce((sum, search) => sum + search.bytes, bytes),
  }
}

/** The files but the keys; logs are put aside, to be searched more closely. */
async function* filesBut(dir: string, logs: Haystack[]): AsyncGenerator<Haystack> {
  for await (const file of readFiles(dir, ['keys'])) {
    if (file.place.endsWith('.log')) logs.push(file)
    else yield file
  }
}

/** How often each secret was found in each kind of place. */
function summary(hits: readonly Hit[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { encoding, place } of hits) {
    const kind = `${encoding} in ${place.replaceAll(/\d+/g, 'n')}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** The controls: a gateway that logs what it is sent, and one that keeps secrets in its tables, in any encoding. */
async function catchLeaky({ canaries, transcript, parts, context }: Scene): Promise<string[]> {
  const all = [...canaries.values()]
  const reasons: string[] = []
  const miss = (canary: Canary, where: string) =>
    reasons.push(`The control was not caught: the ${canary.name} ${where}.`)
  const log = transcript.exchanges.map(({ what, sent }) => JSON.stringify({ level: 20, what, body: sent.toString() }))
  const logged = new Set(
    createFinder(all)
      .find({ place: 'log', bytes: Buffer.from(log.join('\n')) })
      .map(({ canary }) => canary),
  )
  for (const canary of all) if (!logged.has(canary.name)) miss(canary, 'in a logged body')

  await runSql(parts.database, 'create table proof_leaks (text text, json jsonb, bytes bytea)')
  let caught = 0
  for (const canary of all) {
    const finder = createFinder([canary])
    for (const [form, leak] of leaksOf(canary)) {
      if (finder.find({ place: 'log', bytes: leak }).length === 0) miss(canary, `as ${form} in a log`)
      const isText = Buffer.from(leak.toString()).equals(leak) && !leak.includes(0)
      const values = [isText ? leak.toString() : null, isText ? JSON.stringify([leak.toString()]) : null, leak]
      await runSql(parts.database, 'truncate proof_leaks')
      await runSql(parts.database, 'insert into proof_leaks values ($1, $2::jsonb, $3::bytea)', values)
      const dump = await dumpTables(parts.database, 'proof_leaks')
      if (dump.length === 0 || finder.find(dump[0]!).length === 0) miss(canary, `as ${form} in a table`)
      else caught += 1
    }
  }
  context.say(`control: ${logged.size} secrets in logged bodies, ${caught} leaks in a table`)
  return reasons
}
