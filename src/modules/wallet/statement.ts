/** Wallet statements: the transfers of a wallet in the order of its balance changes (decision 21). */
import type { Use } from '../../context.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { type IdPrefix, idPrefix, NIL_UUID, toId, UUID } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchWords } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { sumsSql } from './ledger-sql.ts'

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

/** Returns the parameters of a search for kinds that contain all words. Throws VALIDATION_FAILED. */
function kindParams(search: Search) {
  const words = searchWords(search)
  const matches = (kind: TransferKind) => words.every((word) => kind.includes(word.toUpperCase()))
  const references = knownReferences.filter((word) => matches(kindOf(word)!.kind))
  return { isSearch: words.length > 0, references, isOther: matches('OTHER'), known: knownReferences }
}

/** Converts UUIDs in a reference to public IDs, such as `order-refund:order_…`. Does not change any other text. */
export function publicReference(text: string): string {
  const [name = '', id = '', ...rest] = text.split(':')
  const prefix = idPrefix(name) ?? kindOf(name)?.subject
  if (!prefix || !UUID.test(id)) return text
  const publicId = toId(prefix, id)
  return [...(prefix === name ? [] : [name]), publicId, ...rest].join(':')
}

/** `subjectId`: public ID of the cause, or transaction hash of a deposit. Null for the kind OTHER. */
export function describeReference(reference: string): { kind: TransferKind; subjectId: string | null } {
  const [first = '', subject = ''] = reference.split(':', 2)
  const known = kindOf(first)
  return {
    kind: known?.kind ?? 'OTHER',
    subjectId: known ? (known.subject ? toId(known.subject, subject) : subject) : null,
  }
}

export type StatementLine = ReturnType<typeof present>

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

/**
 * SQL of the CTE `above (num, points)`: the balances after the transfer in the CTE `top (transfer_id)`, computed
 * backwards from the nearest stored balance (at most a few hundred transfers away) or from the current balance.
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
    select ${sumsSql} from entries
    where wallet_id = $user and transfer_id > (select transfer_id from top) and transfer_id <= (select transfer_id from nearest)
  ),
  above as materialized (
    select nearest.num - since.num as num, nearest.points - since.points as points from nearest, since
  )`

const kindParameters = { references: arrayOf(text), isOther: boolean, known: arrayOf(text) }
const hasKindSql = `(split_part(t.reference, ':', 1) = any ($references)
  or ($isOther and split_part(t.reference, ':', 1) <> all ($known)))`

const pageParameters = { user: uuid, olderThan: orNull(uuid), newerThan: orNull(uuid), limit: int, offset: int }
type Direction = 'asc' | 'desc'

/** SQL of the CTE `page`. Transfer IDs are ordered by time. `join` and `condition` select some of the transfers. */
const pageSql = (direction: Direction, join = '', condition = '') => `page as materialized (
       select e.transfer_id, ${sumsSql} from entries e ${join}
       where e.wallet_id = $user and e.transfer_id < coalesce($olderThan, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         and e.transfer_id > coalesce($newerThan, '${NIL_UUID}') ${condition}
       group by e.transfer_id order by e.transfer_id ${direction} limit $limit offset $offset
     )`

const createPages = (direction: Direction, suffix = '') => ({
  all: statement(
    `statement_page${suffix}`,
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
  ),
  ofKinds: statement(
    `statement_search${suffix}`,
    { parameters: { ...pageParameters, ...kindParameters }, columns, isList: true },
    `with ${pageSql(direction, 'join transfers t on t.id = e.transfer_id', `and ${hasKindSql}`)}
     select t.id, t.reference, t.created_at, page.num, page.points, balance.num as balance_num, balance.points as balance_points
     from page join transfers t on t.id = page.transfer_id cross join lateral (
       with top as (select page.transfer_id), ${balanceAtTopSql} select num, points from above
     ) balance
     order by t.id ${direction}`,
  ),
})
const [down, up] = [createPages('desc'), createPages('asc', '_up')]

const readOne = statement(
  'statement_line',
  { parameters: { user: uuid, transfer: uuid }, columns },
  `with top as (
     select transfer_id, ${sumsSql} from entries where wallet_id = $user and transfer_id = $transfer group by transfer_id
   ),
   ${balanceAtTopSql}
   select t.id, t.reference, t.created_at, top.num, top.points, above.num as balance_num, above.points as balance_points
   from top join transfers t on t.id = top.transfer_id, above`,
)

const countLines = statement(
  'statement_count',
  { parameters: { user: uuid, ...kindParameters, isSearch: boolean }, columns: { count: int }, isList: true },
  `select count(distinct e.transfer_id)::int as count from entries e where e.wallet_id = $user
     and (not $isSearch or exists (select from transfers t where t.id = e.transfer_id and ${hasKindSql}))`,
)

const present = (row: RowOf<typeof columns>) => ({
  ...{ id: row.id, createdAt: row.created_at, num: row.num, points: row.points },
  ...describeReference(row.reference),
  balance: { num: row.balance_num, points: row.balance_points },
})

type Needs = Use<'actor' | 'database'>

/** Returns the caller's transfers, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED, as `countTransfers`. */
export async function listTransfers(
  { actor, database }: Needs,
  { limit, offset = 0, search, after, before, inverted = false }: StatementPage,
): Promise<StatementLine[]> {
  assertUserMay(actor, 'transfer:read')
  const page = {
    ...{ user: actor.id, limit, offset },
    olderThan: cursorUuid('after', after, 'transfer'),
    newerThan: cursorUuid('before', before, 'transfer'),
  }
  const { isSearch, ...kinds } = kindParams(search)
  const { all, ofKinds } = inverted ? up : down
  const rows = isSearch ? await database.query(ofKinds, { ...page, ...kinds }) : await database.query(all, page)
  return rows.map(present)
}

export async function findTransfer({ actor, database }: Needs, uuid: string): Promise<StatementLine | null> {
  if (actor.kind !== 'user') return null
  const [row] = await database.query(readOne, { user: actor.id, transfer: uuid })
  return row ? present(row) : null
}

export async function countTransfers({ actor, database }: Needs, search?: Search): Promise<number> {
  assertUserMay(actor, 'transfer:read')
  const [row] = await database.query(countLines, { user: actor.id, ...kindParams(search) })
  return row!.count
}
