/** Input and output of commands. Results go to stdout, messages to stderr. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { fstatSync, readFileSync, writeSync } from 'node:fs'
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { CommanderError } from 'commander'
import { systemReason } from '../shared/operator-errors.ts'

/** Exit code of a command that found a problem or failed. */
export const FAILURE = 1
/** Exit code of a command with wrong arguments. */
export const WRONG_USAGE = 2

/** Streams, environment and exit code of a command. Tests run commands in their own process with separate streams. */
export interface Terminal {
  /** Environment variables. Undefined: use those of the process and of a `.env` file. */
  readonly env: NodeJS.ProcessEnv | undefined
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  exitCode: number
  /** Message to print if stdout cannot be written. Set for output that is shown only once. */
  messageIfUnread?: string
  /** Signal that interrupts the command with an InterruptedError. Undefined: SIGINT and SIGTERM interrupt it. */
  readonly interrupted?: AbortSignal | undefined
}

/** Returns a stream that writes to an open file completely or fails. Node's own stream reports no error if a full disk accepts only a part. */
const fileStream = (fd: number): Writable =>
  new Writable({
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written)
      } catch (error) {
        return done(error as Error)
      }
      done()
    },
  })

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile()
  } catch {
    return false
  }
}

const processTerminal: Terminal = {
  env: undefined,
  stdin: process.stdin,
  stdout: isFile(process.stdout.fd) ? fileStream(process.stdout.fd) : process.stdout,
  stderr: process.stderr,
  exitCode: 0,
}

const storage = new AsyncLocalStorage<Terminal>()

/** Returns the terminal of the running command. */
export const terminal = (): Terminal => storage.getStore() ?? processTerminal

/** Runs a command with a terminal. */
export const runAtTerminal = <T>(given: Terminal, work: () => Promise<T>): Promise<T> => storage.run(given, work)

/** Sets the exit code of the command. */
export const fail = (code = FAILURE): void => {
  terminal().exitCode = code
}

/** Returns the error for invalid arguments. */
export const usageError = (message: string) => new CommanderError(WRONG_USAGE, 'annal.usage', message)

/** Writes a line of the result to stdout. */
export const print = (text: string): void => void terminal().stdout.write(`${text}\n`)
/** Writes the result as JSON to stdout. */
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))
/** Clears the rest of a terminal's line. */
const CLEAR_REST = '\u001B[K'
/** Writes a message to stderr. On a terminal, it replaces a progress bar, and the next update draws the bar again. */
export const report = (text: string): void => {
  const { stderr } = terminal()
  stderr.write(stderr.isTTY ? `\r${text}${CLEAR_REST}\n` : `${text}\n`)
}

/** Sets the message that is printed if the following output cannot be written. */
export const reportIfUnread = (text: string): void => {
  terminal().messageIfUnread = text
}

type Style = Parameters<typeof styleText>[0]
/** Returns a function that styles text. Colors are used only on a terminal, and not if NO_COLOR is set. */
const styled =
  (style: Style) =>
  (text: string, stream: Terminal['stderr'] = terminal().stderr) =>
    styleText(style, text, { stream })

export const green = styled('green')
export const red = styled('red')
export const yellow = styled('yellow')

type Cell = string | number | Date | null | undefined

const formatCell = (cell: Cell) => (cell instanceof Date ? cell.toISOString() : String(cell ?? '-'))

/** Prints rows as a table with aligned columns. Dates use the ISO format. */
export function printTable(rows: readonly (readonly Cell[])[]): void {
  const texts = rows.map((row) => row.map(formatCell))
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]!.length)))
  for (const row of texts)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}

/** Returns a number with its noun, such as `2 jobs`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`

/** The user interrupted the command. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  constructor() {
    super('Interrupted.')
  }
}

/** Returns a signal that aborts at the first Ctrl-C or SIGTERM. A second one ends the process immediately. */
export function interruption(): AbortSignal {
  const { interrupted } = terminal()
  if (interrupted) return interrupted
  const controller = new AbortController()
  const interrupt = () => controller.abort(new InterruptedError())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt)
  return controller.signal
}

/** Asks a question at the terminal. Returns true if the answer is exactly `expected`. Returns false without a terminal. */
export async function isConfirmed(question: string, expected: string): Promise<boolean> {
  const { stdin, stderr } = terminal()
  if (!stdin.isTTY) return false
  const prompt = createInterface({ input: stdin, output: stderr })
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
  try {
    return (await Promise.race([prompt.question(question), closed])).trim() === expected
  } finally {
    prompt.close()
  }
}

/** Decodes a password and removes its byte order mark and final line break. Throws a usage error if it is not UTF-8. */
function decodePassword(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw usageError('The password is not UTF-8. Save the file as UTF-8, or use a terminal with UTF-8.')
  }
}

/** Asks twice for a password at the terminal, without showing it. */
async function askPassword(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: terminal().stdin, output: nowhere, terminal: true })
  const closed = new Promise<never>((_, reject) =>
    prompt.once('close', () => reject(usageError('No password was entered.'))),
  )
  const ask = async (question: string) => {
    terminal().stderr.write(question)
    const typed = await Promise.race([prompt.question(''), closed])
    terminal().stderr.write('\n')
    return typed
  }
  try {
    const first = await ask('Password: ')
    if (first !== (await ask('Repeat the password: '))) throw usageError('The two passwords differ.')
    return first
  } finally {
    closed.catch(() => {})
    prompt.close()
  }
}

/**
 * Reads a password from a file, the terminal or standard input. A command-line argument would be visible in the shell
 * history and to other users. Throws a usage error.
 */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return decodePassword(readFileSync(file))
  if (file === undefined && terminal().stdin.isTTY) return askPassword()
  const password = decodePassword(await buffer(terminal().stdin))
  if (password !== '') return password
  throw usageError('Enter the password at the terminal, on standard input, or with --password-file.')
}

const notWritten = (path: string, reason: string, cause?: unknown) =>
  new Error(`Cannot write ${path}: ${reason}. Set --out to a path that does not exist yet.`, { cause })

const explainFor = (path: string) => (cause: unknown) => {
  const { syscall = '' } = cause as NodeJS.ErrnoException
  // Other errors come from the content, not from the file system.
  if (!['open', 'write', 'writev', 'fsync', 'link'].includes(syscall)) throw cause
  throw notWritten(path, systemReason(cause), cause)
}

/**
 * Writes a new file and returns its size in bytes. Never overwrites a file. The file gets its final name when it is completely on disk. Until then
 * it is named `<path>.part-…`, and it remains if the process is killed. `mode` 0o600: only the owner can read the file.
 */
export async function writeNewFile(path: string, write: (file: FileHandle) => Promise<void>, mode = 0o666) {
  if (await lstat(path).catch(() => undefined)) throw notWritten(path, 'file already exists (EEXIST)')
  const part = `${path}.part-${randomUUID()}`
  const file = await open(part, 'wx', mode).catch(explainFor(path))
  try {
    await write(file).catch(explainFor(path))
    await file.sync().catch(explainFor(path))
    await link(part, path).catch(explainFor(path))
    return (await file.stat()).size
  } finally {
    await file.close()
    await rm(part, { force: true })
  }
}

const BAR_WIDTH = 24
/** Milliseconds between two updates on a terminal, and elsewhere. */
const [BAR_EVERY_MS, LINE_EVERY_MS] = [100, 10_000]

const formatSeconds = (seconds: number) => {
  const [hours, minutes, rest] = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor)
  return hours ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`
}
const twoDigits = (part = 0) => String(part).padStart(2, '0')

/** Starts a progress display. `verb`: past participle for the items, such as "registered". */
export function createProgress(verb: string) {
  const { stderr } = terminal()
  const startedAt = performance.now()
  // Without a terminal, a short operation prints only its last line.
  let updatedAt = stderr.isTTY ? -Infinity : startedAt
  let isShown = false

  const formatRate = (done: number, total: number) => {
    if (done === 0) return ''
    const seconds = (performance.now() - startedAt) / 1_000
    const rate = done / Math.max(seconds, 0.001)
    const time = done < total ? `, ${formatSeconds((total - done) / rate)} left` : ` in ${formatSeconds(seconds)}`
    return `, ${rate.toFixed(1)}/s${time}`
  }

  return {
    /** Updates the progress. `total` may grow. */
    update(done: number, total: number) {
      const isDue = performance.now() - updatedAt > (stderr.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS)
      if (!isDue && done < total) return
      updatedAt = performance.now()
      const line = `${done} of ${total} ${verb}${formatRate(done, total)}`
      if (!stderr.isTTY) return report(line)
      const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH)
      const bar = `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '-')}] ${line}`
      stderr.write(`\r${bar.slice(0, (stderr.columns ?? Infinity) - 1)}${CLEAR_REST}`)
      isShown = true
    },
    end() {
      if (isShown) stderr.write('\n')
      isShown = false
    },
  }
}
