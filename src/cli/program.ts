/** The command line. Commands load the service's modules on execution, so that help is fast. */
import { Command, CommanderError, Help } from 'commander'
import { InputError } from '../../packages/verify/src/source-error.ts'
import { DomainError } from '../shared/errors.ts'
import { exitCodeOf } from '../shared/process.ts'
import { addAdminCommands, addApiKeyCommands, addGrantCommand, addSessionsCommands } from './accounts-commands.ts'
import { addCheckCommand, addRepairCommand } from './check-commands.ts'
import { addCoinsCommand, addDepositsCommand } from './coins-commands.ts'
import { addDoctorCommand } from './doctor/doctor-command.ts'
import { addImportCommand } from './import/import-command.ts'
import { addJobsCommand, addRelayCommand } from './jobs-commands.ts'
import { addKeysCommands } from './keys-commands.ts'
import { addConfigCommand, addGcCommand, addMigrateCommands, addServeCommand } from './server-commands.ts'
import { FAILURE, red, report, runAtTerminal, type Terminal, terminal, WRONG_USAGE } from './terminal.ts'
import { addUsersCommands } from './users-commands.ts'
import { addProofCommand, addVerifyCommand } from './verify-commands.ts'
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
    addServeCommand,
    addDoctorCommand,
    addCheckCommand,
    addRepairCommand,
    addConfigCommand,
    addMigrateCommands,
    addImportCommand,
    addAdminCommands,
    addUsersCommands,
    addGrantCommand,
    addSessionsCommands,
    addApiKeyCommands,
    addWebhooksCommands,
    addKeysCommands,
    addRelayCommand,
    addDepositsCommand,
    addCoinsCommand,
    addJobsCommand,
    addGcCommand,
    addVerifyCommand,
    addProofCommand,
  ]) {
    add(program)
  }
  return program
}

function listProblems({ message, details }: DomainError): string {
  if (details === undefined || typeof details === 'string' || Array.isArray(details)) return message
  return Object.entries(details)
    .flatMap(([field, problems]) => problems.map((problem) => `${field}: ${problem}`))
    .join('\n')
}

function explain(error: unknown): { text: string; code: number } {
  if (error instanceof InputError) return { text: error.message, code: WRONG_USAGE }
  if (!(error instanceof DomainError))
    return { text: error instanceof Error ? error.message : String(error), code: exitCodeOf(error) }
  const { code, cause, message, details } = error
  if (code === 'VALIDATION_FAILED') return { text: listProblems(error), code: WRONG_USAGE }
  // API responses hide the cause of an outage, but operators need it.
  const hasCause = code === 'UNAVAILABLE' && cause instanceof Error && cause.message !== ''
  const lines = [message, ...(hasCause ? [cause.message] : []), ...(details ? [JSON.stringify(details, null, 2)] : [])]
  return { text: lines.join('\n'), code: FAILURE }
}

function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    // commander also throws after help and version, with exit code 0. It has already printed its own messages.
    if (error.code.startsWith('annal.')) report(red(error.message))
    return error.exitCode === 0 ? 0 : WRONG_USAGE
  }
  const { text, code } = explain(error)
  report(red(text))
  return code
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
