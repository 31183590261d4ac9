/** Command `users`. */
import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { asSystem } from '../context.ts'
import type { DeletionPreview } from '../modules/accounts/delete-account.sql.ts'
import { toId } from '../shared/ids.ts'
import { command, type Flags } from './command.ts'
import * as out from './terminal.ts'
import { withApp, withKeysAndCoins } from './with-infrastructure.ts'

type ReasonFlags = Flags<'reason', 'out'> & { yes?: true }

const USER = 'ID, e-mail address or username'
const REASON = 'reason for the audit log, at most 500 characters'
/** The audit log keeps the reason after the account is deleted. */
const ANONYMOUS_REASON = `${REASON}; kept indefinitely, so it must not name a person`

async function findUsers(search: string, { json }: { json?: true }) {
  const { searchUsers } = await import('../modules/accounts/find-users.ts')
  const rows = await withApp(({ context }) => searchUsers(asSystem(context), search))
  const users = rows.map((user) => ({ ...user, id: toId('user', user.id) }))
  if (users.length === 0) out.fail()
  if (json) return out.printJson(users)
  if (users.length === 0) return out.report('No account found.')
  out.printTable(users, 'id', 'role', 'assetCount', 'createdAt', 'lockedAt', 'lockReason', 'email', 'username')
}

async function setLock(operation: 'lockUser' | 'unlockUser', userId: string, { reason, json }: ReasonFlags) {
  const operations = await import('../modules/accounts/change-account.ts')
  const { readUser } = await import('../modules/accounts/find-users.ts')
  const { id: uuid, lockedAt } = await withApp(async (layer) => {
    const context = asSystem(layer.context)
    return readUser(context, await operations[operation](context, { userId, reason }))
  })
  const id = toId('user', uuid)
  if (json) return out.printJson({ id, lockedAt })
  out.report(lockedAt ? `${id} is locked since ${lockedAt.toISOString()}.` : `${id} is not locked.`)
}

async function exportUser(userId: string, { reason, out: path, json }: ReasonFlags) {
  const signal = out.interruption()
  const { streamExportAsOperator } = await import('../modules/accounts/export-account.ts')
  const exportTo = (send: (texts: AsyncIterable<string>) => Promise<void>) =>
    withApp(({ context }) => streamExportAsOperator(asSystem(context), { userId, reason }, send)).catch(
      (error: unknown) => {
        signal.throwIfAborted()
        throw error
      },
    )
  if (path === undefined) {
    out.reportIfUnread('The export is incomplete.')
    await exportTo((texts) => pipeline(texts, out.terminal().stdout, { end: false, signal }))
    return
  }
  let uuid = ''
  const write = async (file: FileHandle) => {
    uuid = await exportTo((texts) => file.writeFile(texts, { signal }))
  }
  const bytes = await out.writeNewFile(path, write, 0o600)
  const id = toId('user', uuid)
  if (json) return out.printJson({ id, path, bytes })
  out.report(out.green(`Exported ${id} to ${path} (${bytes} bytes).`))
}

function printLosses({ id, username, email, ...lost }: DeletionPreview, currency: string) {
  const losses = {
    account: `${id} (${username}, ${email})`,
    balance: `${lost.num} ${currency} and ${lost.points} points: lost, including later deposits`,
    tokens: `${lost.tokens} at the address: lost`,
    assets: `${out.counted(lost.assets, 'asset')}: deleted with files of only this account; commits stay on the chain`,
    'open orders': `${out.counted(lost.openOrders, 'order')}: canceled`,
    withdrawals: `${lost.withdrawals} in progress with ${lost.withdrawn} ${currency}: completed, but a returned amount is lost`,
    'apps for sale': `${out.counted(lost.networkApps, 'app')}: deactivated`,
  }
  out.printRows(Object.entries(losses))
}

async function deleteUser(user: string, { reason, yes, json }: ReasonFlags) {
  const { deleteAccountAsOperator, previewDeletion } = await import('../modules/accounts/delete-account.ts')
  await withKeysAndCoins(async (layer, { config }) => {
    const context = asSystem(layer.context)
    const preview = await previewDeletion(context, user)
    const account = { ...preview, id: toId('user', preview.id) }
    const { id, username } = account
    if (preview.deletedAt === null) {
      if (!json) printLosses(account, config.money.currency)
      const ask = () => out.isConfirmed(`Type ${username} to delete this account permanently: `, username)
      if (!yes && (json || !(await ask()))) {
        out.fail()
        if (json) out.printJson({ ...account, isDeleted: false })
        return out.report(out.red('The account was not deleted. Use --yes to delete it without a question.'))
      }
    }
    const { isNew } = await deleteAccountAsOperator(context, { userId: id, reason })
    if (json) return out.printJson({ ...account, isDeleted: true })
    out.report(isNew ? out.green(`Deleted ${id}.`) : `${id} was already deleted.`)
  })
}

export function addUsersCommands(program: Command): void {
  const users = command(program, 'users', { description: 'Finds, locks, exports and deletes accounts.' })

  command(users, 'find', {
    description: 'Finds accounts. Exits with 1 if there is none.',
    examples: ['annal users find ada@example.org', `annal users find ad --json | jq -r '.[].id'`],
    json: 'a list of {"id", "username", "email", "emailVerified", "role", "assetCount", "createdAt", "lockedAt", "lockReason"}',
  })
    .argument('<user>', `${USER}, or its first characters`)
    .action(findUsers)

  command(users, 'lock', {
    description: 'Locks an account: blocks sign-in, and ends sessions, streams and mailed links.',
    examples: ['annal users lock ada --reason "Stolen, the owner wrote to us"'],
    notes: 'Paid actions and commits of the account are completed.',
    json: '{"id", "lockedAt"}',
  })
    .argument('<user>', USER)
    .requiredOption('--reason <text>', REASON)
    .action((user: string, flags: ReasonFlags) => setLock('lockUser', user, flags))

  command(users, 'unlock', {
    description: 'Unlocks an account, so that its owner can sign in again.',
    examples: ['annal users unlock ada --reason "The owner has it back"'],
    json: '{"id", "lockedAt"}',
  })
    .argument('<user>', USER)
    .requiredOption('--reason <text>', REASON)
    .action((user: string, flags: ReasonFlags) => setLock('unlockUser', user, flags))

  command(users, 'export', {
    description: 'Exports all data about a user who cannot sign in, in the same format as their own export.',
    examples: [
      'annal users export ada --reason "Requested by letter, our file 2026-117" --out ada.json',
      'annal users export ada@example.org --reason "Our file 2026-117" | gzip > ada.json.gz',
    ],
    notes: `Check the identity of the person who asks: the file contains all private data of the user. The user sees the export in their audit log.
If the process is killed, it leaves FILE.part-… behind. Delete that file and run the command again.`,
    json: '{"id", "path", "bytes"} of the file; without --out the output is JSON anyway',
  })
    .argument('<user>', USER)
    .requiredOption('--reason <text>', ANONYMOUS_REASON)
    .option('--out <file>', 'path of a new file, which only you can read; default: stdout')
    .action(exportUser)

  command(users, 'delete', {
    description: 'Deletes the account of a user who cannot sign in. This cannot be undone.',
    examples: [
      'annal users delete ada --reason "Requested by letter, our file 2026-117"',
      'annal users delete user_01h455vb4pex5vsknk084sn02q --reason "Our file 2026-117" --yes --json',
    ],
    notes: `Shows what will be lost, and asks for confirmation at a terminal. Without a terminal and with --json it needs --yes, or it deletes nothing and exits
with 1. Repeat the command after an interruption: for an account that is already deleted, it destroys the key again.`,
    json: '{"id", "username", "email", "deletedAt", "num", "points", "tokens", "assets", "openOrders", "networkApps", "withdrawals", "withdrawn", "isDeleted"} as before the deletion',
  })
    .argument('<user>', USER)
    .requiredOption('--reason <text>', ANONYMOUS_REASON)
    .option('--yes', 'deletes without a question')
    .action(deleteUser)
}
