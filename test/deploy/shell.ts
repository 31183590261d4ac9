/** Commands as an operator types them. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../support/eventually.ts'

/** The folder of the sources. */
export const root = join(import.meta.dirname, '../..')

/** The search path without what npm puts before it: an operator's, with the machine's own Node. */
const systemPath = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

/** The environment of an operator's shell, without that of npm and Vitest. */
export const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
  PATH: systemPath,
  HOME: process.env.HOME,
  ...more,
})

const MAX_OUTPUT_BYTES = 50_000_000

/** Runs a line of bash in `cwd`, and returns what it printed. Raises with all that was said when it fails. */
export async function bash(line: string, cwd: string, env?: Record<string, string>): Promise<string> {
  const options = { cwd, env: environment(env), maxBuffer: MAX_OUTPUT_BYTES }
  try {
    return (await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', line], options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    throw new Error(`${line}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** A service that was started by a line of bash. */
export interface Started {
  /** The line's own process, at the head of a group of its own. */
  child: ChildProcess
  /** Waits until `/readyz` answers 200. */
  ready(): Promise<void>
  /** Sends a signal to the process that was started, SIGINT to all below it as a terminal does, and waits for its end; returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Kills what is left. */
  kill(): void
}

/** Starts a line of bash that serves on `port`. */
export function startService(line: string, cwd: string, port: number, env: Record<string, string> = {}): Started {
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
    child,
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
    async stop(signal = 'SIGTERM') {
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

/** What a folder takes of the disk, in megabytes of 1,048,576 bytes, as `du` counts it. */
export const megabytesOf = async (folder: string) => Number.parseInt(await bash('du -sm .', folder), 10)
