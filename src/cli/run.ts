/** Carries out one command: what it is called with, and what becomes of its errors. */
import { CommanderError } from 'commander'
import { DomainError } from '../shared/errors.ts'
import { exitCodeOf } from '../shared/process.ts'
import { FAILURE, red, say, WRONG_USAGE } from './output.ts'
import { createProgram } from './program.ts'
import { atTerminal, type Terminal } from './terminal.ts'

/** Callers are not told why a part is away; who types a command is. */
const causeOf = ({ code, cause }: DomainError) =>
  code === 'UNAVAILABLE' && cause instanceof Error && cause.message ? `\n${cause.message}` : ''

/** All that is wrong with what was given, a line each. */
function problemsOf({ message, details }: DomainError): string {
  if (details === undefined || typeof details === 'string' || Array.isArray(details)) return message
  return Object.entries(details)
    .flatMap(([field, problems]) => problems.map((problem) => `${field}: ${problem}`))
    .join('\n')
}

function explain(error: unknown): { text: string; code: number } {
  if (error instanceof DomainError) {
    if (error.code === 'VALIDATION_FAILED') return { text: problemsOf(error), code: WRONG_USAGE }
    const details = error.details === undefined ? '' : `\n${JSON.stringify(error.details, null, 2)}`
    return { text: error.message + causeOf(error) + details, code: FAILURE }
  }
  return { text: error instanceof Error ? error.message : String(error), code: exitCodeOf(error) }
}

function tell(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version come here as well, as errors with the code 0; what was wrong otherwise is said already.
    if (error.code.startsWith('annal.')) say(red(error.message))
    return error.exitCode === 0 ? 0 : WRONG_USAGE
  }
  const { text, code } = explain(error)
  say(red(text))
  return code
}

/** Carries out `annal <args>` at a terminal; returns the exit code. Raises nothing: what goes wrong is said. */
export const run = (args: readonly string[], version: string, terminal: Terminal): Promise<number> =>
  atTerminal(terminal, async () => {
    try {
      await createProgram(version).parseAsync(args, { from: 'user' })
      return terminal.exitCode
    } catch (error) {
      return tell(error)
    }
  })
