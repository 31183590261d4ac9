import type { Use } from '../../context.ts'
import { int, json, orNull, type ParametersOf, type Statement, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { keysetPages } from '../../shared/async.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import { type IdPrefix, NIL_UUID, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { rateLimitKeys } from '../../shared/limiters.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { camelCase } from '../../shared/text.ts'
import { metadataColumnsSql } from '../assets/metadata.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { showActionArgs } from '../store/orders.ts'
import { describeReference } from '../wallet/statement.ts'
import { type AccountWithReason, accountWithReason, findAccount, isDeletedError } from './find-users.ts'

type Item = Record<string, unknown>

/** Records an export in the audit log of the user. With an operator's reason, records it in the system's log too. */
export const recordExport = statement(
  'export_record',
  { parameters: { user: uuid, subject: text, address: orNull(text), reason: orNull(text) } },
  `with exported_user as (select id from users where id = $user and deleted_at is null),
   ${auditSql({ name: 'owner_entry', from: 'exported_user', user: 'exported_user.id', action: 'account.exported', address: '$address', reason: '$reason' })},
   ${auditSql({ name: 'system_entry', from: 'exported_user where $reason is not null', user: 'null', action: 'account.exported', subject: '$subject', reason: '$reason' })}
   select from exported_user limit 0`,
)

/** SQL that formats a time as in the JSON of JavaScript. */
const timeSql = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const times = (...columns: string[]) =>
  columns.map((name) => `${timeSql(name)} as ${name.split('.').at(-1)}`).join(', ')
const amounts = (...columns: string[]) => columns.map((name) => `trim_scale(${name})::text as ${name}`).join(', ')

/** Reads the account, its wallet and the time of the database. No row: the account is deleted. */
const readAccount = statement(
  'export_account',
  { parameters: { user: uuid }, columns: { account: json<Item>(), wallet: json<Item>(), now: timestamp } },
  `select json_build_object('id', type_id('user', u.id), 'username', u.username, 'email', u.email, 'emailVerified', u.email_verified, 'pendingEmail', u.pending_email,
     'role', u.role, 'language', u.language, 'displayName', u.display_name, 'description', u.description,
     'defaultTag', u.default_tag, 'referralCode', u.referral_code, 'allowC2paDownload', u.allow_c2pa_download,
     'createdAt', ${timeSql('u.created_at')}) as account,
     json_build_object('address', w.address, 'num', trim_scale(w.num)::text, 'points', trim_scale(w.points)::text) as wallet, now() as now
   from users u join wallets w on w.user_id = u.id where u.id = $user and u.deleted_at is null`,
)

const NIL = `'${NIL_UUID}'`
const part = (place: number) => `split_part($after, '/', ${place})`
const afterTime = `coalesce(nullif(${part(1)}, '')::timestamptz, '-infinity')`
const afterId = (part = '$after') => `coalesce(nullif(${part}, '')::uuid, ${NIL})`
const afterNumber = (part = '$after') => `coalesce(nullif(${part}, '')::int, 0)`

const parameters = { user: uuid, after: text, limit: int }
export type ExportRow = { item: Item; after: string }
export type ExportPage = Statement<ParametersOf<typeof parameters>, ExportRow>

/** Creates a list. All parameters are SQL, and `after` is the cursor. Column names become camel case in the document. */
const list = (name: string, columns: string, after: string, from: string): ExportPage =>
  statement(
    `export_${name}`,
    { parameters, columns: { item: json<Item>(), after: text } },
    `select (select row_to_json(item) from (select ${columns}) as item) as item, ${after} as after ${from}`,
  )

const listById = (table: string, condition: string, columns: string) => {
  const from = `from ${table} where ${condition} and id > ${afterId()} order by ${table}.id limit $limit`
  return list(table, columns, 'id::text', from)
}

/** Creates a list of a table's rows by creation time, for tables whose UUIDs are created before the row. */
const listByTime = (table: string, condition: string, columns: string) => {
  const from = `from ${table} where ${condition} and (created_at, id) > (${afterTime}, ${afterId(part(2))})
     order by ${table}.created_at, ${table}.id limit $limit`
  return list(table, columns, `${table}.created_at || '/' || id`, from)
}

/**
 * SQL of a join that reads at most one page of `table` for each row of an outer table. `isCurrent` selects the outer row
 * of the cursor, whose rows begin after `start`.
 */
const lateralSql = (table: string, isOwn: string, position: 'id' | 'sequence', isCurrent: string, start: string) =>
  `cross join lateral (
       select * from ${table}
       where ${isOwn} and ${position} > case when ${isCurrent} then ${start} else ${position === 'id' ? NIL : 0} end
       order by ${position} limit $limit
     )`

export const exportPages = {
  assets: listById(
    'assets',
    'owner_id = $user and deleted_at is null',
    `nid, file_name, mime_type, file_size::int, sha256, ${metadataColumnsSql}, ${times('uploaded_at', 'updated_at')}`,
  ),
  // Includes commits of deleted assets, in the order of the index.
  commits: list(
    'commits',
    `c.id, a.nid, c.sequence, c.message, c.changes, c.tree, c.tree_cid, c.tree_sha256, r.tree_signature, r.status,
     r.transaction_hash, ${times('c.created_at')}`,
    `a.id || '/' || c.sequence`,
    `from assets a
     ${lateralSql('commits', 'asset_id = a.id', 'sequence', `a.id = ${afterId(part(1))}`, afterNumber(part(2)))} c
     join commit_relays r on r.commit_id = c.id
     where a.owner_id = $user and a.id >= ${afterId(part(1))} order by a.id, c.sequence limit $limit`,
  ),
  orders: listByTime(
    'orders',
    'buyer_id = $user',
    `id, network_app_id, network_app_name, status, encode(action_args, 'base64') as action_args,
     ${amounts('price', 'quoted_points', 'quoted_num', 'points_paid', 'num_paid', 'points_refunded', 'num_refunded')},
     transfer_id, ${times('created_at', 'expires_at', 'paid_at', 'settled_at')}`,
  ),
  refunds: list(
    'refunds',
    `r.id, r.order_id, trim_scale(r.points)::text as points,
     trim_scale(r.num)::text as num, r.reason, r.transfer_id, ${times('r.created_at')}`,
    `o.created_at || '/' || o.id || '/' || r.id`,
    `from orders o
     ${lateralSql('refunds', 'order_id = o.id', 'id', `o.id = ${afterId(part(2))}`, afterId(part(3)))} r
     where o.buyer_id = $user and (o.created_at, o.id) >= (${afterTime}, ${afterId(part(2))})
     order by o.created_at, o.id, r.id limit $limit`,
  ),
  // Only entries of the user's wallet, because the other entries can belong to another user.
  transfers: list(
    'transfers',
    `t.id, t.reference, t.reason, ${times('t.created_at')}, own.entries`,
    't.id::text',
    `from (
       select transfer_id, json_agg(json_build_object('currency', currency, 'amount', trim_scale(amount)::text) order by position) as entries
       from entries where wallet_id = $user and transfer_id > ${afterId()}
       group by transfer_id order by transfer_id limit $limit
     ) own join transfers t on t.id = own.transfer_id order by t.id`,
  ),
  deposits: listById(
    'deposits',
    'wallet_id = $user',
    `id, kind, status, transaction_hash, ${amounts('amount')}, block_number, block_hash, ${amounts('shortfall')},
     ${times('created_at', 'credited_at', 'frozen_at')}`,
  ),
  withdrawals: listById(
    'withdrawals',
    'wallet_id = $user',
    `id, ${amounts('amount', 'fee')}, recipient, status,
     (select m.transaction_hash from coin_transfers m where m.id = coin_transfer_id and m.status <> 'SIGNED') as transaction_hash,
     failure, ${times('created_at', 'due_at', 'settled_at')}`,
  ),
  sessions: listById(
    'access_tokens',
    'user_id = $user',
    `id, name, ${times('created_at', 'last_used_at', 'expires_at')}`,
  ),
  // Without the signatures of the links, which are secret.
  assetLinks: list(
    'asset_links',
    `l.id, a.nid, l.label, ${times('l.created_at', 'l.expires_at', 'l.revoked_at', 'l.last_used_at')}`,
    `a.id || '/' || l.id`,
    `from assets a
     ${lateralSql('asset_links', 'asset_id = a.id', 'id', `a.id = ${afterId(part(1))}`, afterId(part(2)))} l
     where a.owner_id = $user and a.id >= ${afterId(part(1))} order by a.id, l.id limit $limit`,
  ),
  auditEntries: listById(
    'audit_entries',
    'user_id = $user',
    `id, action, subject, address, reason, ${times('created_at')}`,
  ),
  pictures: listByTime(
    'pictures',
    'user_id = $user',
    `kind, translate(encode(picture, 'base64'), E'\\n', '') as picture, ${times('created_at')}`,
  ),
  networkApps: listByTime(
    'network_apps',
    'owner_id = $user',
    `id, name, price_mode, ${amounts('price')}, webhook_url, ${times('webhook_disabled_at')}, delivery_failure_policy,
     ${times('deactivated_at', 'created_at', 'updated_at')}`,
  ),
  events: list(
    'events',
    `e.id, e.sequence, e.type, e.order_id, e.commit_id, e.delivery_id, e.transfer_id, ${times('e.created_at')}`,
    'e.sequence::text',
    `from events e where e.owner_id = $user and e.sequence > ${afterNumber()} order by e.sequence limit $limit`,
  ),
}

type Needs = Use<'actor' | 'database' | 'envelopeCipher' | 'log' | 'semaphores'>
type ListName = keyof typeof exportPages
const listNames = Object.keys(exportPages) as ListName[]
const longTexts = new Set<ListName>(['assets', 'commits', 'orders'])

/** Maximum size of the data in a GraphQL response, in bytes. */
export const MAX_DATA_BYTES = 4_000_000
/** Maximum of 10,000 rows. The writer yields a text for each row, the end of each list, the head and the end. */
const MAX_TEXTS = 10_000 + listNames.length + 2

const presenters: { [Name in ListName]?: (item: Item, context: Needs) => Item | Promise<Item> } = {
  orders: async ({ action_args: sealed, ...order }, context) => {
    const bytes = typeof sealed === 'string' ? Buffer.from(sealed, 'base64') : null
    return { ...order, actionArgs: await showActionArgs(context, order.id as string, bytes) }
  },
  transfers: ({ reference, ...item }) => ({ ...item, ...describeReference(reference as string) }),
}

/** Prefixes of public IDs: of the property `id` by list, and of other properties by name. */
const prefixes: Record<string, IdPrefix> = {
  ...{ commits: 'commit', orders: 'order', refunds: 'refund', transfers: 'transfer', deposits: 'deposit' },
  ...{ withdrawals: 'withdrawal', sessions: 'session', assetLinks: 'link', auditEntries: 'audit' },
  ...{ networkApps: 'app', events: 'event' },
  ...{ networkAppId: 'app', orderId: 'order', transferId: 'transfer', commitId: 'commit', deliveryId: 'delivery' },
}

async function present(list: ListName, item: Item, context: Needs): Promise<Item> {
  const presented = (await presenters[list]?.(item, context)) ?? item
  const entries = Object.entries(presented).map(([column, value]) => {
    const name = camelCase(column)
    const prefix = prefixes[name === 'id' ? list : name]
    return [name, prefix && typeof value === 'string' ? toId(prefix, value) : value]
  })
  return Object.fromEntries(entries)
}

/** Reads the head of the document. Throws AUTHENTICATION_FAILED if the account was deleted in the meantime. */
async function readHead({ database }: Needs, user: string): Promise<Item> {
  const [found] = await database.query(readAccount, { user })
  if (!found) throw authenticationFailed()
  const { account, wallet, now } = found
  return { exportedAt: now, account, wallet }
}

/** Yields the document as JSON text. Only one page is in memory at a time. */
async function* writeDocument(context: Needs, user: string, head: Item): AsyncGenerator<string> {
  yield JSON.stringify(head).slice(0, -1)
  for (const list of listNames) {
    let prefix = `,\n"${list}":[\n`
    const pages = keysetPages({
      first: '',
      limit: longTexts.has(list) ? 48 : 200,
      read: (after, limit) => context.database.query(exportPages[list], { user, after, limit }),
      keyOf: ({ after }) => after,
    })
    for await (const rows of pages) {
      for (const { item } of rows) {
        yield prefix + JSON.stringify(await present(list, item, context))
        prefix = ',\n'
      }
    }
    yield prefix === ',\n' ? ']' : `${prefix}]`
  }
  // If the account was deleted in the meantime, the lists are incomplete.
  await readHead(context, user)
  yield '}\n'
}

async function parseDocument(texts: AsyncIterable<string>): Promise<Item> {
  const document: string[] = []
  let bytes = 0
  for await (const text of texts) {
    document.push(text)
    bytes += Buffer.byteLength(text)
    if (document.length > MAX_TEXTS || bytes > MAX_DATA_BYTES)
      throw new DomainError('VALIDATION_FAILED', 'There is too much data for one response.', {
        details: 'Download it from GET /api/v3/auth/users/me/export',
      })
  }
  return JSON.parse(document.join(''))
}

/** Runs an export and records it. An account has one export at a time. Throws THROTTLED, UNAVAILABLE. */
function runExport<T>(
  context: Needs,
  user: string,
  { address = null, reason = null }: { address?: string | null; reason?: string | null },
  use: (texts: AsyncIterable<string>) => Promise<T>,
): Promise<T> {
  const { actor, database, semaphores } = context
  const work = async () => {
    await database.query(recordExport, { user, subject: toId('user', user), address, reason })
    return use(writeDocument(context, user, await readHead(context, user)))
  }
  const runFairly = () => semaphores.exports(work, { keys: rateLimitKeys(actor) })
  return semaphores.accountExports(runFairly, { keys: [`user:${user}`] })
}

type SendText = (text: AsyncIterable<string>) => Promise<void>

/** Streams the caller's data as JSON text. Throws AUTHENTICATION_FAILED if the account is deleted in the meantime. */
export async function streamExport(context: Needs, send: SendText): Promise<void> {
  const { actor } = context
  assertUserMay(actor, 'account:export')
  await runExport(context, actor.id, { address: actor.address }, send)
}

/** Returns the caller's data. Throws the errors of `streamExport`, and VALIDATION_FAILED if there is too much data. */
export async function readExport(context: Needs): Promise<Item> {
  const { actor } = context
  assertUserMay(actor, 'account:export')
  return runExport(context, actor.id, { address: actor.address }, parseDocument)
}

/** Streams the data of an account for an operator, if the user cannot sign in. Returns the UUID of the user. */
export async function streamExportAsOperator(
  context: Needs & Use<'config'>,
  rawInput: AccountWithReason,
  send: SendText,
): Promise<string> {
  assertOperator(context.actor)
  const { userId, reason } = parse(accountWithReason, rawInput)
  const user = await findAccount(context, userId)
  if (user === undefined) throw notFound('User')
  await runExport(context, user, { reason }, send).catch((error: unknown) => {
    throw isDeletedError(error) ? notFound('User') : error
  })
  return user
}
