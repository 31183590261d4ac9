/** All commands. Loading them loads nothing of the service: each brings what it needs when it is carried out. */
import { Command, Help } from 'commander'
import { addAdminCommands, addGrantCommand, addSessionsCommands } from './accounts-commands.ts'
import { addApiKeyCommands } from './api-key-commands.ts'
import { addCheckCommands } from './check-command.ts'
import { addCoinsCommand } from './coins-command.ts'
import { addCompletionCommand } from './completion-command.ts'
import { addDepositsCommand } from './deposits-command.ts'
import { addDoctorCommand } from './doctor-command.ts'
import { addImportCommand } from './import-command.ts'
import { addJobsCommand } from './jobs-command.ts'
import { addKeysCommands } from './keys-commands.ts'
import { addMigrateCommands } from './migrate-commands.ts'
import { red } from './output.ts'
import { addRelayCommand } from './relay-command.ts'
import { addServeCommand } from './serve-command.ts'
import { terminal } from './terminal.ts'
import { addConfigCommand, addGcCommand } from './upkeep-commands.ts'
import { addUsersCommands } from './users-commands.ts'
import { addProofCommand, addVerifyCommand } from './verify-command.ts'
import { addWebhooksCommands } from './webhooks-commands.ts'

/** As wide as help is where nobody says how wide their terminal is. */
const HELP_WIDTH = 80

/** The command line with all its commands, to be parsed once. `version`: what `--version` tells. */
export function createProgram(version: string): Command {
  const program = new Command('annal')
    .description('Runs and inspects an Annal installation. Configured by the same variables as the server.')
    .version(version)
    .configureOutput({
      writeOut: (text) => void terminal().stdout.write(text),
      writeErr: (text) => void terminal().stderr.write(text),
      outputError: (text, write) => write(red(text)),
      getOutHelpWidth: () => terminal().stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => terminal().stderr.columns ?? HELP_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      optionDescription: (option) =>
        `${Help.prototype.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    })
    .showHelpAfterError('(add --help for what is possible)')
    .exitOverride()
    // Options behind a subcommand belong to the subcommand, also where its parent has an option of the same name.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  $ annal serve
  $ annal doctor
  $ annal admin create --username root --email root@example.org
  $ annal api-key issue --name shop --json
  $ annal check && echo "everything is right"
  $ annal verify bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy

Works beside a running server with the same ANNAL_DIR or DATABASE_URL, and starts the embedded database when none runs.
Data goes to stdout and talk to stderr; exits with 0, 1 when something is wrong, 2 on wrong usage; verify also with 3.`,
    )
  for (const add of [
    addServeCommand,
    addDoctorCommand,
    addCheckCommands,
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
    addCompletionCommand,
  ]) {
    add(program)
  }
  return program
}
