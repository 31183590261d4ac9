/** Wallet statements: the transfers of a wallet in the order of its balance changes (decision 21). */
import type { Use } from '../../context.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { type IdPrefix, idPrefix, NIL_UUID, toId, UUID } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchWords } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'

/** Transfer kinds by the first word of the reference. `subject`: the kind of ID that follows that word. */
const kinds = {
  'sign-up': { kind: 'SIGN_UP', subject: 'user' },
  commit: { kind: 'COMMIT', subject: 'commit' },
  refund: { kind: 'REFUND', subject: 'commit' },
  order: { kind: 'ORDER', subject: 'order' },
  'order-refund': { kind: 'ORDER_REFUND', subject: 'order' },
  deposit: { kind: 'DEPOSIT' },
  'deposit-freeze': { kind: 'DEPOSIT_FREEZE' },
  'deposit-release': { kind: 'DEPOSIT_RELEASE' },
  'deposit-collection': { kind: 'DEPOSIT_COLLECTION' },
  grant: { kind: 'GRANT', subject: 'grant' },
  withdrawal: { kind: 'WITHDRAWAL', subject: 'withdrawal' },
  'withdrawal-refund': { kind: 'WITHDRAWAL_REFUND', subject: 'withdrawal' },
} as const
const kindOf = (word: string): { kind: TransferKind; subject?: IdPrefix } | undefined =>
  Object.hasOwn(kinds, word) ? kinds[word as keyof typeof kinds] : undefined

type TransferKind = (typeof kinds)[keyof typeof kinds]['kind'] | 'OTHER'
const knownReferences = Object.keys(kinds)

/** Returns the reference words whose kind contains all search words. `isOther`: the kind OTHER matches too. */
function referencesWith(words: readonly string[]): { references: string[]; isOther: boolean } {
  const matches = (kind: TransferKind) => words.every((word) => kind.includes(word.toUpperCase()))
  return { references: knownReferences.filter((word) => matches(kindOf(word)!.kind)), isOther: matches('OTHER') }
}

/** Converts UUIDs in a reference to public IDs, such as `order-refund:order_…`. Does not change any other text. */
export function publicReference(text: string): string {
  const [name = '', id = '', ...rest] = text.split(':')
  const prefix = idPrefix(name) ?? kindOf(name)?.subject
  if (!prefix || !UUID.test(id)) return text
  const publicId = toId(prefix, id)
  return [...(prefix === name ? [] : [name]), publicId, ...rest].join(':')
}

/** Returns the kind and the subject of a transfer from its reference. */
export function describeReference(reference: string): { kind: TransferKind; subjectId: string | null } {
  const [first = '', subject = ''] = reference.split(':', 2)
  const known = kindOf(first)
  return {
    kind: known?.kind ?? 'OTHER',
    subjectId: known ? (known.subject ? toId(known.subject, subject) : subject) : null,
  }
}

/** One transfer in the statement of a wallet. Amounts are decimal strings. */
export interface StatementLine {
  id: string
  kind: TransferKind
  /** Public ID of the cause, or transaction hash of a deposit. Null for the kind OTHER. */
  subjectId: string | null
  createdAt: Date
  /** Balance changes of the wallet. Negative for charges. */
  num: string
  points: string
  balance: { num: string; points: string }
}

/** Selects a page of a statement, by offset or by cursors. */
export interface StatementPage {
  limit: number
  offset?: number
  search?: Search
  /** Public IDs of transfers. The page starts after the transfer `after` and ends before the transfer `before`. */
  after?: string | undefined
  before?: string | undefined
  inverted?: boolean
}

const columns = {
  ...{ id: uuid, reference: text, created_at: timestamp, num: numeric, points: numeric },
  ...{ balance_num: numeric, balance_points: numeric },
}

const sums = `coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
  coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points`

/**
 * SQL of the CTE `above (num, points)`: the balances after the transfer in the CTE `top (transfer_id)`. Computed
 * backwards from the nearest stored balance, which is at most a few hundred transfers away, or from the current
 * balance.
 */
const balanceAtTopSql = `
  nearest as materialized (
    select transfer_id, num, points from (
      (select s.transfer_id, s.num, s.points from statement_balances s
       where s.wallet_id = $user and s.transfer_id >= (select transfer_id from top) order by s.transfer_id limit 1)
      union all
      select 'ffffffff-ffff-ffff-ffff-ffffffffffff', w.num, w.points from wallets w where w.user_id = $user
    ) known order by transfer_id limit 1
  ),
  since as materialized (
    select ${sums} from entries
    where wallet_id = $user and transfer_id > (select transfer_id from top) and transfer_id <= (select transfer_id from nearest)
  ),
  above as materialized (
    select nearest.num - since.num as num, nearest.points - since.points as points from nearest, since
  )`

/** Parameters of a search by kind: the result of `referencesWith`. */
const kindParameters = { references: arrayOf(text), isOther: boolean, known: arrayOf(text) }
const hasKindSql = `(split_part(t.reference, ':', 1) = any ($references)
  or ($isOther and split_part(t.reference, ':', 1) <> all ($known)))`

const pageParameters = { user: uuid, olderThan: orNull(uuid), newerThan: orNull(uuid), limit: int, offset: int }
type Direction = 'asc' | 'desc'

/** SQL of the CTE `page`. Transfer IDs are ordered by time. `join` and `condition` select some of the transfers. */
const pageSql = (direction: Direction, join = '', condition = '') => `page as materialized (
       select e.transfer_id, ${sums} from entries e ${join}
       where e.wallet_id = $user and e.transfer_id < coalesce($olderThan, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         and e.transfer_id > coalesce($newerThan, '${NIL_UUID}') ${condition}
       group by e.transfer_id order by e.transfer_id ${direction} limit $limit offset $offset
     )`

const readPage = (name: string, direction: Direction) =>
  statement(
    name,
    { parameters: pageParameters, columns, isList: true },
    `with ${pageSql(direction)},
     top as (select transfer_id from page order by transfer_id desc limit 1),
     ${balanceAtTopSql}
     select t.id, t.reference, t.created_at, page.num, page.points,
       above.num + page.num - sum(page.num) over down as balance_num,
       above.points + page.points - sum(page.points) over down as balance_points
     from page join transfers t on t.id = page.transfer_id, above
     window down as (order by page.transfer_id desc)
     order by t.id ${direction}`,
  )
const readDown = readPage('statement_page', 'desc')
const readUp = readPage('statement_page_up', 'asc')

const pageOfKinds = (name: string, direction: Direction) =>
  statement(
    name,
    { parameters: { ...pageParameters, ...kindParameters }, columns, isList: true },
    `with ${pageSql(direction, 'join transfers t on t.id = e.transfer_id', `and ${hasKindSql}`)}
     select t.id, t.reference, t.created_at, page.num, page.points, balance.num as balance_num, balance.points as balance_points
     from page join transfers t on t.id = page.transfer_id cross join lateral (
       with top as (select page.transfer_id), ${balanceAtTopSql} select num, points from above
     ) balance
     order by t.id ${direction}`,
  )
const readKindsDown = pageOfKinds('statement_search', 'desc')
const readKindsUp = pageOfKinds('statement_search_up', 'asc')

const countKinds = statement(
  'statement_search_count',
  { parameters: { user: uuid, ...kindParameters }, columns: { count: int }, isList: true },
  `select count(distinct e.transfer_id)::int as count from entries e join transfers t on t.id = e.transfer_id
   where e.wallet_id = $user and ${hasKindSql}`,
)

const readOne = statement(
  'statement_line',
  { parameters: { user: uuid, transfer: uuid }, columns },
  `with top as (
     select transfer_id, ${sums} from entries where wallet_id = $user and transfer_id = $transfer group by transfer_id
   ),
   ${balanceAtTopSql}
   select t.id, t.reference, t.created_at, top.num, top.points, above.num as balance_num, above.points as balance_points
   from top join transfers t on t.id = top.transfer_id, above`,
)

const countAll = statement(
  'statement_count',
  { parameters: { user: uuid }, columns: { count: int }, isList: true },
  'select count(distinct transfer_id)::int as count from entries where wallet_id = $user',
)

const present = (row: RowOf<typeof columns>): StatementLine => ({
  ...{ id: row.id, createdAt: row.created_at, num: row.num, points: row.points },
  ...describeReference(row.reference),
  balance: { num: row.balance_num, points: row.balance_points },
})

/** Returns the parameters of a search, or undefined if there are no search words. Throws VALIDATION_FAILED. */
function kindParams(search: Search) {
  const words = searchWords(search)
  return words.length > 0 ? { ...referencesWith(words), known: knownReferences } : undefined
}

/** Returns the caller's transfers, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function listTransfers(
  { actor, database }: Use<'actor' | 'database'>,
  { limit, offset = 0, search, after, before, inverted = false }: StatementPage,
): Promise<StatementLine[]> {
  assertUserMay(actor, 'transfer:read')
  const page = {
    ...{ user: actor.id, limit, offset },
    olderThan: cursorUuid('after', after, 'transfer'),
    newerThan: cursorUuid('before', before, 'transfer'),
  }
  const kinds = kindParams(search)
  const rows = kinds
    ? await database.query(inverted ? readKindsUp : readKindsDown, { ...page, ...kinds })
    : await database.query(inverted ? readUp : readDown, page)
  return rows.map(present)
}

export async function findTransfer(
  { actor, database }: Use<'actor' | 'database'>,
  uuid: string,
): Promise<StatementLine | null> {
  if (actor.kind !== 'user') return null
  const [row] = await database.query(readOne, { user: actor.id, transfer: uuid })
  return row ? present(row) : null
}

/** Counts the caller's transfers. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function countTransfers({ actor, database }: Use<'actor' | 'database'>, search?: Search): Promise<number> {
  assertUserMay(actor, 'transfer:read')
  const kinds = kindParams(search)
  const [row] = kinds
    ? await database.query(countKinds, { user: actor.id, ...kinds })
    : await database.query(countAll, { user: actor.id })
  return row?.count ?? 0
}
