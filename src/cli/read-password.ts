import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommanderError } from 'commander'
import { WRONG_USAGE } from './output.ts'
import { terminal } from './terminal.ts'

const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.password', message)
const withoutLineEnd = (content: string) => content.replace(/\r?\n$/, '')

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
 * A password that never stands in the arguments, where the shell's history and every user of the machine would see it: from
 * a file, from the terminal, or from standard input. Raises CommanderError.
 */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return withoutLineEnd(readFileSync(file, 'utf8'))
  if (file === undefined && terminal().stdin.isTTY) return ask()
  const password = withoutLineEnd(await text(terminal().stdin))
  if (password === '') throw wrong('Give the password on standard input, at the terminal, or with --password-file.')
  return password
}
