/** Child processes that parse untrusted files. A vulnerability or crash in one does not affect keys and requests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { unavailable } from './errors.ts'

interface SandboxedCommand {
  name: string
  program: string
  flags: readonly string[]
  args?: readonly string[]
  hasIpc?: boolean
  /** Milliseconds until the process is killed. */
  timeout: number
}

interface SandboxedProcess {
  child: ChildProcess & { stdin: NonNullable<ChildProcess['stdin']>; stdout: NonNullable<ChildProcess['stdout']> }
  /** Rejects with UNAVAILABLE if the program could not be started. */
  exit: Promise<[number | null, NodeJS.Signals | null]>
}

/** Descriptors that a start may need: two per pipe, and two that report whether the program was executed. */
const DESCRIPTORS = 12

/** With too few descriptors, Node would leak the pipes of a process that it cannot start. */
function assertDescriptors(): void {
  const held: number[] = []
  try {
    while (held.length < DESCRIPTORS) held.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of held) closeSync(descriptor)
  }
}

const SHELL = '/bin/sh'
/** CPU seconds per second of the timeout. The system enforces the limit even if the parent process was killed. */
const CPU_SECONDS_PER_SECOND = 4

/** Exit codes of the shell for a program that cannot be executed. */
const NOT_EXECUTED = new Set<number | null>([126, 127])

const withCpuLimit = (seconds: number, command: readonly string[]): readonly string[] =>
  existsSync(SHELL) ? [SHELL, '-c', 'ulimit -t "$0" 2>/dev/null; exec "$@"', String(seconds), ...command] : command

/** Starts a process without environment variables, which contain secrets. Throws UNAVAILABLE. */
export async function startSandboxedProcess(command: SandboxedCommand): Promise<SandboxedProcess> {
  const { name, program, flags, args = [], hasIpc = false, timeout } = command
  const seconds = Math.ceil(timeout / 1_000) * CPU_SECONDS_PER_SECOND
  const [binary, ...rest] = withCpuLimit(seconds, [process.execPath, ...flags, program, ...args])
  try {
    assertDescriptors()
    const child = spawn(binary!, rest, {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore', ...(hasIpc ? (['ipc'] as const) : [])],
    })
    const exit = (once(child, 'exit') as SandboxedProcess['exit']).then((ended) => {
      if (NOT_EXECUTED.has(ended[0])) throw unavailable(name, new Error(`The shell ended with ${ended[0]}.`))
      return ended
    })
    // Prevents an unhandled rejection, because the caller awaits the promise later.
    exit.catch(() => {})
    // The option `timeout` of Node would signal an uninitialized process ID if the process was not started.
    if (child.pid === undefined) await exit
    const timer = setTimeout(() => child.kill('SIGKILL'), timeout)
    child.once('exit', () => clearTimeout(timer))
    return { child: child as SandboxedProcess['child'], exit }
  } catch (error) {
    throw unavailable(name, error)
  }
}
