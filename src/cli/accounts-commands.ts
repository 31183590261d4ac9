/** Commands `admin`, `sessions`, `grant` and `api-key`. */
import type { Command } from 'commander'
import { asSystem } from '../context.ts'
import { toId } from '../shared/ids.ts'
import { formatAmount } from '../shared/money.ts'
import { command, type Flags, nameOptions } from './command.ts'
import * as out from './terminal.ts'
import { withApp } from './with-infrastructure.ts'

async function createAdministrator(flags: Flags<'username' | 'email', 'passwordFile'>) {
  const { username, email, passwordFile, json } = flags
  const password = await out.readPassword(passwordFile)
  const operations = await import('../modules/accounts/sign-up.ts')
  const { signIn } = await import('../modules/accounts/sessions.ts')
  const created = await withApp(async (layer) => {
    const context = asSystem(layer.context)
    const id = await operations.createAdministrator(context, { username, email, password })
    const token = await signIn(context, { email, password })
    return { id: toId('user', id), token }
  })
  out.reportIfUnread(
    `The administrator ${created.id} was created, but the token was not shown. Sign in with the password to get another token.`,
  )
  if (json) return out.printJson(created)
  out.printRows(Object.entries(created))
  out.report('Save the token: it is not shown again. Send it as "Authorization: token <token>".')
}

async function runGrant(flags: Flags<'user' | 'points' | 'reason', 'idempotencyKey'>) {
  const { user, points, reason, idempotencyKey, json } = flags
  if (idempotencyKey?.trim() === '') throw out.usageError('--idempotency-key is empty.')
  const { grantPoints } = await import('../modules/wallet/grant-points.ts')
  const idempotency = { key: idempotencyKey, replayed: false }
  const grant = await withApp(({ context }) =>
    grantPoints({ ...asSystem(context), idempotency }, { userId: user, amount: points, reason }),
  ).catch(nameOptions({ userId: '--user', amount: '--points', reason: '--reason' }))
  const { replayed } = idempotency
  const [id, userId, amount] = [toId('grant', grant.id), toId('user', grant.userId), formatAmount(grant.amount)]
  if (json) return out.printJson({ id, userId, amount, replayed })
  out.printRows(Object.entries({ id, user: userId, points: amount }))
  if (replayed) out.report('An earlier grant used this idempotency key. No points were added.')
}

export function addAccountsCommands(program: Command): void {
  const admin = command(program, 'admin', { description: 'Manages administrators.' })

  command(admin, 'create', {
    description: 'Creates an administrator and prints its ID and an access token.',
    examples: [
      'annal admin create --username root --email root@example.org',
      'annal admin create --username root --email root@example.org --password-file /run/secrets/root --json',
    ],
    json: '{"id", "token"}',
  })
    .requiredOption('--username <name>', 'username, at most 21 characters')
    .requiredOption('--email <address>', 'e-mail address')
    .option(
      '--password-file <path>',
      'file that contains the password; default: asks at the terminal or reads standard input',
    )
    .action(createAdministrator)

  const sessions = command(program, 'sessions', { description: 'Manages sessions.' })

  command(sessions, 'end', {
    description: 'Ends all sessions and mailed links.',
    examples: ['annal sessions end --all'],
    notes: 'Use it after a restore: a backup contains sessions that have ended since.',
    json: '{"ended"}',
  })
    .requiredOption('--all', 'sessions of all users')
    .action(async ({ json }) => {
      const { endAllSessions } = await import('../modules/accounts/sessions.ts')
      const ended = await withApp(({ context }) => endAllSessions(context))
      if (json) return out.printJson({ ended })
      out.report(`${out.counted(ended, 'session')} ended. The users have to sign in again.`)
    })

  command(program, 'grant', {
    description: 'Grants points to a user.',
    examples: [
      'annal grant --user ada --points 50 --reason "Won the contest"',
      'annal grant --user ada@example.org --points 5 --reason Welcome --idempotency-key welcome-ada',
    ],
    json: '{"id", "userId", "amount", "replayed"}',
  })
    .requiredOption('--user <user>', 'ID, e-mail address or username')
    .requiredOption('--points <amount>', 'number of points, such as 0.5')
    .requiredOption('--reason <text>', 'reason shown to the user, at most 500 characters')
    .option('--idempotency-key <key>', 'prevents a second grant when the command is repeated with the same key')
    .action(runGrant)

  const apiKey = command(program, 'api-key', { description: 'Manages API keys of trusted services.' })

  command(apiKey, 'issue', {
    description: 'Creates an API key and prints it.',
    examples: ['annal api-key issue --name shop --json'],
    json: '{"id", "key"}',
  })
    .requiredOption('--name <name>', 'name of the service that uses the key')
    .action(async ({ name, json }) => {
      const { issueApiKey } = await import('../modules/store/api-keys.ts')
      const issued = await withApp(({ context }) => issueApiKey(asSystem(context), { name }))
      const id = toId('key', issued.id)
      out.reportIfUnread(`The key ${id} was created, but it was not shown. Revoke it: annal api-key revoke ${id}`)
      if (json) return out.printJson({ id, key: issued.key })
      out.printRows(Object.entries({ id, key: issued.key }))
      out.report('Save the key: it is not shown again. Services send it as "x-api-key: <key>".')
    })

  command(apiKey, 'list', {
    description: 'Lists all API keys, including revoked ones, newest first.',
    examples: ['annal api-key list'],
    json: 'a list of {"id", "name", "prefix", "createdAt", "revokedAt"}',
  }).action(async ({ json }) => {
    const { apiKeyReader } = await import('../modules/store/api-keys.ts')
    const rows = await withApp(({ context }) => apiKeyReader.list(asSystem(context), {}))
    const keys = rows.map(({ id, name, prefix, createdAt, revokedAt }) => ({
      ...{ id: toId('key', id), name, prefix, createdAt, revokedAt },
    }))
    if (json) return out.printJson(keys)
    out.printTable(keys, 'id', 'prefix', 'createdAt', 'revokedAt', 'name')
  })

  command(apiKey, 'revoke', {
    description: 'Revokes an API key immediately.',
    examples: ['annal api-key revoke key_01h455vb4pex5vsknk084sn02q'],
    json: '{"id"}',
  })
    .argument('<id>', 'ID of the key')
    .action(async (id: string, { json }) => {
      const { revokeApiKey } = await import('../modules/store/api-keys.ts')
      await withApp(({ context }) => revokeApiKey(asSystem(context), { id }))
      if (json) return out.printJson({ id })
      out.report('Revoked.')
    })
}
