/** F24: uploads that lie, never end, are malformed or call themselves paths are refused soon, and cost memory and disk nothing. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../test/support/eventually.ts'
import { BOUNDARY, formEnd, formType, part, partHead, registrationByGraphQL } from '../test/support/form-parts.ts'
import { trySend } from '../test/support/http-client.ts'
import { callRaw, chunk, type RawAnswer } from '../test/support/raw-http.ts'
import { startCarelessUploads } from './harness/careless-uploads.ts'
import { createGateway } from './harness/gateway.ts'
import { holdingsOf } from './harness/holdings.ts'
import { residentMemory, watchMemory } from './harness/memory.ts'
import { brokenInvariants, startParts } from './harness/parts.ts'
import { signIn, signUp } from './harness/people.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import type { Random } from './harness/random.ts'
import { randomBytes } from './harness/random-bytes.ts'

/** Milliseconds from the moment that something is known to be wrong. */
const MOST_WAIT = 2_000
/** MiB above a warm gateway. */
const MOST_MEMORY = 64
const MIB = 1 << 20
/** What one file may have, in bytes. */
const LIMIT = 250_000_000
const REFUSALS = new Set([400, 413, 415])

const piece = Buffer.alloc(MIB, 'x')

/** A file of so many MiB, chunked or not; `onLimit` is called when more than is allowed was written. */
function* endless(head: string, mebibytes: number, isChunked: boolean, onLimit: () => void) {
  const wrap = (bytes: Buffer) => (isChunked ? chunk(bytes) : bytes)
  yield wrap(Buffer.from(head))
  const wrapped = wrap(piece)
  for (let i = 1; i <= mebibytes; i += 1) {
    if ((i - 1) * MIB <= LIMIT && i * MIB > LIMIT) onLimit()
    yield wrapped
  }
}

interface Liar {
  name: string
  isChunked: boolean
  /** Bytes that it says it has. */
  declared: number | undefined
  byGraphQL: boolean
}

/** By turns: says that it is too large; does not say; says less than it sends. */
const liars = (count: number, mebibytes: number): Liar[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `liar${i}`,
    isChunked: i % 4 === 1 || i % 4 === 2,
    declared: i % 4 === 0 ? mebibytes * MIB + 500 : i % 4 === 3 ? 1_000 : undefined,
    byGraphQL: i % 8 > 3,
  }))

/** Bodies that are no form, or a strange one. */
const malformed = (random: Random): [string, string, string | Buffer][] => [
  ['no boundary', 'multipart/form-data', `${partHead('asset_file', 'a')}x${formEnd}`],
  ['an empty boundary', 'multipart/form-data; boundary=', `${partHead('asset_file', 'a')}x${formEnd}`],
  ['another boundary', 'multipart/form-data; boundary=other', `${partHead('asset_file', 'a')}x${formEnd}`],
  ['a boundary of 10,000', `multipart/form-data; boundary=${'b'.repeat(10_000)}`, 'x'],
  ['two types', `${formType}, application/json`, '{}'],
  ['nothing but a boundary', formType, `--${BOUNDARY}`],
  ['nothing but the end', formType, formEnd],
  ['no end', formType, `${partHead('asset_file', 'a')}x`],
  ['a part without headers', formType, `--${BOUNDARY}\r\n\r\nx${formEnd}`],
  ['a part without a name', formType, `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx${formEnd}`],
  ['an attachment', formType, `--${BOUNDARY}\r\nContent-Disposition: attachment; filename="a"\r\n\r\nx${formEnd}`],
  ['a header of 200 KB', formType, `--${BOUNDARY}\r\nX: ${'x'.repeat(200_000)}\r\n\r\nx${formEnd}`],
  ['200 headers', formType, `--${BOUNDARY}\r\n${'X: y\r\n'.repeat(200)}\r\nx${formEnd}`],
  ['line feeds alone', formType, partHead('asset_file', 'a').replaceAll('\r', '') + formEnd.replaceAll('\r', '')],
  ['a form in a form', formType, `${part('a', partHead('asset_file', 'b'))}${formEnd}`],
  ['a preamble of 2 MB', formType, 'x'.repeat(2_000_000)],
  ['chance', formType, randomBytes(random, 300_000)],
  [
    'chance after a file',
    formType,
    Buffer.concat([Buffer.from(partHead('asset_file', 'a')), randomBytes(random, 300_000)]),
  ],
  ['a thousand parts', formType, Array.from({ length: 1_000 }, (_, i) => part(`f${i}`, 'x')).join('') + formEnd],
  ['a file of no bytes', formType, `${partHead('asset_file', 'a')}${formEnd}`],
  [
    'a file twice',
    formType,
    `${partHead('asset_file', 'a')}x\r\n${partHead('asset_file', 'a')}${'y'.repeat(2_000_000)}${formEnd}`,
  ],
  ['a file in XML', 'application/xml', '<file/>'],
  ['a file alone', 'image/png', Buffer.from('\x89PNG')],
  ['JSON for a file', 'application/json', '{"asset_file":"x"}'],
  ['a type of its own', 'multipart/mixed; boundary=x', '--x--'],
]

/** Names that are paths, or no names. */
const names = (canary: string) => [
  `../../${canary}`,
  `..\\\\..\\\\${canary}`,
  `/tmp/${canary}`,
  `C:\\\\${canary}`,
  `%2e%2e%2f${canary}`,
  `${canary}%00.png`,
  '..',
  '.',
  '',
  `${'long'.repeat(200)}${canary}`,
  `${canary}\u202egnp.exe`,
]

/** Types that are not what the bytes are. */
const types = [
  'text/html',
  'application/json',
  'image/svg+xml',
  'application/x-www-form-urlencoded',
  'nothing',
  'a/b; charset="x',
]

/** Files below a directory, but for blocks, the database and the logs of gateways. */
async function strayFiles(dir: string): Promise<string[]> {
  const found = await readdir(dir, { recursive: true })
  return found.filter((path) => !/^(blocks|postgres|keys|mail)(\/|$)|\.log$/.test(path)).sort()
}

const tell = ({ status, body }: RawAnswer) => `${status} ${body.slice(0, 150)}`

export async function proveUploads(context: ProofContext): Promise<ProofResult> {
  const { dir, random, say, setting } = context
  const mebibytes = setting('MIB', 1_024)
  const count = setting('UPLOADS', 20)
  const parts = await startParts(context)
  const gateway = await createGateway(context, 'gateway', { ...parts.env, LIMIT_UPLOADS_PER_USER: '100000' })
  await gateway.start()
  const pid = gateway.pid()!
  const reasons: string[] = []
  const canary = `canary${random.below(1_000_000)}`
  let n = 0

  const send = (
    token: string,
    byGraphQL: boolean,
    pieces: Iterable<Buffer>,
    headers: Record<string, string | number>,
  ) =>
    callRaw({
      url: gateway.url,
      method: 'POST',
      path: byGraphQL ? '/graphql' : '/api/v3/assets/',
      headers: {
        authorization: `token ${token}`,
        'graphql-require-preflight': '1',
        accept: 'application/json',
        'content-type': formType,
        ...headers,
      },
      pieces,
      end: 'wait',
    })

  const headOf = ({ byGraphQL, name }: Pick<Liar, 'byGraphQL' | 'name'>) =>
    byGraphQL ? registrationByGraphQL + partHead('0', name) : partHead('asset_file', name)

  async function lie(token: string, liar: Liar): Promise<{ answer: RawAnswer; wait: number }> {
    let wrongAt = performance.now()
    const begun = performance.now()
    const pieces = endless(headOf(liar), mebibytes, liar.isChunked, () => {
      wrongAt = performance.now()
    })
    const length: Record<string, string | number> = liar.isChunked
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': liar.declared ?? 0 }
    const answer = await send(token, liar.byGraphQL, pieces, length)
    return { answer, wait: begun + answer.milliseconds - wrongAt }
  }

  const folks = liars(count, mebibytes)
  const tokens: string[] = []
  for (const { name } of folks) tokens.push(await signIn(gateway, await signUp(gateway, name)))
  const good = async (size: number, name: string, type = 'image/png') => {
    const body = Buffer.concat([
      Buffer.from(partHead('asset_file', name, type)),
      randomBytes(random, size),
      Buffer.from(formEnd),
    ])
    return send(tokens[0]!, false, [body], { 'content-length': body.length })
  }

  // Warm: what is let in, and a round of what is not.
  const warm = Array.from({ length: 8 }, () => good(32 * MIB, 'warm.png'))
  for (const answer of await Promise.all(warm)) {
    if (answer.status !== 201) reasons.push(`A good upload was refused: ${tell(answer)}`)
  }
  await Promise.all(folks.slice(0, 4).map((liar, i) => lie(tokens[i]!, liar)))
  const straysBefore = await strayFiles(dir)
  const base = await residentMemory(pid)
  const memory = watchMemory(pid)

  let slowest = 0
  await Promise.all(
    folks.map(async (liar, i) => {
      const { answer, wait } = await lie(tokens[i]!, liar)
      n += 1
      const isRefused = REFUSALS.has(answer.status) || /"(PAYLOAD_TOO_LARGE|PARSE_ERROR)"/.test(answer.body)
      if (!isRefused) reasons.push(`${JSON.stringify(liar)} was answered with ${tell(answer)}`)
      slowest = Math.max(slowest, wait)
      if (wait > MOST_WAIT) reasons.push(`${JSON.stringify(liar)} waited ${wait.toFixed(0)} ms for ${answer.status}.`)
    }),
  )
  const most = await memory.stop()
  const grown = most - base
  if (grown > MOST_MEMORY) reasons.push(`${count} uploads of ${mebibytes} MiB took ${grown.toFixed(0)} MiB of memory.`)
  say(
    `${count} uploads of ${mebibytes} MiB: ${grown.toFixed(0)} MiB above ${base.toFixed(0)} MiB, slowest refusal ${slowest.toFixed(0)} ms`,
  )

  let odd = 0
  for (const [what, type, content] of malformed(random)) {
    for (const byGraphQL of [false, true]) {
      const body = Buffer.from(content)
      const answer = await send(tokens[1]!, byGraphQL, [body], { 'content-type': type, 'content-length': body.length })
      n += 1
      odd += 1
      const isFine = REFUSALS.has(answer.status) || (answer.status < 300 && !answer.body.includes('"INTERNAL"'))
      if (!isFine || answer.status === 0) reasons.push(`${what} was answered with ${tell(answer)}`)
      if (answer.milliseconds > MOST_WAIT) reasons.push(`${what} waited ${answer.milliseconds.toFixed(0)} ms.`)
    }
  }

  for (const name of names(canary)) {
    const answer = await good(1_000, name)
    n += 1
    const told = answer.status === 201 ? (JSON.parse(answer.body) as { asset_file_name: string }).asset_file_name : ''
    if (answer.status !== 201 && answer.status !== 400)
      reasons.push(`The name ${name} was answered with ${tell(answer)}`)
    if (/[/\\\0]/.test(told)) reasons.push(`The name ${name} is kept as ${told}.`)
  }
  for (const type of types) {
    const answer = await good(1_000, 'a.png', type)
    n += 1
    if (answer.status !== 201 && answer.status !== 400)
      reasons.push(`The type ${type} was answered with ${tell(answer)}`)
    if (answer.status !== 201) continue
    const { cid } = JSON.parse(answer.body) as { cid: string }
    const file = await trySend(`${gateway.url}/ipfs/${cid}`, { token: tokens[0] })
    const shown = file.headers.get('content-type') ?? ''
    if (/html|svg|script/.test(shown)) reasons.push(`Bytes that call themselves ${type} are shown as ${shown}.`)
  }

  await until('uploads are let go', async () => (await holdingsOf(pid, join(dir, 'uploads'))).files.length === 0).catch(
    () => reasons.push('Uploads are left.'),
  )
  const strays = (await strayFiles(dir)).filter((path) => !straysBefore.includes(path))
  if (strays.length > 0) reasons.push(`Files are left outside the store: ${strays.slice(0, 5).join(', ')}.`)
  if (gateway.pid() !== pid || !gateway.isReady()) reasons.push('The gateway ended.')
  if ((await readFile(join(dir, 'gateway.log'), 'utf8')).includes('unexpected error'))
    reasons.push('The gateway logged a fault.')
  const code = await gateway.stop()
  if (code !== 0) reasons.push(`The gateway ended with ${code} on SIGTERM.`)

  const careless = join(dir, 'careless', 'uploads')
  const url = await startCarelessUploads(context, careless)
  const bytes = Buffer.from(`${partHead('asset_file', `../../${canary}`)}x${formEnd}`)
  const headers = { 'content-type': formType, 'content-length': bytes.length }
  await callRaw({ url, method: 'POST', path: '/', headers, pieces: [bytes], end: 'wait' })
  const escaped = (await strayFiles(dir)).filter((path) => path.endsWith(canary))
  if (escaped.length === 0) reasons.push('The control was not caught: no file escapes the careless reader.')
  say(`control: ${escaped.join(', ')}`)
  reasons.push(...(await brokenInvariants(parts.database)))
  return conclude({
    figure: `${count} uploads of ${mebibytes} MiB refused, slowest after ${slowest.toFixed(0)} ms, ${grown.toFixed(0)} MiB more; ${odd} malformed forms, ${strays.length} files outside the store; ${escaped.length} of the control`,
    n,
    faultsInjected: n,
    reasons: [...new Set(reasons)].slice(0, 20),
  })
}
