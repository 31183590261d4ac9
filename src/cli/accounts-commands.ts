/** `annal admin`, `annal sessions` and `annal grant`. */
import { type Command, CommanderError } from 'commander'
import { command } from './command.ts'
import { nameOptions } from './name-options.ts'
import { counted, ifUnread, print, printJson, say, table, WRONG_USAGE } from './output.ts'
import { readPassword } from './read-password.ts'
import { withServices } from './with-installation.ts'

interface AdminFlags {
  username: string
  email: string
  passwordFile?: string
  json?: true
}

/** Adds `annal admin create`. */
export function addAdminCommands(program: Command): void {
  const admin = command(program, 'admin', 'Administrators.')

  command(admin, 'create', 'Makes an administrator and prints the id and an access token.', [
    'annal admin create --username root --email root@example.org',
    'annal admin create --username root --email root@example.org --password-file /run/secrets/root --json',
  ])
    .requiredOption('--username <name>', 'at most 21 characters')
    .requiredOption('--email <address>', 'where to reach the person')
    .option(
      '--password-file <path>',
      'reads the password from a file; else it is asked for, or read from standard input',
    )
    .option('--json', 'prints {"id", "token"}')
    .action(async ({ username, email, passwordFile, json }: AdminFlags) => {
      const password = await readPassword(passwordFile)
      const { toId } = await import('../shared/ids.ts')
      const made = await withServices(async ({ services: { accounts } }) => {
        const id = await accounts.createAdministrator({ kind: 'system' }, { username, email, password })
        const token = await accounts.signIn(
          { kind: 'system' },
          { email, password },
          { key: undefined, replayed: false },
        )
        return { id: toId('user', id), token }
      })
      ifUnread(
        `The administrator ${made.id} was made, and nobody has seen the token. Sign in with the password for another.`,
      )
      if (json) return printJson(made)
      print(
        table([
          ['id', made.id],
          ['token', made.token],
        ]),
      )
      say('Keep the token: it is not shown again. Send it as "Authorization: token <token>".')
    })
}

/** Adds `annal sessions end`. */
export function addSessionsCommands(program: Command): void {
  const sessions = command(program, 'sessions', 'Sessions of accounts.')

  command(
    sessions,
    'end',
    'Ends sessions and mailed links, as after a restore, which brings back those that had ended.',
    ['annal sessions end --all'],
  )
    .requiredOption('--all', 'of everybody')
    .option('--json', 'prints {"ended"}')
    .action(async ({ json }) => {
      const ended = await withServices(({ services }) => services.sessions.endAll())
      if (json) return printJson({ ended })
      say(`${counted(ended, 'session')} ended. Their owners sign in again.`)
    })
}

interface GrantFlags {
  user: string
  points: string
  reason: string
  idempotencyKey?: string
  json?: true
}

const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.grant', message)

/** Adds `annal grant`. */
export function addGrantCommand(program: Command): void {
  command(program, 'grant', 'Gives points to a user.', [
    'annal grant --user ada --points 50 --reason "Won the contest"',
    'annal grant --user ada@example.org --points 5 --reason Welcome --idempotency-key welcome-ada',
  ])
    .requiredOption('--user <user>', 'ID, e-mail address or username')
    .requiredOption('--points <amount>', 'number of points, such as 0.5')
    .requiredOption('--reason <text>', 'reason shown to the user, at most 500 characters')
    .option('--idempotency-key <key>', 'prevents a second grant when the command is repeated with the same key')
    .option('--json', 'prints {"id", "userId", "amount", "replayed"}')
    .action(async ({ user, points, reason, idempotencyKey, json }: GrantFlags) => {
      const { toId } = await import('../shared/ids.ts')
      const { formatAmount } = await import('../shared/money.ts')
      if (idempotencyKey?.trim() === '') throw wrong('--idempotency-key is empty.')
      const context = { key: idempotencyKey, replayed: false }
      const grant = await withServices(({ services: { grants } }) =>
        grants.grant({ kind: 'system' }, { userId: user, amount: points, reason }, context),
      ).catch(nameOptions({ userId: '--user', amount: '--points', reason: '--reason' }))
      const { amount, userId } = grant
      const made = { id: toId('grant', grant.id), userId: toId('user', userId), amount: formatAmount(amount) }
      if (json) return printJson({ ...made, replayed: context.replayed })
      print(
        table([
          ['id', made.id],
          ['user', made.userId],
          ['points', made.amount],
        ]),
      )
      if (context.replayed) say('The points were already given with this idempotency key; nothing was added.')
    })
}
