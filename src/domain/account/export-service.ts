/** Everything that is kept of a person, as one JSON document. Contract: `GET /api/v3/auth/users/me/export` and `myData`. */
import { type Actor, assertUser, type UserActor } from '../actor.ts'
import { auditValues } from '../audit/audit-sql.ts'
import { authenticationFailed, DomainError } from '../errors.ts'
import { type IdPrefix, toId } from '../ids.ts'
import { assertMay } from '../policy.ts'
import type { Database, Safe } from '../ports.ts'
import { openActionArgs } from '../store/action-args.ts'
import { describeReference } from '../wallet/transfer-kind.ts'
import {
  type ExportPage,
  noteExport,
  readAccount,
  readAssets,
  readAuditEntries,
  readCommits,
  readDeposits,
  readGrants,
  readNetworkApps,
  readOrders,
  readSessions,
  readTransfers,
} from './export-statements.ts'

type Item = Record<string, unknown>

interface List {
  name: string
  page: ExportPage
  /** Which columns hold identifiers, and of what. */
  ids?: Record<string, IdPrefix>
  present?: (item: Item) => Item | Promise<Item>
}

interface Dependencies {
  database: Database
  safe: Safe
}

const PAGE = 200
/** Rows that fit into one GraphQL answer. */
const MAX_ROWS = 10_000

const identify = (item: Item, ids: Record<string, IdPrefix>): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const prefix = ids[name]
      return [name, prefix && typeof value === 'string' ? toId(prefix, value) : value]
    }),
  )

export type ExportService = ReturnType<typeof createExportService>

export function createExportService({ database, safe }: Dependencies) {
  const lists: List[] = [
    { name: 'assets', page: readAssets },
    { name: 'commits', page: readCommits, ids: { id: 'commit' } },
    {
      name: 'orders',
      page: readOrders,
      ids: { id: 'order', networkAppId: 'app', transferId: 'transfer' },
      present: async (item) => {
        const actionArgs = await openActionArgs(safe, item.id as string, item.actionArgs as Uint8Array | null)
        return { ...item, actionArgs }
      },
    },
    {
      name: 'transfers',
      page: readTransfers,
      ids: { id: 'transfer' },
      present: ({ reference, ...item }) => ({ ...item, ...describeReference(reference as string) }),
    },
    { name: 'grants', page: readGrants, ids: { id: 'grant' } },
    { name: 'deposits', page: readDeposits },
    { name: 'sessions', page: readSessions, ids: { id: 'session' } },
    { name: 'auditEntries', page: readAuditEntries, ids: { id: 'audit' } },
    { name: 'networkApps', page: readNetworkApps, ids: { id: 'app' } },
  ]

  /** Raises NOT_AUTHENTICATED; AUTHENTICATION_FAILED when the account was deleted meanwhile. */
  async function begin(actor: Actor): Promise<{ user: UserActor; head: Item }> {
    assertMay(actor, 'account:export')
    assertUser(actor)
    await database.query(noteExport, [...auditValues(actor)])
    const [found] = await database.query(readAccount, [actor.id])
    if (!found) throw authenticationFailed()
    const { account, wallet } = found
    return { user: actor, head: { exportedAt: new Date(), account: identify(account, { id: 'user' }), wallet } }
  }

  async function* itemsOf({ page, ids = {}, present = (item) => item }: List, userId: string): AsyncGenerator<Item> {
    for (let after = ''; ; ) {
      const rows = await database.query(page, [userId, after, PAGE])
      for (const { after: cursor, ...item } of rows) {
        yield identify(await present(item), ids)
        after = cursor
      }
      if (rows.length < PAGE) return
    }
  }

  /** The document's text, list by list: however large the account, little of it is held at once. */
  async function* write({ user, head }: { user: UserActor; head: Item }): AsyncGenerator<string> {
    yield JSON.stringify(head).slice(0, -1)
    for (const list of lists) {
      yield `,\n"${list.name}":[`
      let separator = '\n'
      for await (const item of itemsOf(list, user.id)) {
        yield separator + JSON.stringify(item)
        separator = ',\n'
      }
      yield ']'
    }
    yield '}\n'
  }

  return {
    /** The document's text in pieces. Raises NOT_AUTHENTICATED before the first. */
    async stream(actor: Actor): Promise<AsyncIterable<string>> {
      return write(await begin(actor))
    },

    /** The whole document. Raises NOT_AUTHENTICATED, VALIDATION_FAILED when it has more rows than one answer can hold. */
    async read(actor: Actor): Promise<Item> {
      const { user, head } = await begin(actor)
      const all: Item = { ...head }
      let rows = 0
      for (const list of lists) {
        const items: Item[] = []
        for await (const item of itemsOf(list, user.id)) {
          rows += 1
          if (rows > MAX_ROWS) {
            throw new DomainError('VALIDATION_FAILED', 'There is too much for one answer.', {
              details: 'Download it from GET /api/v3/auth/users/me/export',
            })
          }
          items.push(item)
        }
        all[list.name] = items
      }
      return all
    },
  }
}
