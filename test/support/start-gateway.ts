/** Starts further gateways of the test's installation, each in its own process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'
import type { TestApp } from './test-app.ts'

const root = join(import.meta.dirname, '../..')
const clock = new URL('../../proofs/harness/shifted-clock.ts', import.meta.url)

interface GatewayOptions {
  /** Milliseconds by which the clock of the process is ahead. */
  clockShift?: number
  /** Names of the optional modules. Default: all. */
  modules?: readonly string[]
}

export async function startGateway(
  { env }: Pick<TestApp, 'env'>,
  { clockShift = 0, modules }: GatewayOptions,
): Promise<string> {
  const script = join(import.meta.dirname, 'gateway.ts')
  const args = [`--import=${clock}`, '--disable-warning=ExperimentalWarning', script]
  const child = spawn(process.execPath, modules ? [...args, JSON.stringify(modules)] : args, {
    env: {
      PATH: process.env.PATH,
      HOME: env.ANNAL_DIR,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/annal'),
      ...env,
      CLOCK_SHIFT: String(clockShift),
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
