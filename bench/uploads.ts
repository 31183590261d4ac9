/**
 * `npm run bench -- uploads [--megabytes 64] [--rounds 9] [--dir …]`: the processors' time that an upload takes the gateway, beside a plain server of Node that hashes
 * what it is sent and writes it to the same disk, without a sync. Bytes go to the one and to the other in turn, and both keep them. Goal: the plain one takes .6 of ours
 * at least.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { median, ranByThreads } from './growth/clock.ts'
import { signIn, signUp, withGateway } from './one-gateway.ts'

const MEGABYTE = 2 ** 20
const GOAL = 0.6

/** Takes bodies, hashes them and keeps them. Tells its port. */
async function servePlain(dir: string) {
  mkdirSync(dir, { recursive: true })
  let count = 0
  const server = createServer(async (req, res) => {
    const hash = createHash('sha256')
    const file = join(dir, `plain-${count++}`)
    const hashing = async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        hash.update(chunk)
        yield chunk
      }
    }
    await pipeline(req, hashing, createWriteStream(file))
    res.end(hash.digest('hex'))
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as { port: number }).port}\n`))
}

/**
 * Touches so many bytes in a process that ends. On a virtual machine whose host takes free memory back, the first touch of a page of a file costs more than
 * all that is measured here, and hits whoever writes next.
 */
const touchMemory = (bytes: number) =>
  spawnSync(process.execPath, [
    '-e',
    `for (let left = ${bytes}; left > 0; left -= 2 ** 24) (globalThis.all ??= []).push(Buffer.alloc(2 ** 24, 1))`,
  ])

/** Sends the parts one after the other; the answer's text. */
async function send(url: string, headers: Record<string, string>, parts: readonly Buffer[]): Promise<string> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const sent = request(url, { method: 'POST', headers: { ...headers, 'Content-Length': String(length) } })
  const answered = new Promise<string>((resolve, reject) => {
    sent.on('error', reject).on('response', async (answer) => {
      let text = ''
      for await (const chunk of answer) text += chunk
      if ((answer.statusCode ?? 500) >= 300)
        reject(new Error(`${url} was answered with ${answer.statusCode}: ${text.slice(0, 300)}`))
      else resolve(text)
    })
  })
  await pipeline(Readable.from(parts), sent)
  return answered
}

const BOUNDARY = 'bench-boundary'
const head = Buffer.from(
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="asset_file"; filename="bytes.bin"\r\nContent-Type: application/octet-stream\r\n\r\n`,
)
const tail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

/** Measures and prints; exits with 1 when the goal is missed. */
export async function measureUploads(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      megabytes: { type: 'string', default: '64' },
      rounds: { type: 'string', default: '9' },
      dir: { type: 'string', default: '/tmp/annal-growth' },
    },
  })
  const limits = { LIMITS: 'upload=100000000,upload-megabytes=100000000' }
  await withGateway(values.dir, limits, async (gateway, afterwards) => {
    const script = [import.meta.filename, 'plain', join(values.dir, 'plain')]
    const plain = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    afterwards(async () => rmSync(join(values.dir, 'plain'), { recursive: true, force: true }))
    afterwards(async () => plain.kill())
    const port = await new Promise<string>((resolve) =>
      plain.stdout.once('data', (text) => resolve(String(text).trim())),
    )
    const token = await signIn(gateway.url, await signUp(gateway.url))
    const size = Number(values.megabytes) * MEGABYTE
    const took = { ours: [] as number[], plain: [] as number[] }
    const measure = async (pid: number, work: () => Promise<unknown>) => {
      const before = ranByThreads(pid)
      await work()
      return (ranByThreads(pid) - before) / 1e6
    }
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      const bytes = randomBytes(size)
      // What the plain one writes and the gateway writes twice, and as much again for what else is going on.
      touchMemory(6 * size)
      const parts = Array.from({ length: Math.ceil(size / MEGABYTE) }, (_, n) =>
        bytes.subarray(n * MEGABYTE, (n + 1) * MEGABYTE),
      )
      const plainly = await measure(plain.pid!, () => send(`http://127.0.0.1:${port}/`, {}, parts))
      const headers = { Authorization: `token ${token}`, 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }
      const ours = await measure(gateway.pid()!, () =>
        send(`${gateway.url}/api/v3/assets/`, headers, [head, ...parts, tail]),
      )
      // The first one warms everything up.
      if (round === 0) continue
      took.plain.push(plainly)
      took.ours.push(ours)
    }
    const [ours, plainly] = [median(took.ours), median(took.plain)]
    process.stdout.write(
      `${values.megabytes} MB: ours ${ours.toFixed(0)} ms of the processor, plain ${plainly.toFixed(0)} ms: ${(plainly / ours).toFixed(2)} (goal ${GOAL})\n`,
    )
    if (plainly / ours < GOAL) process.exitCode = 1
  })
}

if (process.argv[1] === import.meta.filename && process.argv[2] === 'plain') await servePlain(process.argv[3]!)
