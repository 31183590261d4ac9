import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { CommanderError } from 'commander'
import { WRONG_USAGE } from './output.ts'
import { terminal } from './terminal.ts'

const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.password', message)

/** Decodes a password and removes a byte order mark and the final line break. Raises CommanderError if it is not UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '')
  } catch {
    throw wrong('The password is not UTF-8. Save the file as UTF-8, or use a terminal with UTF-8.')
  }
}

/** Asks at the terminal, twice, and shows nothing of what is typed. */
async function ask(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: terminal().stdin, output: nowhere, terminal: true })
  const closed = new Promise<never>((_, reject) => prompt.once('close', () => reject(wrong('No password was given.'))))
  const answer = async (question: string) => {
    terminal().stderr.write(question)
    const typed = await Promise.race([prompt.question(''), closed])
    terminal().stderr.write('\n')
    return typed
  }
  try {
    const first = await answer('Password: ')
    if (first !== (await answer('Once more: '))) throw wrong('The two passwords differ.')
    return first
  } finally {
    closed.catch(() => {})
    prompt.close()
  }
}

/**
 * Reads a password from a file, the terminal or standard input. An argument would be visible in the shell's history and to
 * every user of the machine. Raises CommanderError.
 */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return decode(readFileSync(file))
  if (file === undefined && terminal().stdin.isTTY) return ask()
  const password = decode(await buffer(terminal().stdin))
  if (password === '') throw wrong('Give the password on standard input, at the terminal, or with --password-file.')
  return password
}
