/** Starts gateways of the test's installation with wrong clocks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'
import type { TestApp } from './test-app.ts'

const root = join(import.meta.dirname, '../..')
const clock = new URL('../../proofs/harness/shifted-clock.ts', import.meta.url)

/** Starts a gateway whose clock is ahead by this many milliseconds. Returns its URL. It runs until the test file ends. */
export async function startSkewed({ env }: Pick<TestApp, 'env'>, shift: number): Promise<string> {
  const script = join(import.meta.dirname, 'gateway.ts')
  const child = spawn(process.execPath, [`--import=${clock}`, '--disable-warning=ExperimentalWarning', script], {
    env: {
      PATH: process.env.PATH,
      HOME: env.ANNAL_DIR,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/annal'),
      ...env,
      CLOCK_SHIFT: String(shift),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  atEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const said = once(child.stdout, 'data')
  const [first] = await Promise.race([said, ended])
  if (child.exitCode !== null) throw new Error('A gateway ended while it started.')
  return String(first).trim()
}
