#!/usr/bin/env node
/** The operator's commands. Data goes to stdout, talk to stderr; exits with 0, 1 when something is wrong, 2 on wrong usage. */
import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { addCheckCommands } from './cli/check-command.ts'
import { command } from './cli/command.ts'
import { addJobsCommand } from './cli/jobs-command.ts'
import { addKeysCommands } from './cli/keys-commands.ts'
import { FAILURE, print, printJson, red, say, table, WRONG_USAGE } from './cli/output.ts'
import { readPassword } from './cli/read-password.ts'
import { addRelayCommand } from './cli/relay-command.ts'
import { addVerifyCommand } from './cli/verify-command.ts'
import { withServices } from './cli/with-installation.ts'
import { ConfigError, effectiveConfig } from './config.ts'
import { DomainError } from './domain/errors.ts'
import { toId } from './domain/ids.ts'
import { formatAmount } from './domain/money.ts'

const program = new Command('annal')
  .description('Runs and inspects an Annal installation. Configured by the same variables as the server.')
  .version(manifest.version)
  .configureOutput({ outputError: (text, write) => write(red(text)) })
  .showHelpAfterError('(add --help for what is possible)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Examples:
  $ annal serve
  $ annal admin create --username root --email root@example.org
  $ annal api-key issue --name shop --json
  $ annal check && echo "everything is right"
  $ annal verify bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy

Works beside a running server with the same ANNAL_DIR or DATABASE_URL, and starts the embedded database when none runs.`,
  )

command(
  program,
  'serve',
  'Runs the service until Ctrl-C or SIGTERM; its data lies in ANNAL_DIR, here ./.annal by default.',
)
  .addHelpText('after', '\nExample:\n  $ PORT=8080 annal serve')
  .action(async () => {
    const { serve } = await import('./main.ts')
    await serve()
  })

const admin = command(program, 'admin', 'Administrators.')

command(admin, 'create', 'Makes an administrator and prints the id and an access token.')
  .requiredOption('--username <name>', 'at most 21 characters')
  .requiredOption('--email <address>', 'where to reach the person')
  .option('--password-file <path>', 'reads the password from a file; else it is asked for, or read from standard input')
  .option('--json', 'prints {"id", "token"}')
  .action(async ({ username, email, passwordFile, json }) => {
    const password = await readPassword(passwordFile)
    const made = await withServices(async ({ services: { accounts } }) => {
      const id = await accounts.createAdministrator({ username, email, password })
      const token = await accounts.signIn({ kind: 'system' }, { email, password }, { key: undefined, replayed: false })
      return { id: toId('user', id), token }
    })
    if (json) return printJson(made)
    print(
      table([
        ['id', made.id],
        ['token', made.token],
      ]),
    )
    say('Keep the token: it is not shown again. Send it as "Authorization: token <token>".')
  })

const apiKey = command(program, 'api-key', 'API keys of trusted services.')

command(apiKey, 'issue', 'Makes an API key and prints it, this once.')
  .requiredOption('--name <name>', 'which service it is for')
  .option('--json', 'prints {"id", "key"}')
  .action(async ({ name, json }) => {
    const context = { key: undefined, replayed: false }
    const issued = await withServices(({ services: { apiKeys } }) =>
      apiKeys.issue({ kind: 'system' }, { name }, context),
    )
    const made = { id: toId('key', issued.id), key: issued.key }
    if (json) return printJson(made)
    print(
      table([
        ['id', made.id],
        ['key', made.key],
      ]),
    )
    say('Keep the key: it is not shown again. Services send it as "x-api-key: <key>".')
  })

command(apiKey, 'list', 'Lists all API keys, also revoked ones, newest first.')
  .option('--json', 'prints a list of {"id", "name", "prefix", "createdAt", "revokedAt"}')
  .action(async ({ json }) => {
    const keys = (await withServices(({ services: { apiKeys } }) => apiKeys.list({ kind: 'system' }))).map(
      ({ id, name, prefix, createdAt, revokedAt }) => ({ id: toId('key', id), name, prefix, createdAt, revokedAt }),
    )
    if (json) return printJson(keys)
    const rows = keys.map(({ id, name, prefix, createdAt, revokedAt }) => [
      ...[id, prefix, createdAt.toISOString(), revokedAt?.toISOString() ?? '-', name],
    ])
    print(table([['id', 'prefix', 'issued', 'revoked', 'name'], ...rows]))
  })

command(apiKey, 'revoke', 'Ends an API key: the next request that carries it is not trusted.')
  .argument('<id>', 'identifier of the key, as `annal api-key list` shows it')
  .action(async (id: string) => {
    const context = { key: undefined, replayed: false }
    await withServices(({ services: { apiKeys } }) => apiKeys.revoke({ kind: 'system' }, id, context))
    say('Revoked.')
  })

const sessions = command(program, 'sessions', 'Sessions of accounts.')

command(sessions, 'end', 'Ends sessions and mailed links, as after a restore, which brings back those that had ended.')
  .requiredOption('--all', 'of everybody')
  .option('--json', 'prints {"ended"}')
  .action(async ({ json }) => {
    const ended = await withServices(({ services }) => services.sessions.endAll())
    if (json) return printJson({ ended })
    say(`${ended} ${ended === 1 ? 'session' : 'sessions'} ended. Their owners sign in again.`)
  })

addKeysCommands(program)

interface GrantFlags {
  user: string
  points: string
  reason: string
  expires?: string
  idempotencyKey?: string
  json?: true
}

command(program, 'grant', 'Gives points to a user.')
  .requiredOption('--user <user>', 'identifier, e-mail address or username')
  .requiredOption('--points <amount>', 'how many, such as 0.5')
  .requiredOption('--reason <text>', 'why, at most 500 characters')
  .option('--expires <moment>', 'until when they can be spent, such as 2027-01-01T00:00:00Z; default: for ever')
  .option('--idempotency-key <key>', 'given again with the same key, they are given once')
  .option('--json', 'prints {"id", "userId", "amount", "expiresAt", "replayed"}')
  .action(async ({ user, points, reason, expires, idempotencyKey, json }: GrantFlags) => {
    const expiresAt = expires === undefined ? undefined : new Date(expires)
    const context = { key: idempotencyKey, replayed: false }
    const grant = await withServices(({ services: { grants } }) =>
      grants.grant({ kind: 'system' }, { userId: user, amount: points, reason, expiresAt }, context),
    )
    const made = { id: toId('grant', grant.id), userId: toId('user', grant.userId), amount: formatAmount(grant.amount) }
    if (json) return printJson({ ...made, expiresAt: grant.expiresAt, replayed: context.replayed })
    print(
      table([
        ['id', made.id],
        ['user', made.userId],
        ['points', made.amount],
        ['expires', grant.expiresAt?.toISOString() ?? 'never'],
      ]),
    )
    if (context.replayed) say('They had been given before with this key; nothing was added.')
  })

addCheckCommands(program)

command(program, 'config', 'Prints every variable with its effective value; secrets are not shown.')
  .option('--json', 'prints a list of {"name", "value", "doc"}')
  .action(({ json }) => {
    const variables = effectiveConfig()
    if (json) return printJson(variables.map((variable) => ({ ...variable, value: variable.value ?? null })))
    print(table(variables.map(({ name, value, doc }) => [name, value === undefined ? '-' : String(value), doc])))
  })

command(program, 'gc', 'Forgets what has expired and removes the blocks that no asset needs.')
  .option('--json', 'prints {"removedBlocks"}')
  .action(async ({ json }) => {
    const removedBlocks = await withServices(async ({ maintenance, services: { deletions, orders } }) => {
      await deletions.sweep()
      await orders.sweepArguments()
      await maintenance.sweep()
      return maintenance.collectGarbage()
    })
    if (json) return printJson({ removedBlocks })
    print(`${removedBlocks} ${removedBlocks === 1 ? 'block' : 'blocks'} removed`)
  })

addRelayCommand(program)
addJobsCommand(program)
addVerifyCommand(program)

function explain(error: unknown): { text: string; code: number } {
  if (error instanceof ConfigError) return { text: error.message, code: WRONG_USAGE }
  if (error instanceof DomainError) {
    const details = error.details === undefined ? '' : `\n${JSON.stringify(error.details, null, 2)}`
    return { text: error.message + details, code: error.code === 'VALIDATION_FAILED' ? WRONG_USAGE : FAILURE }
  }
  return { text: error instanceof Error ? error.message : String(error), code: FAILURE }
}

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Help and version come here as well, as errors with the code 0; what was wrong otherwise is said already.
    if (error.code.startsWith('annal.')) say(red(error.message))
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE
  } else {
    const { text, code } = explain(error)
    say(red(text))
    // A part that came up before another one failed must not keep an operator waiting.
    process.exit(code)
  }
}
