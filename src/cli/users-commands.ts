/** `annal users`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { fail, print, printJson, say, table } from './output.ts'
import { addPersonCommands } from './person-commands.ts'
import { withServices } from './with-installation.ts'

interface LockFlags {
  reason: string
  json?: true
}

const WHOM = 'identifier, e-mail address or username'

async function change(operation: 'lock' | 'unlock', userId: string, { reason, json }: LockFlags) {
  const { toId } = await import('../shared/ids.ts')
  const context = { key: undefined, replayed: false }
  const { id, lockedAt } = await withServices(async ({ services: { users, accounts } }) =>
    accounts.get(await users[operation]({ kind: 'system' }, { userId, reason }, context)),
  )
  if (json) return printJson({ id: toId('user', id), lockedAt })
  say(
    lockedAt
      ? `${toId('user', id)} is locked since ${lockedAt.toISOString()}.`
      : `${toId('user', id)} is not locked, and may sign in.`,
  )
}

/** Adds `annal users …`. */
export function addUsersCommands(program: Command): void {
  const users = command(
    program,
    'users',
    'Accounts: finding them, keeping their owners out, and acting for who cannot sign in.',
  )

  command(users, 'find', 'Finds accounts; exits with 1 when there is none.', [
    'annal users find ada@example.org',
    `annal users find ad --json | jq -r '.[].id'`,
  ])
    .argument('<who>', `${WHOM}, or the beginning of one`)
    .option(
      '--json',
      'prints a list of {"id", "username", "email", "emailVerified", "role", "assetCount", "createdAt", "lockedAt", "lockReason"}',
    )
    .action(async (who: string, { json }: { json?: true }) => {
      const { toId } = await import('../shared/ids.ts')
      const found = (await withServices(({ services }) => services.users.search({ kind: 'system' }, who))).map(
        (user) => ({ ...user, id: toId('user', user.id) }),
      )
      if (found.length === 0) fail()
      if (json) return printJson(found)
      if (found.length === 0) return say('There is no such account.')
      const rows = found.map(({ id, username, email, role, assetCount, createdAt, lockedAt, lockReason }) => [
        ...[id, role, String(assetCount), createdAt.toISOString()],
        lockedAt ? `${lockedAt.toISOString()} (${lockReason})` : '-',
        ...[email, username],
      ])
      print(table([['id', 'role', 'assets', 'since', 'locked', 'email', 'username'], ...rows]))
    })

  command(
    users,
    'lock',
    'Keeps the owner of an account out: nobody signs in, and sessions, streams and mailed links end at once. What is paid for goes on.',
    ['annal users lock ada --reason "Stolen, the owner wrote to us"'],
  )
    .argument('<who>', WHOM)
    .requiredOption('--reason <text>', 'why, at most 500 characters; it stands in the audit trail')
    .option('--json', 'prints {"id", "lockedAt"}')
    .action((who: string, flags: LockFlags) => change('lock', who, flags))

  command(users, 'unlock', 'Lets the owner of a locked account sign in again.', [
    'annal users unlock ada --reason "It is hers again"',
  ])
    .argument('<who>', WHOM)
    .requiredOption('--reason <text>', 'why, at most 500 characters; it stands in the audit trail')
    .option('--json', 'prints {"id", "lockedAt"}')
    .action((who: string, flags: LockFlags) => change('unlock', who, flags))

  addPersonCommands(users)
}
