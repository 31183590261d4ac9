/**
 * Storage of secrets: what the tables hold of passwords, tokens and keys, how few hashes run at once, and what a reset
 * token is good for. Each rule is held against the service at its front door, and against a state that breaks it.
 */
import { createHash, randomBytes } from 'node:crypto'
import { statement, text } from '../src/domain/sql.ts'
import { until } from '../test/support/eventually.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { linkIn, mailsOf } from '../test/support/read-mails.ts'
import { createFinder } from './harness/canaries.ts'
import { createGateway } from './harness/gateway.ts'
import { growWithoutQueue, type Storm, storm } from './harness/hash-storm.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { dumpTables } from './harness/remains.ts'
import { breakRules, judgeResets, type ResetScene } from './harness/reset-rules.ts'
import { judgeSample, type SampleRules } from './harness/secret-samples.ts'
import { createTranscript } from './harness/transcript.ts'

const ARGON2 = /^\$argon2id\$v=19\$m=65536,t=2,p=1\$([\w+/]{22})\$[\w+/]{43}$/
/** Two hashes, and what five hundred connections take. */
const MOST_GROWTH = 2 * 64 + 64
const QUEUE = 120
const ACCOUNTS = 25
const RESETS_EACH = 4

const samples = {
  token: { name: 'access token', form: /^[0-9a-f]{40}$/, bytesOf: (text) => Buffer.from(text, 'hex'), bits: 160 },
  key: {
    name: 'API key',
    form: /^[0-9a-f]{8}\.[\w-]{32}$/,
    bytesOf: (text) => Buffer.from(text.slice(9), 'base64url'),
    bits: 160,
  },
  reset: { name: 'reset token', form: /^[\w-]{43}$/, bytesOf: (text) => Buffer.from(text, 'base64url'), bits: 256 },
} satisfies Record<string, SampleRules>

const findHashes = statement('proof_hashes', { columns: { hash: text } }, 'select password_hash as hash from users')
const findStored = statement(
  'proof_stored',
  { columns: { hash: text } },
  `select encode(hash, 'hex') as hash from access_tokens union all select encode(hash, 'hex') from api_keys
   union all select encode(hash, 'hex') from one_time_tokens`,
)
const appoint = statement('proof_appoint', {}, `update users set role = 'ADMIN' where username = 'owner0'`)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export async function proveStorage(context: ProofContext): Promise<ProofResult> {
  const count = context.setting('SAMPLES', 200)
  const tries = context.setting('SIGN_INS', 500)
  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const gateway = await createGateway(context, 'gateway', {
    ...parts.env,
    SMTP_URL: `smtp://annal:secret@127.0.0.1:${mailServer.port}`,
    LIMIT_REQUESTS_PER_IP: '1000000',
    LIMIT_REQUESTS_PER_TOKEN: '1000000',
  })
  await gateway.start()
  const transcript = createTranscript(gateway.url)
  const post = (path: string, body: object, headers = {}) =>
    transcript.ask({
      path: `/api/v3/${path}`,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  // What so many connections and warm code take is there before. Nothing was hashed yet that the process could have kept memory of.
  await Promise.all(Array.from({ length: tries }, () => me('none')))
  const stormed = await storm(transcript, gateway.pid()!, tries)
  const reasons = judgeStorm(stormed, tries)
  context.say(`${tries} sign-ins at once: ${JSON.stringify(stormed)}`)

  const owners = Array.from({ length: ACCOUNTS }, (_, index) => `owner${index}`)
  const emailOf = (name: string) => `${name}@example.org`
  const password = 'the same for everybody'
  for (const username of owners) await post('auth/users/', { username, email: emailOf(username), password })
  await parts.database.query(appoint)
  const tokens: string[] = []
  for (let index = 0; index < count; index += 1) {
    // Half of them are made anew from the attempt's mark.
    const headers = index % 2 ? { 'idempotency-key': `token ${index}` } : {}
    const login = { email: emailOf(owners[index % ACCOUNTS]!), password }
    tokens.push((await post('auth/token/login/', login, headers)).body.auth_token as string)
  }
  const keys: string[] = []
  for (let index = 0; index < count; index += 1) {
    const headers = { authorization: `token ${tokens[0]}`, ...(index % 2 && { 'idempotency-key': `key ${index}` }) }
    keys.push((await post('store/api-keys/', { name: `key ${index}` }, headers)).body.key as string)
  }
  reasons.push(...judgeSample(tokens, samples.token), ...judgeSample(keys, samples.key))
  reasons.push(...(await refuseLookalikes(tokens[0]!, (token) => me(token))))
  async function me(token: string) {
    return (
      await transcript.ask({
        method: 'GET',
        path: '/api/v3/auth/users/me/',
        headers: { authorization: `token ${token}` },
      })
    ).status
  }

  const resets: string[] = []
  const newReset = async (email: string) => {
    await post('auth/users/reset_password/', { email })
    const link = await until('a mail with a link', () => {
      const mail = mailsOf(mailServer, 'password-reset', { to: email }).at(-1)
      const found = mail && linkIn(mail)
      return found && !resets.includes(found.token) && found
    })
    resets.push(link.token)
    return link
  }
  const scene: ResetScene = { database: parts.database, me, newReset, post, password, emailOf }
  for (let round = 0; round < RESETS_EACH; round += 1)
    await Promise.all(owners.slice(0, -5).map((name) => newReset(emailOf(name))))
  const stored = new Set((await parts.database.query(findStored)).map(({ hash }) => hash))
  const newest = resets.slice(-20)
  const missing = [...tokens, ...keys, ...newest].filter((secret) => !stored.has(sha256(secret)))
  if (missing.length) reasons.push(`${missing.length} secrets are not stored as their SHA-256.`)
  reasons.push(...(await judgeResets(scene, owners.slice(-5))))
  while (resets.length < 100) await newReset(emailOf(owners[resets.length % 20]!))
  reasons.push(...judgeSample(resets, samples.reset))

  const hashes = (await parts.database.query(findHashes)).map(({ hash }) => hash)
  reasons.push(...judgeHashes(hashes))
  const secrets = [...tokens, ...keys, ...resets]
  const canaries = secrets.map((text, index) => ({ name: `secret ${index}`, text }))
  const finder = createFinder([...canaries, { name: 'password', text: password }])
  const clear = (await dumpTables(parts.database)).flatMap((table) => finder.find(table))
  for (const { place, around } of clear.slice(0, 5)) reasons.push(`A secret stands in ${place}: ${around}`)

  reasons.push(...catchBadSamples(count), ...catchBadHashes(hashes), ...(await breakRules(scene, owners[0]!)))
  const leaked = Buffer.from(`(${tokens[0]})(${keys[0]})`)
  if (finder.find({ place: '', bytes: leaked }).length < 2)
    reasons.push('The control was not caught: secrets in a table.')
  const unbounded = await growWithoutQueue(12)
  context.say(`control: ${Math.round(unbounded)} MiB more without a queue`)
  if (judgeStorm({ ...stormed, growth: unbounded }, tries).length === 0)
    reasons.push('The control was not caught: hashes without a queue.')

  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${stormed.putOff} of ${tries} sign-ins put off, ${Math.round(stormed.growth)} MiB more; ${clear.length} of ${secrets.length} secrets in the clear`,
    n: tries + secrets.length + hashes.length,
    faultsInjected: tries - QUEUE,
    reasons,
  })
}

function judgeStorm({ checked, putOff, surprises, growth }: Storm, tries: number): string[] {
  const reasons = surprises.map((answer) => `A sign-in was answered with ${answer}.`)
  if (checked + putOff !== tries) reasons.push(`${checked} were checked and ${putOff} put off, of ${tries}.`)
  if (putOff === 0) reasons.push('Nobody was put off: the run is invalid.')
  if (checked < QUEUE) reasons.push(`${checked} sign-ins were checked; ${QUEUE} may wait.`)
  if (growth > MOST_GROWTH) reasons.push(`${Math.round(growth)} MiB more: more than two hashes ran at once.`)
  return reasons
}

/** A sentence for each rule that stored password hashes break. */
function judgeHashes(hashes: readonly string[]): string[] {
  const salts = hashes.flatMap((hash) => ARGON2.exec(hash)?.[1] ?? [])
  const reasons: string[] = []
  if (hashes.length === 0) reasons.push('No password is stored: the run is invalid.')
  if (salts.length !== hashes.length)
    reasons.push(`${hashes.length - salts.length} passwords are not argon2id with 64 MiB, t = 2, p = 1.`)
  if (new Set(salts).size !== salts.length) reasons.push('Two passwords have the same salt.')
  return reasons
}

/** What is nearly a token is none. */
async function refuseLookalikes(token: string, me: (token: string) => Promise<number>): Promise<string[]> {
  const flip = (at: number) => token.slice(0, at) + (token[at] === '0' ? '1' : '0') + token.slice(at + 1)
  const hash = createHash('sha256').update(token).digest()
  const others = [
    ...Array.from(token, (_, at) => flip(at)),
    ...[token.slice(1), token.slice(0, -1), `${token}0`, `0${token}`, `${token}%00`],
    ...(/[a-f]/.test(token) ? [token.toUpperCase()] : []),
    ...[hash.toString('hex'), hash.toString('base64'), `\\x${hash.toString('hex')}`],
  ]
  const statuses = await Promise.all(others.map(me))
  const taken = statuses.filter((status) => status !== 401).length
  const whole = await me(token)
  return [
    ...(taken ? [`${taken} of ${others.length} texts that are no token were taken for one.`] : []),
    ...(whole === 200 ? [] : [`The token itself was answered with ${whole}: the run is invalid.`]),
  ]
}

/** The controls: secrets that are short, made from a clock, uneven, or one of which comes twice. */
function catchBadSamples(count: number): string[] {
  const many = (make: (index: number) => string) => Array.from({ length: count }, (_, index) => make(index))
  const hex = (bytes: number) => randomBytes(bytes).toString('hex')
  const bad = {
    'short tokens': many(() => hex(16)),
    'tokens that begin with the time': many(() => Date.now().toString(16).padStart(12, '0') + hex(14)),
    'tokens of decimal digits': many(() => Array.from(randomBytes(40), (byte) => byte % 10).join('')),
    'a token that comes twice': many((index) => (index < 2 ? 'ab'.repeat(20) : hex(20))),
  }
  return Object.entries(bad).flatMap(([what, sample]) =>
    judgeSample(sample, samples.token).length ? [] : [`The control was not caught: ${what}.`],
  )
}

function catchBadHashes(hashes: readonly string[]): string[] {
  const [first] = hashes
  const bad = [
    first!.replace('argon2id', 'argon2i'),
    first!.replace('m=65536', 'm=19456'),
    first!.replace('t=2', 't=1'),
    createHash('sha256').update('x').digest('hex'),
    hashes[1]!.replace(ARGON2.exec(hashes[1]!)![1]!, ARGON2.exec(first!)![1]!),
  ]
  return bad.flatMap((hash) => (judgeHashes([first!, hash]).length ? [] : [`The control was not caught: ${hash}.`]))
}
