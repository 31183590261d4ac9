/** Input and output of commands. Results go to stdout, messages to stderr. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { fstatSync, readFileSync, writeSync } from 'node:fs'
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { styleText } from 'node:util'
import { CommanderError } from 'commander'
import { systemReason } from '../shared/operator-errors.ts'

export const [FAILURE, WRONG_USAGE] = [1, 2]

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

/** Returns a stream that writes to an open file completely or fails. Node's own stream reports no error after a partial write to a full disk. */
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

const processTerminal: Terminal = {
  env: undefined,
  stdin: process.stdin,
  stdout: fstatSync(1).isFile() ? fileStream(1) : process.stdout,
  stderr: process.stderr,
  exitCode: 0,
}

const storage = new AsyncLocalStorage<Terminal>()

export const terminal = (): Terminal => storage.getStore() ?? processTerminal

export const runAtTerminal = <T>(given: Terminal, work: () => Promise<T>): Promise<T> => storage.run(given, work)

export const fail = (code = FAILURE): void => {
  terminal().exitCode = code
}

export const usageError = (message: string) => new CommanderError(WRONG_USAGE, 'annal.usage', message)

export const print = (text: string): void => void terminal().stdout.write(`${text}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))
export const report = (text: string): void => void terminal().stderr.write(`${text}\n`)

/** Sets the message that is printed if the following output cannot be written. */
export const reportIfUnread = (text: string): void => {
  terminal().messageIfUnread = text
}

/** Returns a function that colors text. Colors are used only on a terminal, and not if NO_COLOR is set. */
const styled =
  (style: 'green' | 'red' | 'yellow') =>
  (text: string, stream: Terminal['stderr'] = terminal().stderr) =>
    styleText(style, text, { stream })

export const green = styled('green')
export const red = styled('red')
export const yellow = styled('yellow')

function formatCell(cell: unknown): string {
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return cell !== null && typeof cell === 'object' ? JSON.stringify(cell) : String(cell ?? '-')
}

export function printRows(rows: readonly (readonly unknown[])[]): void {
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

/** Prints a table. Each property becomes a column with a header, such as `created at` for `createdAt`. */
export function printTable<Row extends object>(rows: readonly Row[], ...columns: (keyof Row & string)[]): void {
  const headers = columns.map((name) => name.replaceAll(/_|(?=[A-Z])/g, ' ').toLowerCase())
  printRows([headers, ...rows.map((row) => columns.map((name) => row[name]))])
}

/** Returns a number with its noun, such as `2 jobs`. */
export const counted = (count: number, noun: string, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`

export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  override readonly message = 'Interrupted.'
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

/** Asks questions at the terminal. Returns empty answers after the end of the input. */
async function ask(questions: readonly string[], isHidden: boolean): Promise<string[]> {
  const { stdin, stderr } = terminal()
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = isHidden ? nowhere : stderr
  const prompt = createInterface({ input: stdin, output, terminal: isHidden || stderr.isTTY === true })
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
  const answers: string[] = []
  for (const question of questions) {
    if (isHidden) stderr.write(question)
    answers.push(await Promise.race([closed, prompt.question(isHidden ? '' : question)]))
    if (isHidden) stderr.write('\n')
  }
  prompt.close()
  return answers
}

/** Asks a question at the terminal. Returns true if the answer is exactly `expected`. Returns false without a terminal. */
export const isConfirmed = async (question: string, expected: string): Promise<boolean> =>
  terminal().stdin.isTTY === true && (await ask([question], false))[0]!.trim() === expected

/** Decodes a password and removes its byte order mark and final line break. Throws a usage error if it is not UTF-8. */
function decodePassword(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes).replace(/\r?\n$/, '')
  throw usageError('The password is not UTF-8. Save the file as UTF-8, or use a terminal with UTF-8.')
}

async function askPassword(): Promise<string> {
  const [password, repeated] = await ask(['Password: ', 'Repeat the password: '], true)
  if (!password) throw usageError('No password was entered.')
  if (password !== repeated) throw usageError('The two passwords differ.')
  return password
}

/** Reads a password from a file, the terminal or standard input. Shell history and other users would see a command-line argument. */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return decodePassword(readFileSync(file))
  if (file === undefined && terminal().stdin.isTTY) return askPassword()
  const password = decodePassword(await buffer(terminal().stdin))
  if (password !== '') return password
  throw usageError('Enter the password at the terminal, on standard input, or with --password-file.')
}

/** System calls that write a file. Errors of other calls come from the content. */
const writingCalls = ['open', 'write', 'writev', 'fsync', 'link']

/**
 * Writes a new file and returns its size in bytes. Never overwrites a file. The file gets its final name when it is completely on disk. Until then
 * it is named `<path>.part-…`, and it remains if the process is killed. `mode` 0o600: only the owner can read the file.
 */
export async function writeNewFile(path: string, write: (file: FileHandle) => Promise<void>, mode = 0o666) {
  const notWritten = (reason: string, cause?: unknown) =>
    new Error(`Cannot write ${path}: ${reason}. Set --out to a path that does not exist yet.`, { cause })
  if (await lstat(path).catch(() => undefined)) throw notWritten('file already exists (EEXIST)')
  const part = `${path}.part-${randomUUID()}`
  try {
    await using file = await open(part, 'wx', mode)
    await write(file)
    await file.sync()
    await link(part, path)
    return (await file.stat()).size
  } catch (cause) {
    const { syscall = '' } = cause as NodeJS.ErrnoException
    throw writingCalls.includes(syscall) ? notWritten(systemReason(cause), cause) : cause
  } finally {
    await rm(part, { force: true })
  }
}

const PROGRESS_EVERY_MS = 5_000

/** Returns a function that reports progress regularly, and the end. `verb`: past participle for the items, such as "registered". */
export function createProgress(verb: string) {
  const startedAt = performance.now()
  let reportedAt = startedAt
  return (done: number, total: number) => {
    const now = performance.now()
    if (done < total && now - reportedAt < PROGRESS_EVERY_MS) return
    reportedAt = now
    const perSecond = (done * 1_000) / (now - startedAt)
    const left = `, ${counted(Math.ceil((total - done) / perSecond / 60), 'minute')} left`
    report(`${done} of ${total} ${verb}, ${perSecond.toFixed(1)}/s${done > 0 && done < total ? left : ''}`)
  }
}
