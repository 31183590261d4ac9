/** `annal users export` and `delete`: what only a person may do with their account, for one who cannot sign in. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { ForeseenDeletion } from '../modules/accounts/delete-account.sql.ts'
import { command } from './command.ts'
import { isTyped } from './confirm.ts'
import { counted, fail, green, ifUnread, print, printJson, red, say, table } from './output.ts'
import { interruption, terminal } from './terminal.ts'
import { withKeysAndCoins, withServices } from './with-installation.ts'

interface ExportFlags {
  reason: string
  out?: string
  json?: true
}

interface DeleteFlags {
  reason: string
  yes?: true
  json?: true
}

const WHOM = 'identifier, e-mail address or username'
const WHY = 'why, at most 500 characters; it stands in the audit trail for ever: name no person in it'
const operator = { kind: 'system' } as const

/** Characters that are written at once. */
const CHUNK = 65_536

async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}

async function exportPerson(userId: string, { reason, out, json }: ExportFlags) {
  const { toId } = await import('../shared/ids.ts')
  const signal = interruption()
  const take = (send: (texts: AsyncIterable<string>) => Promise<void>) =>
    withServices(({ services }) => services.exports.streamFor(operator, { userId, reason }, send)).catch(
      (error: unknown) => {
        signal.throwIfAborted()
        throw error
      },
    )
  if (out === undefined) {
    ifUnread('The export was not written to its end.')
    await take((texts) => pipeline(Readable.from(inChunks(texts)), terminal().stdout, { end: false, signal }))
    return
  }
  const { writePrivateFile } = await import('./new-file.ts')
  let user = ''
  const bytes = await writePrivateFile(out, async (file) => {
    user = await take((texts) => file.writeFile(inChunks(texts), { signal }))
  })
  const id = toId('user', user)
  if (json) return printJson({ id, path: out, bytes })
  say(green(`${out}: ${bytes} bytes, all that is kept of ${id}.`))
}

const printLoss = ({ id, username, email, ...lost }: ForeseenDeletion, currency: string) => {
  const rows = [
    ['balance', `${lost.num} ${currency} and ${lost.points} points: forfeited, as is what still comes in`],
    ['tokens', `${lost.tokens} at the address: nobody can move them any more`],
    ['assets', `${counted(lost.assets, 'asset')}, with files that nobody else registered; the chain keeps the commits`],
    ['open orders', `${counted(lost.openOrders, 'order')}: cancelled`],
    [
      'withdrawals',
      `${lost.withdrawals} under way with ${lost.withdrawn} ${currency}: they go on, and what comes back is forfeited`,
    ],
    ['apps on sale', `${counted(lost.networkApps, 'app')}: taken off sale`],
  ]
  print(table([['account', `${id} (${username}, ${email})`], ...rows]))
}

async function deletePerson(who: string, { reason, yes, json }: DeleteFlags) {
  const { toId } = await import('../shared/ids.ts')
  await withKeysAndCoins(async ({ services: { deletions } }, { config }) => {
    const seen = await deletions.foresee(operator, who)
    const id = toId('user', seen.id)
    const foreseen = { ...seen, id }
    if (seen.deletedAt === null) {
      if (!json) printLoss(foreseen, config.money.currency)
      const ask = () => isTyped(`Type ${seen.username} to delete this account for good: `, seen.username)
      const isMeant = yes || (!json && (await ask()))
      if (!isMeant) {
        fail()
        if (json) printJson({ ...foreseen, isDeleted: false })
        return say(red('Nothing was deleted. --yes deletes the account, and nobody can undo that.'))
      }
    }
    const { isNew } = await deletions.deleteFor(operator, { userId: id, reason })
    if (json) return printJson({ ...foreseen, isDeleted: true })
    say(isNew ? green(`${id} is deleted.`) : `${id} was deleted before.`)
  })
}

/** Adds `annal users export` and `annal users delete`. */
export function addPersonCommands(users: Command): void {
  command(
    users,
    'export',
    'Takes everything that is kept of a person who cannot sign in: the same document as their own export.',
    [
      'annal users export ada --reason "Asked for by letter, our file 2026-117" --out ada.json',
      'annal users export ada@example.org --reason "Our file 2026-117" | gzip > ada.json.gz',
    ],
    `Be sure who asks: whoever gets the file has all of the person's private data. That it was taken stands in the person's trail, too. A process that is killed leaves
FILE.part-… behind: remove it, and give the command again.`,
  )
    .argument('<who>', WHOM)
    .requiredOption('--reason <text>', WHY)
    .option('--out <file>', 'where it is written, readable for you alone, where nothing is yet; default: stdout')
    .option('--json', 'prints {"id", "path", "bytes"} of what --out wrote; without --out it is JSON already')
    .action(exportPerson)

  command(
    users,
    'delete',
    'Deletes the account of a person who cannot sign in, for good: the same as their own deletion.',
    [
      'annal users delete ada --reason "Asked for by letter, our file 2026-117"',
      'annal users delete user_01h455vb4pex5vsknk084sn02q --reason "Our file 2026-117" --yes --json',
    ],
    `Tells what will be lost, and asks at a terminal; elsewhere, and with --json, it deletes nothing without --yes, and exits with 1. Give it again when it was interrupted: by its identifier an
account that is deleted is told as such, and its key destroyed again.`,
  )
    .argument('<who>', WHOM)
    .requiredOption('--reason <text>', WHY)
    .option('--yes', 'deletes without asking')
    .option(
      '--json',
      'prints {"id", "username", "email", "deletedAt", "num", "points", "tokens", "assets", "openOrders", "networkApps", "withdrawals", "withdrawn", "isDeleted"}: as it was before',
    )
    .action(deletePerson)
}
