/** Everything that is kept of a person, as one JSON document. Contract: `GET /api/v3/auth/users/me/export` and `myData`. */

import type { Database } from '../../db/database-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { keysetPages } from '../../shared/async.ts'
import { authenticationFailed, DomainError, notFound, throttled } from '../../shared/errors.ts'
import { type IdPrefix, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { rateLimitKeys } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { describeReference } from '../wallet/statement.ts'
import { createFindAccount, isDeleted, type WithReason, withReason } from './account-lookup.ts'
import {
  type ExportPage,
  noteExport,
  noteExportFor,
  readAccount,
  readAssetLinks,
  readAssets,
  readAuditEntries,
  readCommits,
  readDeposits,
  readEvents,
  readNetworkApps,
  readOrders,
  readPictures,
  readRefunds,
  readSessions,
  readTransfers,
  readWithdrawals,
} from './export-account.sql.ts'

type Item = Record<string, unknown>

interface List {
  name: string
  page: ExportPage
  /** How many rows are read at once. */
  rows?: number
  /** Which columns hold identifiers, and of what. */
  ids?: Record<string, IdPrefix>
  present?: (item: Item) => Item | Promise<Item>
}

/** An export that was written into the trail: of whom, and what it begins with. */
interface Begun {
  user: string
  head: Item
}

/** Whose export it is, and from which network address they ask. */
interface Exporter {
  id: string
  address: string
}

interface Dependencies {
  database: Database
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
  actionArgs: ActionArgs
  /** Exports at once, of everybody. */
  exports: Semaphore
  meter: Meter
}

/** Rows that are read at once: of lists whose rows are small, and of those that hold long texts. */
const MANY = 200
const FEW = 48
/** What fits into one answer of GraphQL. */
export const MAX_DATA_BYTES = 4_000_000
const MAX_ROWS = 10_000
/** Seconds. */
const ANOTHER_EXPORT_SECONDS = 30

const identify = (item: Item, ids: Record<string, IdPrefix>): Item =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const prefix = ids[name]
      return [name, prefix && typeof value === 'string' ? toId(prefix, value) : value]
    }),
  )

/** Exports of accounts. `exports` bounds how many run at once; of one account only one does. */
export function createExportService({
  database,
  verifiesAddresses,
  actionArgs: argumentsOf,
  exports,
  meter,
}: Dependencies) {
  const findAccount = createFindAccount({ database, verifiesAddresses })
  const lists: List[] = [
    { name: 'assets', page: readAssets, rows: FEW },
    { name: 'commits', page: readCommits, rows: FEW, ids: { id: 'commit' } },
    {
      name: 'orders',
      page: readOrders,
      rows: FEW,
      ids: { id: 'order', networkAppId: 'app', transferId: 'transfer' },
      present: async (item) => {
        const actionArgs = await argumentsOf.openForDisplay(item.id as string, item.actionArgs as Uint8Array | null)
        return { ...item, actionArgs }
      },
    },
    { name: 'refunds', page: readRefunds, ids: { id: 'refund', orderId: 'order', transferId: 'transfer' } },
    {
      name: 'transfers',
      page: readTransfers,
      ids: { id: 'transfer' },
      present: ({ reference, ...item }) => ({ ...item, ...describeReference(reference as string) }),
    },
    { name: 'deposits', page: readDeposits, ids: { id: 'deposit' } },
    { name: 'withdrawals', page: readWithdrawals, ids: { id: 'withdrawal' } },
    { name: 'sessions', page: readSessions, ids: { id: 'session' } },
    { name: 'assetLinks', page: readAssetLinks, ids: { id: 'link' } },
    { name: 'auditEntries', page: readAuditEntries, ids: { id: 'audit' } },
    { name: 'pictures', page: readPictures, present: ({ id, ...item }) => item },
    { name: 'networkApps', page: readNetworkApps, ids: { id: 'app' } },
    {
      name: 'events',
      page: readEvents,
      ids: { id: 'event', orderId: 'order', commitId: 'commit', deliveryId: 'delivery', transferId: 'transfer' },
    },
  ]

  /** Raises AUTHENTICATION_FAILED when the account was deleted meanwhile. */
  async function readHead(user: string): Promise<Item> {
    const [found] = await database.query(readAccount, { user })
    if (!found) throw authenticationFailed()
    const { account, wallet, now } = found
    return { exportedAt: now, account: identify(account, { id: 'user' }), wallet }
  }

  /** Raises what `readHead` raises. */
  async function begin({ id: user, address }: Exporter): Promise<Begun> {
    await database.query(noteExport, { user, address })
    return { user, head: await readHead(user) }
  }

  async function* itemsOf(
    { page, rows: size = MANY, ids = {}, present = (item) => item }: List,
    user: string,
  ): AsyncGenerator<Item> {
    const pages = keysetPages({
      first: '',
      limit: size,
      read: (after, limit) => database.query(page, { user, after, limit }),
      keyOf: ({ after }) => after,
    })
    for await (const rows of pages) {
      for (const { after: _, ...item } of rows) yield identify(await present(item), ids)
    }
  }

  /** The document's text, list by list: however large the account, little of it is held at once. */
  async function* write({ user, head }: Begun): AsyncGenerator<string> {
    yield JSON.stringify(head).slice(0, -1)
    for (const list of lists) {
      yield `,\n"${list.name}":[`
      let separator = '\n'
      for await (const item of itemsOf(list, user)) {
        yield separator + JSON.stringify(item)
        separator = ',\n'
      }
      yield ']'
    }
    // Lists of an account that was deleted meanwhile end early.
    await readHead(user)
    yield '}\n'
  }

  async function readAll({ user, head }: Begun): Promise<Item> {
    const all: Item = { ...head }
    let rows = 0
    let bytes = 0
    for (const list of lists) {
      const items: Item[] = []
      for await (const item of itemsOf(list, user)) {
        rows += 1
        bytes += Buffer.byteLength(JSON.stringify(item))
        if (rows > MAX_ROWS || bytes > MAX_DATA_BYTES) {
          throw new DomainError('VALIDATION_FAILED', 'There is too much for one answer.', {
            details: 'Download it from GET /api/v3/auth/users/me/export',
          })
        }
        items.push(item)
      }
      all[list.name] = items
    }
    await readHead(user)
    return all
  }

  const running = new Set<string>()

  /** Runs one export of an account at a time: each holds a part of the account in memory. */
  async function once<T>(actor: Actor, id: string, work: () => Promise<T>): Promise<T> {
    if (running.has(id)) {
      meter.count('annal_limit_rejections_total', { limit: 'exports' })
      throw throttled(ANOTHER_EXPORT_SECONDS)
    }
    running.add(id)
    try {
      return await exports(work, { keys: rateLimitKeys(actor) })
    } finally {
      running.delete(id)
    }
  }

  /** Raises NOT_AUTHENTICATED. */
  const exporterOf = (actor: Actor): Exporter => {
    assertUserMay(actor, 'account:export')
    return actor
  }

  return {
    /**
     * Hands the document's text over in pieces. Raises NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE before the first; AUTHENTICATION_FAILED when the
     * account is deleted meanwhile.
     */
    async stream(actor: Actor, send: (text: AsyncIterable<string>) => Promise<void>): Promise<void> {
      const exporter = exporterOf(actor)
      await once(actor, exporter.id, async () => send(write(await begin(exporter))))
    },

    /**
     * The whole document. Raises NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE, VALIDATION_FAILED when it is more than one
     * answer can hold, AUTHENTICATION_FAILED when the account is deleted meanwhile.
     */
    async read(actor: Actor): Promise<Item> {
      const exporter = exporterOf(actor)
      return once(actor, exporter.id, async () => readAll(await begin(exporter)))
    },

    /**
     * The same document for an operator, who acts for a person that cannot sign in. Returns the account's UUID. Raises NOT_AUTHENTICATED,
     * PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, also when the account is deleted meanwhile, THROTTLED, UNAVAILABLE.
     */
    async streamFor(
      actor: Actor,
      rawInput: WithReason,
      send: (text: AsyncIterable<string>) => Promise<void>,
    ): Promise<string> {
      assertOperator(actor)
      const { userId, reason } = parse(withReason, rawInput)
      const user = await findAccount(userId)
      if (user === undefined) throw notFound('User')
      const work = async () => {
        await database.query(noteExportFor, { user, subject: toId('user', user), reason })
        await send(write({ user, head: await readHead(user) }))
      }
      await once(actor, user, work).catch((error: unknown) => {
        throw isDeleted(error) ? notFound('User') : error
      })
      return user
    },
  }
}
