/**
 * F41: an operator exchanges one secret after the other, by the words of docs/operations.md, at two gateways that are restarted one after the
 * other while callers are at work. Nobody is told anything but success, and what was exchanged is of use to nobody afterwards.
 */
import { createRelayAccount } from '../src/chain/keys.ts'
import { int, statement, text } from '../src/domain/sql.ts'
import { createDatabase } from '../src/platform/database/database.ts'
import { developmentKey } from '../src/platform/embedded/embedded-anvil.ts'
import { runAnnal } from '../test/support/annal-command.ts'
import { until } from '../test/support/eventually.ts'
import { type MailServer, startMailServer } from '../test/support/mail-server.ts'
import { mailsOf } from '../test/support/read-mails.ts'
import { secondKey } from './harness/chain-scene.ts'
import { createGateway, type Gateway } from './harness/gateway.ts'
import { type Parts, silent, startParts } from './harness/parts.ts'
import { askReset, mailsAway, signUp } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { runSql } from './harness/run-sql.ts'
import { startWork, type Work } from './harness/work.ts'

const DATABASE = 'rotated'
const EARLIER_KEY = '11'.repeat(32)
const LATER_KEY = '22'.repeat(32)
const TOKENS = { earlier: 'the-earlier-token-of-metrics', later: 'the-later-token-of-metrics' }

interface Scene extends Work {
  context: ProofContext
  /** On the database that the gateways use; as the one who rules the server. */
  parts: Parts
  gateways: Gateway[]
  /** What a gateway is started with the next time. */
  env: Record<string, string>
  mailServers: Record<'earlier' | 'later', MailServer>
  restarts: number
  /** When a password had been exchanged at the server, and not yet at every gateway. */
  between: { from: number; to: number }
}

/** Changes a secret, and returns what is wrong afterwards. */
type Rotation = (scene: Scene) => Promise<string[]>

const rotations: Record<string, Rotation> = {
  'DATABASE_URL, with a second role': rotateRole,
  'DATABASE_URL, with another password': rotatePassword,
  CHAIN_RELAY_KEYS: rotateRelayKey,
  KEY_ENCRYPTION_KEY: rotateKeyEncryptionKey,
  SMTP_URL: rotateSmtp,
  METRICS_TOKEN: rotateMetricsToken,
}

export async function proveRotatedSecrets(context: ProofContext): Promise<ProofResult> {
  const scene = await openScene(context)
  const reasons: string[] = []
  for (const name of context.random.fork('order').shuffle(Object.keys(rotations))) {
    const before = scene.acknowledged.commits.length
    const found = await rotations[name]!(scene)
    reasons.push(...found.map((reason) => `${name}: ${reason}`))
    context.say(`${name}: ${scene.acknowledged.commits.length - before} changes were made meanwhile`)
  }
  const judged = await scene.judge([200, 503, 0])
  reasons.push(...judged.reasons, ...judgeProbes(scene), ...(await catchHaste(scene)))
  const count = (wanted: number) => scene.probes.filter(({ status }) => status === wanted).length
  return conclude({
    figure: `${judged.lost} lost, ${judged.double} double; of ${scene.probes.length} probes ${count(503)} were told 503 while a password was exchanged, ${count(0)} found nobody`,
    n: scene.acknowledged.commits.length,
    faultsInjected: scene.restarts,
    reasons,
  })
}

/** Only while a password is being exchanged is anybody told 503; who came just as a gateway went may find nobody there. */
function judgeProbes({ probes, restarts, between }: Scene): string[] {
  const refused = probes.filter(
    ({ at, took, status }) => status === 503 && (at < between.from || at - took > between.to),
  )
  const unanswered = probes.filter(({ status }) => status === 0)
  return [
    ...(refused.length > 0 ? [`${refused.length} probes were told 503, though no password was being exchanged.`] : []),
    ...(unanswered.length > 2 * restarts ? [`${unanswered.length} probes at ${restarts} restarts had no answer.`] : []),
  ]
}

/** Gateways that sign in to a database of their own, as a role that may do nothing else. */
async function openScene(context: ProofContext): Promise<Scene> {
  const server = await startParts(context)
  await runSql(server.database, `create role first login password 'first'`)
  await runSql(server.database, `create database ${DATABASE} owner first`)
  const database = createDatabase({ url: server.urlOf(DATABASE), pool: 4, log: silent })
  context.afterwards(() => database.close())
  const parts = { ...server, database, databaseUrl: server.urlOf(DATABASE) }
  const mailServers = {
    earlier: await startMailServer(context.afterwards),
    later: await startMailServer(context.afterwards),
  }
  const env = {
    ...server.env,
    DATABASE_URL: urlOf(parts, 'first', 'first'),
    KEY_ENCRYPTION_KEY: EARLIER_KEY,
    SMTP_URL: mailServers.earlier.url,
    METRICS_TOKEN: TOKENS.earlier,
  }
  const gateways: Gateway[] = []
  for (const name of ['gateway-0', 'gateway-1']) gateways.push(await createGateway(context, name, env))
  // One after the other: the first one writes what both need.
  for (const gateway of gateways) await gateway.start()
  return {
    context,
    parts,
    gateways,
    env,
    mailServers,
    restarts: 0,
    between: { from: 0, to: 0 },
    ...(await startWork(context, parts, gateways)),
  }
}

function urlOf({ databaseUrl }: Parts, role: string, password: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  url.password = password
  return url.href
}

/** Exchanges what `env` names, at one gateway after the other. */
async function restart(scene: Scene, env: Record<string, string | undefined>): Promise<string[]> {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete scene.env[name]
    else scene.env[name] = value
  }
  const codes: (number | null)[] = []
  for (const gateway of scene.gateways) {
    codes.push(await gateway.stop())
    await gateway.start()
    scene.restarts += 1
  }
  // Each of them serves before the next thing is done.
  const from = scene.acknowledged.commits.length
  await until('changes are made after the restarts', () => scene.acknowledged.commits.length > from + 5, 60_000)
  return codes.some((code) => code !== 0) ? [`Gateways ended with ${codes.join(' and ')}.`] : []
}

const sessions = statement(
  'proof_sessions_of',
  { parameters: { role: text }, columns: { count: int } },
  'select count(*)::int as count from pg_stat_activity where usename = $role',
)

async function canSignIn(url: string): Promise<boolean> {
  const database = createDatabase({ url, pool: 1, log: silent })
  try {
    await runSql(database, 'select 1')
    return true
  } catch {
    return false
  } finally {
    await database.close()
  }
}

async function rotateRole(scene: Scene): Promise<string[]> {
  const { parts, env } = scene
  const earlier = new URL(env.DATABASE_URL!)
  await runSql(parts.database, `create role second login password 'second'`)
  await runSql(parts.database, `grant ${earlier.username} to second`)
  const reasons = await restart(scene, { DATABASE_URL: urlOf(parts, 'second', 'second') })
  await runSql(parts.database, `alter role ${earlier.username} nologin`)
  const [left] = await parts.database.query(sessions, { role: earlier.username })
  if (left?.count !== 0) reasons.push(`${left?.count} sessions of the earlier role are left.`)
  if (await canSignIn(earlier.href)) reasons.push('The earlier role can still sign in.')
  return reasons
}

/** A role has one password: until a gateway is restarted it can open no further connection, and tells so. */
async function rotatePassword(scene: Scene): Promise<string[]> {
  const { parts, env } = scene
  const earlier = env.DATABASE_URL!
  const { username } = new URL(earlier)
  scene.between.from = performance.now()
  await runSql(parts.database, `alter role ${username} password 'another'`)
  const reasons = await restart(scene, { DATABASE_URL: urlOf(parts, username, 'another') })
  scene.between.to = performance.now()
  if (await canSignIn(earlier)) reasons.push('The earlier password still opens the database.')
  return reasons
}

const underWay = statement(
  'proof_lane_under_way',
  { parameters: { lane: text }, columns: { count: int } },
  `select count(*)::int as count from commit_relays where lane = $lane and status <> 'FINAL'`,
)
const carried = statement(
  'proof_lane_carried',
  { parameters: { lane: text }, columns: { count: int } },
  `select count(*)::int as count from commit_relays where lane = $lane`,
)

async function rotateRelayKey(scene: Scene): Promise<string[]> {
  const { database } = scene.parts
  const [earlier, later] = [createRelayAccount(developmentKey).address, createRelayAccount(secondKey).address]
  const count = async (query: typeof carried, lane: string) => (await database.query(query, { lane }))[0]!.count
  const reasons = await restart(scene, { CHAIN_RELAY_KEYS: `${developmentKey},${secondKey}` })
  await until('the later account carries commits', async () => (await count(carried, later)) > 0, 60_000)
  reasons.push(...(await restart(scene, { CHAIN_RELAY_KEYS: secondKey })))
  await until(
    'nothing of the earlier account is under way',
    async () => (await count(underWay, earlier)) === 0,
    120_000,
  )
  const before = [await count(carried, earlier), await count(carried, later)]
  await until('the later account carries more', async () => (await count(carried, later)) > before[1]!, 60_000)
  if ((await count(carried, earlier)) !== before[0]) reasons.push('The earlier account still carries commits.')
  return reasons
}

async function rotateKeyEncryptionKey(scene: Scene): Promise<string[]> {
  const { context, env } = scene
  const annal = (...args: string[]) => runAnnal(context.dir, args, { env })
  const reasons = await restart(scene, { KEY_ENCRYPTION_KEY_PREVIOUS: LATER_KEY })
  reasons.push(...(await restart(scene, { KEY_ENCRYPTION_KEY: LATER_KEY, KEY_ENCRYPTION_KEY_PREVIOUS: EARLIER_KEY })))
  const { code, stderr } = await annal('keys', 'rotate')
  if (code !== 0) reasons.push(`annal keys rotate ended with ${code}: ${stderr}`)
  return [...reasons, ...(await restart(scene, { KEY_ENCRYPTION_KEY_PREVIOUS: undefined }))]
}

async function rotateSmtp(scene: Scene): Promise<string[]> {
  const { gateways, parts, mailServers } = scene
  const person = await signUp(gateways[0]!, 'forgetful')
  scene.acknowledged.signUps.push('forgetful')
  const ask = async (server: MailServer) => {
    const before = server.mails.length
    await askReset(gateways[1]!, person.email)
    await mailsAway(parts.database)
    return mailsOf(server, 'password-reset', { skip: before }).length
  }
  const reasons = (await ask(mailServers.earlier)) === 1 ? [] : ['No mail came before the exchange.']
  reasons.push(...(await restart(scene, { SMTP_URL: mailServers.later.url })))
  const before = mailServers.earlier.visits
  if ((await ask(mailServers.later)) !== 1) reasons.push('No mail came to the later server.')
  if (mailServers.earlier.visits !== before) reasons.push('The earlier server was asked again.')
  return reasons
}

async function rotateMetricsToken(scene: Scene): Promise<string[]> {
  const read = async (token: string) => {
    const answers = scene.gateways.map(({ url }) =>
      fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } }),
    )
    return (await Promise.all(answers)).map(({ status }) => status).join()
  }
  const reasons = await restart(scene, { METRICS_TOKEN: TOKENS.later })
  if ((await read(TOKENS.later)) !== '200,200') reasons.push('The later token does not read the metrics.')
  if ((await read(TOKENS.earlier)) !== '401,401') reasons.push('The earlier token was not refused.')
  return reasons
}

/** The control: a role whose sign-in is taken away before the exchange. A caller must be seen to be refused. */
async function catchHaste({ gateways, parts, env }: Scene): Promise<string[]> {
  const gateway = gateways[0]!
  await gateway.start()
  const { username } = new URL(env.DATABASE_URL!)
  await runSql(parts.database, `alter role ${username} nologin`)
  await runSql(parts.database, 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [username])
  const { status } = await askReset(gateway, 'nobody@example.org')
  return status === 201 ? ['The control was not caught: a role was taken away, and nobody was refused.'] : []
}
