/** The command line. Commands load the service's modules on execution, so that help is fast. */
import { Command, CommanderError, Help } from 'commander'
import { InputError } from '../../packages/verify/src/source-error.ts'
import { DomainError } from '../shared/errors.ts'
import { exitCodeOf } from '../shared/process.ts'
import { addAccountsCommands } from './accounts-commands.ts'
import { addCheckCommands } from './check-commands.ts'
import { addCoinsCommands } from './coins-commands.ts'
import { addDoctorCommand } from './doctor/doctor-command.ts'
import { addImportCommand } from './import/import-command.ts'
import { addJobsCommands } from './jobs-commands.ts'
import { addKeysCommands } from './keys-commands.ts'
import { addServerCommands } from './server-commands.ts'
import { red, report, runAtTerminal, type Terminal, terminal, WRONG_USAGE } from './terminal.ts'
import { addUsersCommands } from './users-commands.ts'
import { addVerifyCommands } from './verify-commands.ts'
import { addWebhooksCommands } from './webhooks-commands.ts'

/** Creates the command line. It can parse only one command. */
export function createProgram(version: string): Command {
  const program = new Command('annal')
    .description('Runs and inspects an Annal installation. Reads the same environment variables as the server.')
    .version(version)
    .configureOutput({
      writeOut: (text) => void terminal().stdout.write(text),
      writeErr: (text) => void terminal().stderr.write(text),
      outputError: (text, write) => write(red(text)),
      getOutHelpWidth: () => terminal().stdout.columns ?? 80,
      getErrHelpWidth: () => terminal().stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      optionDescription: (option) =>
        `${Help.prototype.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .showHelpAfterError('(run with --help to see the options)')
    .exitOverride()
    // An option after a subcommand belongs to the subcommand, even if its parent has an option with the same name.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  $ annal serve
  $ annal doctor
  $ annal admin create --username root --email root@example.org
  $ annal api-key issue --name shop --json
  $ annal check && echo "no problems"
  $ annal verify bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy

Works beside a running server with the same ANNAL_DIR or DATABASE_URL. Starts the embedded database if none runs.
Results go to stdout, messages to stderr. Exit codes: 0 success, 1 problem, 2 wrong usage, 3 unverified (verify only).`,
    )
  for (const add of [
    addServerCommands,
    addDoctorCommand,
    addCheckCommands,
    addImportCommand,
    addAccountsCommands,
    addUsersCommands,
    addWebhooksCommands,
    addKeysCommands,
    addCoinsCommands,
    addJobsCommands,
    addVerifyCommands,
  ]) {
    add(program)
  }
  return program
}

function describe(error: unknown): string {
  if (!(error instanceof DomainError)) return error instanceof Error ? error.message : String(error)
  const { code, cause, message, details } = error
  if (code === 'VALIDATION_FAILED' && typeof details === 'object' && !Array.isArray(details)) {
    const lines = Object.entries(details).flatMap(([field, problems]) => problems.map((text) => `${field}: ${text}`))
    return lines.join('\n')
  }
  // API responses hide the cause of an outage, but operators need it.
  const hasCause = code === 'UNAVAILABLE' && cause instanceof Error && cause.message !== ''
  const lines = [message, ...(hasCause ? [cause.message] : []), ...(details ? [JSON.stringify(details, null, 2)] : [])]
  return lines.join('\n')
}

function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    // commander also throws after help and version, with exit code 0. It has already printed its own messages.
    if (error.code.startsWith('annal.')) report(red(error.message))
    return error.exitCode === 0 ? 0 : WRONG_USAGE
  }
  report(red(describe(error)))
  const isInvalid = error instanceof InputError || (error instanceof DomainError && error.code === 'VALIDATION_FAILED')
  return isInvalid ? WRONG_USAGE : exitCodeOf(error)
}

/** Runs `annal <args>` and returns the exit code. Prints all errors. */
export const run = (args: readonly string[], version: string, given: Terminal): Promise<number> =>
  runAtTerminal(given, async () => {
    try {
      await createProgram(version).parseAsync(args, { from: 'user' })
      return given.exitCode
    } catch (error) {
      return reportError(error)
    }
  })
