/** Many password checks at once, and how much memory they take: each hash holds 64 MiB as long as it runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transcript } from './transcript.ts'

const mebibytesOf = (status: string, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) / 1_024

/** MiB that are resident, and the most that ever were since the last `forgetPeak`. The kernel counts; nothing is missed. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return { now: mebibytesOf(status, 'VmRSS'), peak: mebibytesOf(status, 'VmHWM') }
}

export const forgetPeak = (pid: number) => writeFile(`/proc/${pid}/clear_refs`, '5')

export interface Storm {
  checked: number
  /** 503 with Retry-After. */
  putOff: number
  surprises: string[]
  /** MiB above what was there before. */
  growth: number
  milliseconds: number
}

export async function storm({ ask }: Transcript, pid: number, count: number): Promise<Storm> {
  await forgetPeak(pid)
  const before = await memoryOf(pid)
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      ask({
        path: '/api/v3/auth/token/login/',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `storm${index}@example.org`, password: 'not this one' }),
      }),
    ),
  )
  const { peak } = await memoryOf(pid)
  const codeOf = ({ status, text, headers }: (typeof answers)[number]) =>
    status === 503 && headers.has('retry-after') ? 'put off' : `${status} ${text.slice(0, 120)}`
  const codes = answers.map(codeOf)
  const checked = answers.filter(
    ({ status, text }) => status === 400 && text.includes('incorrect_login_credentials'),
  ).length
  return {
    checked,
    putOff: codes.filter((code) => code === 'put off').length,
    surprises: [...new Set(codes.filter((code, index) => code !== 'put off' && answers[index]!.status !== 400))],
    growth: peak - before.now,
    milliseconds: performance.now() - began,
  }
}

/** The control: a process that hashes without a queue. MiB it grows by. */
export async function growWithoutQueue(count: number): Promise<number> {
  const script = `
    import { hash } from '@node-rs/argon2'
    import { memoryOf, forgetPeak } from './hash-storm.ts'
    const options = { algorithm: 2, memoryCost: 65536, timeCost: 2, parallelism: 1 }
    await hash('decoy', options)
    await forgetPeak(process.pid)
    const before = await memoryOf(process.pid)
    await Promise.all(Array.from({ length: ${count} }, () => hash('a password', options)))
    console.log((await memoryOf(process.pid)).peak - before.now)`
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script.replaceAll("'./", `'${import.meta.dirname}/`)],
    {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk
  })
  await once(child, 'close')
  return Number(said)
}
