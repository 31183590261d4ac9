import type { Use } from '../../context.ts'
import { keysetPages } from '../../shared/async.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { rateLimitKeys } from '../../shared/rate-limiter.ts'
import { describeReference } from '../wallet/statement.ts'
import {
  type ExportColumn,
  exportPages,
  readAccount,
  recordExport,
  recordOperatorExport,
} from './export-account.sql.ts'
import { type AccountWithReason, accountWithReason, findAccount, isDeletedError } from './find-users.ts'

type Needs = Use<'actionArgs' | 'actor' | 'database' | 'semaphores'>
type Item = Record<string, unknown>

interface StartedExport {
  user: string
  head: Item
}

/** Rows that are read at once of lists with small rows, and of lists with long texts. */
const MANY = 200
const FEW = 48
export const MAX_DATA_BYTES = 4_000_000
const MAX_ROWS = 10_000

type ListName = keyof typeof exportPages
const listNames = Object.keys(exportPages) as ListName[]

const smallPages = new Set<ListName>(['assets', 'commits', 'orders'])

const presenters: { [Name in ListName]?: (item: Item, context: Needs) => Item | Promise<Item> } = {
  orders: async (item, { actionArgs }) => ({
    ...item,
    actionArgs: await actionArgs.openForDisplay(item.id as string, item.actionArgs as Uint8Array | null),
  }),
  transfers: ({ reference, ...item }) => ({ ...item, ...describeReference(reference as string) }),
}

const withPublicIds = (item: Item, columns: Record<string, ExportColumn>): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const prefix = columns[name]?.prefix
      return [name, prefix && typeof value === 'string' ? toId(prefix, value) : value]
    }),
  )

/** Reads the head of the document. Throws AUTHENTICATION_FAILED if the account was deleted in the meantime. */
async function readHead({ database }: Needs, user: string): Promise<Item> {
  const [found] = await database.query(readAccount, { user })
  if (!found) throw authenticationFailed()
  const { account, wallet, now } = found
  return { exportedAt: now, account, wallet }
}

async function* readItems(context: Needs, list: ListName, user: string): AsyncGenerator<Item> {
  const page = exportPages[list]
  const present = presenters[list] ?? ((item) => item)
  const pages = keysetPages({
    first: '',
    limit: smallPages.has(list) ? FEW : MANY,
    read: (after, limit) => context.database.query(page, { user, after, limit }),
    keyOf: ({ after }) => after,
  })
  for await (const rows of pages) {
    for (const { after: _, ...item } of rows) yield withPublicIds(await present(item, context), page.columns)
  }
}

/** Yields the text of the document. Only one page is in memory at a time. */
async function* writeDocument(context: Needs, { user, head }: StartedExport): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1)
  for (const list of listNames) {
    yield `,\n"${list}":[`
    let separator = '\n'
    for await (const item of readItems(context, list, user)) {
      yield separator + JSON.stringify(item)
      separator = ',\n'
    }
    yield ']'
  }
  // If the account was deleted in the meantime, the lists are incomplete.
  await readHead(context, user)
  yield '}\n'
}

async function readDocument(context: Needs, { user, head }: StartedExport): Promise<Item> {
  const document: Item = { ...head }
  let rows = 0
  let bytes = 0
  for (const list of listNames) {
    const items: Item[] = []
    for await (const item of readItems(context, list, user)) {
      rows += 1
      bytes += Buffer.byteLength(JSON.stringify(item))
      if (rows > MAX_ROWS || bytes > MAX_DATA_BYTES) {
        throw new DomainError('VALIDATION_FAILED', 'There is too much for one answer.', {
          details: 'Download it from GET /api/v3/auth/users/me/export',
        })
      }
      items.push(item)
    }
    document[list] = items
  }
  await readHead(context, user)
  return document
}

/** Runs one export of an account at a time. Throws THROTTLED, UNAVAILABLE. */
const runExport = <T>({ actor, semaphores }: Needs, user: string, work: () => Promise<T>): Promise<T> =>
  semaphores.accountExports(() => semaphores.exports(work, { keys: rateLimitKeys(actor) }), { keys: [`user:${user}`] })

async function startOwnExport(context: Needs, user: string, address: string): Promise<StartedExport> {
  await context.database.query(recordExport, { user, address })
  return { user, head: await readHead(context, user) }
}

type SendText = (text: AsyncIterable<string>) => Promise<void>

/** Streams the caller's data as JSON text. Throws AUTHENTICATION_FAILED if the account is deleted in the meantime. */
export async function streamExport(context: Needs, send: SendText): Promise<void> {
  const { actor } = context
  assertUserMay(actor, 'account:export')
  await runExport(context, actor.id, async () =>
    send(writeDocument(context, await startOwnExport(context, actor.id, actor.address))),
  )
}

/** Returns the caller's data. Throws the errors of `streamExport`, and VALIDATION_FAILED if it is too large. */
export async function readExport(context: Needs): Promise<Item> {
  const { actor } = context
  assertUserMay(actor, 'account:export')
  return runExport(context, actor.id, async () =>
    readDocument(context, await startOwnExport(context, actor.id, actor.address)),
  )
}

/** Streams the data of an account for an operator, on behalf of a user who cannot sign in. Returns the UUID of the user. */
export async function streamExportAsOperator(
  context: Needs & Use<'config'>,
  rawInput: AccountWithReason,
  send: SendText,
): Promise<string> {
  assertOperator(context.actor)
  const { userId, reason } = parse(accountWithReason, rawInput)
  const user = await findAccount(context, userId)
  if (user === undefined) throw notFound('User')
  const work = async () => {
    await context.database.query(recordOperatorExport, { user, subject: toId('user', user), reason })
    await send(writeDocument(context, { user, head: await readHead(context, user) }))
  }
  await runExport(context, user, work).catch((error: unknown) => {
    throw isDeletedError(error) ? notFound('User') : error
  })
  return user
}
