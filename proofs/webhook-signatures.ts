/**
 * Webhook signatures: the libraries that receivers use verify every call of the sender, and refuse it when one byte of its
 * body, id, time or signature is another. While a secret is rotated, a call carries two signatures.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createWebhookSender } from '../src/delivery/webhook-sender.ts'
import { toId } from '../src/domain/ids.ts'
import { type ReceivedCall, startReceiver } from '../test/support/receiver.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'

interface Signed {
  /** The secrets it was signed with. */
  secrets: string[]
  headers: Record<string, string>
  body: Buffer
}

/** Raises when it refuses. */
type Verify = (secret: string, signed: Signed) => unknown

const verifiers: Record<string, Verify> = {
  standardwebhooks: (secret, { headers, body }) => new StandardWebhook(secret).verify(body.toString(), headers),
  svix: (secret, { headers, body }) => new SvixWebhook(secret).verify(body.toString(), headers),
}

const AT_ONCE = 20
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`

export async function proveSignatures(context: ProofContext): Promise<ProofResult> {
  const count = context.setting('CALLS', 1_000)
  const random = context.random.fork('bytes')
  const calls = await collect(context, random, count, 1)
  const rotated = await collect(context, random, Math.ceil(count / 10), 2)
  const mutants = calls.map((call) => mutate(random, call))

  const reasons = [...judge('', verifiers, calls, mutants), ...judgeRotation(rotated)]
  reasons.push(...catchCareless(calls, mutants))
  return conclude({
    figure: `${accepted(verifiers, calls)} verified and ${2 * count - accepted(verifiers, mutants)} refused of ${2 * count} each`,
    n: calls.length + rotated.length,
    faultsInjected: mutants.length,
    reasons,
  })
}

/** Calls of the real sender, as they came in. */
async function collect(context: ProofContext, random: Random, count: number, secretsEach: number): Promise<Signed[]> {
  const receiver = await startReceiver(context.afterwards)
  const sender = createWebhookSender({ allowInsecure: true })
  const secretsOf = new Map<string, string[]>()
  const sendOne = async () => {
    const id = toId('event', crypto.randomUUID())
    const secrets = Array.from({ length: secretsEach }, newSecret)
    secretsOf.set(id, secrets)
    const note = `照片 ${'ß'.repeat(random.below(200))}`
    const body = JSON.stringify({ type: 'order.paid', timestamp: new Date().toISOString(), data: { id, note } })
    const { failure } = await sender.send({ url: receiver.url, id, at: new Date(), body, secrets, redacted: [] })
    if (failure) throw new Error(failure)
  }
  for (let sent = 0; sent < count; sent += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - sent) }, sendOne))
  receiver.close()
  return receiver.calls.map((call) => ({ secrets: secretsOf.get(call.id)!, ...signedOf(call) }))
}

const signedOf = ({ headers, bytes }: ReceivedCall) => ({ headers: headers as Record<string, string>, body: bytes })

/** The same with one byte changed: of the body as often as of a header that is signed or signs. */
function mutate(random: Random, { secrets, headers, body }: Signed): Signed {
  const change = (bytes: Buffer) => {
    const changed = Buffer.from(bytes)
    const at = random.below(changed.length)
    changed[at] = changed[at]! ^ (1 + random.below(127))
    return changed
  }
  if (random.below(2) === 0) return { secrets, headers, body: change(body) }
  const name = random.pick(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
  const value = change(Buffer.from(headers[name]!, 'latin1')).toString('latin1')
  return { secrets, headers: { ...headers, [name]: value }, body }
}

const accepts = (verify: Verify, secret: string, signed: Signed) => {
  try {
    verify(secret, signed)
    return true
  } catch {
    return false
  }
}

/** How many times one of the verifiers took a call, with the secret it was signed with first. */
const accepted = (by: Record<string, Verify>, calls: readonly Signed[]) =>
  Object.values(by).reduce(
    (sum, verify) => sum + calls.filter((call) => accepts(verify, call.secrets[0]!, call)).length,
    0,
  )

/** A sentence for each verifier that refuses what is right or takes what is not. */
function judge(what: string, by: Record<string, Verify>, calls: readonly Signed[], mutants: readonly Signed[]) {
  const reasons: string[] = []
  for (const [name, verify] of Object.entries(by)) {
    const verified = accepted({ name: verify }, calls)
    const taken = accepted({ name: verify }, mutants)
    if (verified !== calls.length) reasons.push(`${name}${what} verified ${verified} of ${calls.length}.`)
    if (taken > 0) reasons.push(`${name}${what} took ${taken} of ${mutants.length} that were changed.`)
    if (accepts(verify, newSecret(), calls[0]!)) reasons.push(`${name}${what} took a secret that signed nothing.`)
  }
  return reasons
}

/** Either secret verifies a call that was made during a rotation. */
function judgeRotation(calls: readonly Signed[]): string[] {
  const reasons: string[] = []
  const wrong = calls.filter(({ headers }) => headers['webhook-signature']!.split(' ').length !== 2)
  if (wrong.length) reasons.push(`${wrong.length} calls of a rotation do not carry two signatures.`)
  for (const [name, verify] of Object.entries(verifiers)) {
    const refused = calls.filter((call) => !call.secrets.every((secret) => accepts(verify, secret, call)))
    if (refused.length) reasons.push(`${name} refused one of two secrets of ${refused.length} calls of a rotation.`)
  }
  return reasons
}

/** The controls: a signature over the body alone must be seen to let changes through, and a body written anew to fail. */
function catchCareless(calls: readonly Signed[], mutants: readonly Signed[]): string[] {
  const hash = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('base64')
  const resign = (signed: Signed, body: Buffer): Signed => ({
    ...signed,
    headers: { ...signed.headers, 'body-signature': hash(signed.secrets[0]!, body) },
  })
  const bodyOnly: Verify = (secret, { headers, body }) => {
    if (headers['body-signature'] !== hash(secret, body)) throw new Error('refused')
  }
  const signedByBody = mutants.map((mutant, index) => resign(mutant, calls[index]!.body))
  const careless = judge(
    ' (control)',
    { bodyOnly },
    calls.map((call) => resign(call, call.body)),
    signedByBody,
  )

  const rewritten = calls.map((call) => ({
    ...call,
    body: Buffer.from(JSON.stringify(JSON.parse(call.body.toString()), null, 1)),
  }))
  const isCaught = careless.some((reason) => reason.includes('were changed'))
  return [
    ...(isCaught ? [] : ['The control was not caught: a signature over the body alone.']),
    ...(accepted(verifiers, rewritten) === 0 ? [] : ['The control was not caught: a body written anew is verified.']),
  ]
}
