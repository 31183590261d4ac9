/** Commands as an operator types them. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../../support/eventually.ts'

export const root = join(import.meta.dirname, '../../..')

const systemPath = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

export const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  PATH: systemPath,
  HOME: process.env.HOME,
  ...more,
})

const MAX_OUTPUT_BYTES = 50_000_000

export async function bash(line: string, cwd: string, env?: Record<string, string>): Promise<string> {
  const options = { cwd, env: environment(env), maxBuffer: MAX_OUTPUT_BYTES }
  try {
    return (await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', line], options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${line}\n${stdout}\n${stderr}`, { cause: error })
  }
}

export function startService(line: string, cwd: string, port: number, env: Record<string, string> = {}) {
  const child = spawn('bash', ['--norc', '-c', `exec ${line}`], {
    cwd,
    detached: true,
    env: environment({ PORT: String(port), ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk))
  const ended = once(child, 'exit') as Promise<[number | null]>
  return {
    async ready() {
      const status = async () => {
        if (child.exitCode !== null) throw new Error(`${line} ended with ${child.exitCode}:\n${said}`)
        return fetch(`http://127.0.0.1:${port}/readyz`).then(
          (answer) => answer.status,
          () => 0,
        )
      }
      await eventually(status, (each) => each === 200, 120_000)
    },
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      process.kill(signal === 'SIGINT' ? -child.pid! : child.pid!, signal)
      return (await ended)[0]
    },
    kill() {
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {
        // Nothing is left.
      }
    },
  }
}

export const megabytesOf = async (folder: string) => Number.parseInt(await bash('du -sm .', folder), 10)

export type Started = ReturnType<typeof startService>
