import type { Use } from '../../context.ts'
import {
  bytes,
  givenSql,
  int,
  json,
  jsonb,
  type ParametersOf,
  type SqlType,
  type Statement,
  statement,
  type Types,
  text,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { keysetPages } from '../../shared/async.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import { type IdPrefix, NIL_UUID, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { rateLimitKeys } from '../../shared/limiters.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { metadataExport } from '../assets/metadata.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { describeReference } from '../wallet/statement.ts'
import { type AccountWithReason, accountWithReason, findAccount, isDeletedError } from './find-users.ts'

export const recordExport = statement(
  'export_note',
  { parameters: { user: uuid, address: text } },
  `with exported_user as (select id from users where id = $user and deleted_at is null),
   ${auditSql({ from: 'exported_user', user: 'exported_user.id', action: 'account.exported', address: '$address' })}
   select from exported_user limit 0`,
)

/** Writes an operator's export with its reason into the audit logs of the user and of the system. `subject` is the public ID of the user. */
export const recordOperatorExport = statement(
  'export_note_for',
  { parameters: { user: uuid, subject: text, reason: text } },
  `with exported_user as (select id from users where id = $user and deleted_at is null),
   ${auditSql({ name: 'owner_entry', from: 'exported_user', user: 'exported_user.id', action: 'account.exported', reason: '$reason' })},
   ${auditSql({ name: 'system_entry', from: 'exported_user', user: 'null', action: 'account.exported', subject: '$subject', reason: '$reason' })}
   select from exported_user limit 0`,
)

/** Reads the account, its wallet and the time of the database. No row: the account is deleted. */
export const readAccount = statement(
  'export_account',
  {
    parameters: { user: uuid },
    columns: { account: json<Record<string, unknown>>(), wallet: json<Record<string, unknown>>(), now: timestamp },
  },
  `select json_build_object('id', type_id('user', u.id), 'username', u.username, 'email', u.email, 'emailVerified', u.email_verified, 'pendingEmail', u.pending_email,
     'role', u.role, 'language', u.language, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'createdAt', to_char(u.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as account,
     json_build_object('address', w.address, 'num', trim_scale(w.num)::text, 'points', trim_scale(w.points)::text) as wallet, now() as now
   from users u join wallets w on w.user_id = u.id where u.id = $user and u.deleted_at is null`,
)

/** A column of a list. `sql` reads it, by default unchanged. `prefix` is that of public IDs, for a column with UUIDs. */
export type ExportColumn = SqlType<unknown> & { sql?: (column: string) => string; prefix?: IdPrefix }

const id = (prefix: IdPrefix): ExportColumn => ({ ...uuid, prefix })
type Columns = Record<string, ExportColumn>

const word: ExportColumn = { ...text, sql: (column) => `${column}::text` }
const amount: ExportColumn = { ...text, sql: (column) => `trim_scale(${column})::text` }
const expression = (type: SqlType<unknown>, sql: string): ExportColumn => ({ ...type, sql: () => sql })

const selected = (columns: Columns, table: string) =>
  Object.entries(columns)
    .map(([name, { sql }]) => [givenSql(table)(name), name, sql] as const)
    .map(([column, name, sql]) => `${sql ? sql(column) : column} as "${name}"`)
    .join(', ')

const NIL = `'${NIL_UUID}'`
const part = (place: number) => `split_part($after, '/', ${place})`
const afterTime = `coalesce(nullif(${part(1)}, '')::timestamptz, '-infinity')`
const afterId = (part = '$after') => `coalesce(nullif(${part}, '')::uuid, ${NIL})`

const parameters = { user: uuid, after: text, limit: int }
/** A row of an export with its cursor `after`, which is not exported. */
export type ExportRow = { after: string } & Record<string, unknown>
export type ExportPage = Statement<ParametersOf<typeof parameters>, ExportRow>

const list = (name: string, columns: Types, sql: string): ExportPage =>
  statement(`export_${name}`, { parameters, columns: { ...columns, after: text } }, sql)

const listById = (table: string, condition: string, columns: Columns) =>
  list(
    table,
    columns,
    `select ${selected(columns, table)}, id::text as after from ${table}
     where ${condition} and id > ${afterId()} order by ${table}.id limit $limit`,
  )

/** Reads rows by creation time, for rows whose UUID is older than the row. */
const listByTime = (table: string, condition: string, columns: Columns) =>
  list(
    table,
    columns,
    `select ${selected(columns, table)}, ${table}.created_at || '/' || id as after from ${table}
     where ${condition} and (created_at, id) > (${afterTime}, ${afterId(part(2))})
     order by ${table}.created_at, ${table}.id limit $limit`,
  )

const commitColumns = {
  ...{ id: id('commit'), nid: expression(text, 'a.nid'), sequence: int, message: text, changes: jsonb(), tree: text },
  ...{ treeCid: text, treeSha256: text, treeSignature: expression(text, 'r.tree_signature') },
  ...{ status: expression(text, 'r.status::text'), transactionHash: expression(text, 'r.transaction_hash') },
  createdAt: timestamp,
}

const refundColumns = {
  ...{ id: id('refund'), orderId: id('order'), points: amount, num: amount, reason: text },
  ...{ transferId: id('transfer'), createdAt: timestamp },
}

const linkColumns = {
  ...{ id: id('link'), nid: expression(text, 'a.nid'), label: text, createdAt: timestamp, expiresAt: timestamp },
  ...{ revokedAt: timestamp, lastUsedAt: timestamp },
}

const eventColumns = {
  ...{ id: id('event'), sequence: int, type: text, orderId: id('order'), commitId: id('commit') },
  ...{ deliveryId: id('delivery'), transferId: id('transfer'), createdAt: timestamp },
}

export const exportPages = {
  assets: listById('assets', 'owner_id = $user and deleted_at is null', {
    ...{ nid: text, fileName: text, mimeType: text, fileSize: expression(int, 'file_size::int'), sha256: text },
    ...metadataExport,
    ...{ uploadedAt: timestamp, updatedAt: timestamp },
  }),

  /** Commits, also of deleted assets, by asset and position as in the indexes. Reads at most one page of each asset, so that a long history is not read whole. */
  commits: list(
    'commits',
    commitColumns,
    `select ${selected(commitColumns, 'c')}, a.id || '/' || c.sequence as after
     from assets a cross join lateral (
       select * from commits where asset_id = a.id and sequence > case when a.id = ${afterId(part(1))} then coalesce(nullif(${part(2)}, '')::int, 0) else 0 end
       order by sequence limit $limit
     ) c join commit_relays r on r.commit_id = c.id
     where a.owner_id = $user and a.id >= ${afterId(part(1))}
     order by a.id, c.sequence limit $limit`,
  ),

  /** `actionArgs` is encrypted. */
  orders: listByTime('orders', 'buyer_id = $user', {
    ...{
      id: id('order'),
      networkAppId: id('app'),
      networkAppName: text,
      status: word,
      actionArgs: bytes,
      price: amount,
    },
    ...{ quotedPoints: amount, quotedNum: amount, pointsPaid: amount, numPaid: amount, pointsRefunded: amount },
    ...{ numRefunded: amount, transferId: id('transfer'), createdAt: timestamp, expiresAt: timestamp },
    ...{ paidAt: timestamp, settledAt: timestamp },
  }),

  /** Refunds in the order of the index on orders. */
  refunds: list(
    'refunds',
    refundColumns,
    `select ${selected(refundColumns, 'r')}, o.created_at || '/' || o.id || '/' || r.id as after
     from orders o cross join lateral (
       select * from refunds where order_id = o.id and id > case when o.id = ${afterId(part(2))} then ${afterId(part(3))} else ${NIL} end
       order by id limit $limit
     ) r
     where o.buyer_id = $user
       and (o.created_at, o.id) >= (${afterTime}, ${afterId(part(2))})
     order by o.created_at, o.id, r.id limit $limit`,
  ),

  /** Transfers with the entries of the user's wallet only. The other entries can belong to another user. */
  transfers: list(
    'transfers',
    { id: id('transfer'), reference: text, reason: text, createdAt: timestamp, entries: json() },
    `select t.id, t.reference, t.reason, t.created_at as "createdAt", own.entries, t.id::text as after
     from (
       select transfer_id, json_agg(json_build_object('currency', currency, 'amount', trim_scale(amount)::text) order by position) as entries
       from entries where wallet_id = $user and transfer_id > ${afterId()}
       group by transfer_id order by transfer_id limit $limit
     ) own join transfers t on t.id = own.transfer_id order by t.id`,
  ),

  deposits: listById('deposits', 'wallet_id = $user', {
    ...{
      id: id('deposit'),
      kind: word,
      status: word,
      transactionHash: text,
      amount,
      blockNumber: int,
      blockHash: text,
    },
    ...{ shortfall: amount, createdAt: timestamp, creditedAt: timestamp, frozenAt: timestamp },
  }),

  withdrawals: listById('withdrawals', 'wallet_id = $user', {
    ...{ id: id('withdrawal'), amount, fee: amount, recipient: text, status: word },
    transactionHash: expression(
      text,
      `(select m.transaction_hash from coin_transfers m where m.id = coin_transfer_id and m.status <> 'SIGNED')`,
    ),
    ...{ failure: text, createdAt: timestamp, dueAt: timestamp, settledAt: timestamp },
  }),

  /** Sessions without their hashes. */
  sessions: listById('access_tokens', 'user_id = $user', {
    ...{ id: id('session'), name: text, createdAt: timestamp, lastUsedAt: timestamp, expiresAt: timestamp },
  }),

  /** Links without their signatures, in the order of the index on assets. */
  assetLinks: list(
    'asset_links',
    linkColumns,
    `select ${selected(linkColumns, 'l')}, a.id || '/' || l.id as after
     from assets a cross join lateral (
       select * from asset_links where asset_id = a.id and id > case when a.id = ${afterId(part(1))} then ${afterId(part(2))} else ${NIL} end
       order by id limit $limit
     ) l
     where a.owner_id = $user and a.id >= ${afterId(part(1))}
     order by a.id, l.id limit $limit`,
  ),

  auditEntries: listById('audit_entries', 'user_id = $user', {
    ...{ id: id('audit'), action: text, subject: text, address: text, reason: text, createdAt: timestamp },
  }),

  /** Pictures as WebP in base64. */
  pictures: listByTime('pictures', 'user_id = $user', {
    ...{
      kind: word,
      picture: expression(text, `translate(encode(picture, 'base64'), E'\\n', '')`),
      createdAt: timestamp,
    },
  }),

  /** Apps without their secrets. */
  networkApps: listByTime('network_apps', 'owner_id = $user', {
    ...{ id: id('app'), name: text, priceMode: word, price: amount, webhookUrl: text, webhookDisabledAt: timestamp },
    ...{ deliveryFailurePolicy: word, deactivatedAt: timestamp, createdAt: timestamp, updatedAt: timestamp },
  }),

  /** Events. Retention deletes older ones. */
  events: list(
    'events',
    eventColumns,
    `select ${selected(eventColumns, 'e')}, e.sequence::text as after
     from events e where e.owner_id = $user and e.sequence > coalesce(nullif($after, '')::int, 0)
     order by e.sequence limit $limit`,
  ),
}

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
