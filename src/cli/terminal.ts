/** What a command is carried out with: its configuration, where it reads and writes, and the exit code it has earned. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Readable, Writable } from 'node:stream'
import { wholeStdout } from './file-output.ts'

/** The process's own, or a caller's who carries out commands in this process. */
export interface Terminal {
  /** Variables of the configuration; undefined: the process's, completed by a file `.env`. */
  readonly env: NodeJS.ProcessEnv | undefined
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  exitCode: number
  /** What is said when nobody can read what was printed: it is told this once. */
  ifUnread?: string
  /** Aborted, with an InterruptedError, when the command is to end; undefined: the process's own signals say so. */
  readonly interrupted?: AbortSignal | undefined
}

const current = new AsyncLocalStorage<Terminal>()

const own: Terminal = {
  env: undefined,
  stdin: process.stdin,
  stdout: wholeStdout(),
  stderr: process.stderr,
  exitCode: 0,
}

/** The terminal of the command that is being carried out. */
export const terminal = (): Terminal => current.getStore() ?? own

/** Carries out `work` at a terminal: whatever it does sees that one. */
export const atTerminal = <T>(given: Terminal, work: () => Promise<T>): Promise<T> => current.run(given, work)

/** Somebody asked the command to end. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  constructor() {
    super('It was interrupted.')
  }
}

/**
 * Aborted, with an InterruptedError, once the command is to end: for one that finishes what it has in hand. A second Ctrl-C ends the process
 * at once.
 */
export function interruption(): AbortSignal {
  const { interrupted } = terminal()
  if (interrupted) return interrupted
  const controller = new AbortController()
  const interrupt = () => controller.abort(new InterruptedError())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  return controller.signal
}
