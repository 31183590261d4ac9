/** Processes of ours that read what strangers sent, one for each file: what goes wrong there happens away from keys and requests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { unavailable } from './errors.ts'

/** What is run, and how. */
export interface ReaderCommand {
  /** What is asked for, in words for a refusal. */
  name: string
  program: string
  /** Of Node. */
  flags: readonly string[]
  args?: readonly string[]
  /** Whether it has questions. */
  hasQuestions?: boolean
  /** Milliseconds until it is killed. */
  patience: number
}

/** A process that reads stdin and writes stdout. */
export interface Reader {
  child: ChildProcess & { stdin: NonNullable<ChildProcess['stdin']>; stdout: NonNullable<ChildProcess['stdout']> }
  /** Its code and its signal; rejected when it could not be started, by UNAVAILABLE where the shell could not. */
  exit: Promise<[number | null, NodeJS.Signals | null]>
}

/** More than one start takes: two for each pipe, and two that tell whether its program could be run. */
const DESCRIPTORS = 12

/** Node never closes the pipes of a process that cannot be started for want of descriptors: each try would leave fewer. Raises then. */
function assertDescriptors(): void {
  const held: number[] = []
  try {
    while (held.length < DESCRIPTORS) held.push(openSync(devNull, 'r'))
  } finally {
    for (const descriptor of held) closeSync(descriptor)
  }
}

const SHELL = '/bin/sh'
/** The system ends it where nobody is left who would: whoever started it may be killed. Its own clock comes first, however many cores it has. */
const PROCESSOR_SHARE = 4

/** What the shell ends with where there is no such program, or the machine does not run it. */
const NOT_RUN = new Set<number | null>([126, 127])

/** The same command, bounded in what it takes of the processor where the system has a way to say so. */
function bounded(seconds: number, command: readonly string[]): readonly string[] {
  return existsSync(SHELL)
    ? [SHELL, '-c', 'ulimit -t "$0" 2>/dev/null; exec "$@"', String(seconds), ...command]
    : command
}

/** Starts it with nothing of our environment, which holds secrets. Raises UNAVAILABLE when the machine starts no more. */
export async function startReader(command: ReaderCommand): Promise<Reader> {
  const { name, program, flags, args = [], hasQuestions = false, patience } = command
  const seconds = Math.ceil(patience / 1_000) * PROCESSOR_SHARE
  const [binary, ...rest] = bounded(seconds, [process.execPath, ...flags, program, ...args])
  try {
    assertDescriptors()
    const child = spawn(binary!, rest, {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore', ...(hasQuestions ? (['ipc'] as const) : [])],
    })
    const exit = (once(child, 'exit') as Reader['exit']).then((ended) => {
      if (NOT_RUN.has(ended[0])) throw unavailable(name, new Error(`The shell ended with ${ended[0]}.`))
      return ended
    })
    // Looked at in the end; until then it is nobody's.
    exit.catch(() => {})
    // One that was not started must never be killed, and Node's own `timeout` would: its number is whatever lay in memory, such as ours.
    if (child.pid === undefined) await exit
    const timer = setTimeout(() => child.kill('SIGKILL'), patience)
    child.once('exit', () => clearTimeout(timer))
    return { child: child as Reader['child'], exit }
  } catch (error) {
    throw unavailable(name, error)
  }
}
