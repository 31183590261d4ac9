/** The statement of a wallet: its transfers with the balance after each. Contract: `transfers`, `GET /api/v3/wallet/transfers/`. */

import type { Database } from '../../db/database-types.ts'
import { arrayOf, boolean, int, numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/actor.ts'
import { NIL_UUID } from '../../shared/ids.ts'
import { cursorUuid, type Search, searchWords } from '../../shared/lists.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { describeReference, knownReferences, referencesWith, type TransferKind } from './transfer-kind.ts'

/** One transfer as the owner of a wallet sees it. Amounts are decimal strings. */
export interface StatementLine {
  /** UUID. */
  id: string
  kind: TransferKind
  /** TypeID of the commit, order, grant or user; the transaction's hash for a deposit; null when it is about nothing. */
  subjectId: string | null
  createdAt: Date
  /** What it moved in this wallet; negative: it took. */
  num: string
  points: string
  /** The wallet after it. */
  balance: { num: string; points: string }
}

/** Which part of a statement is wanted: by position, or by transfers before or after it. */
export interface StatementPage {
  limit: number
  offset?: number
  search?: Search
  /** TypeIDs of transfers: only older than `after`, only newer than `before`. */
  after?: string | undefined
  before?: string | undefined
  /** From the oldest. */
  inverted?: boolean
}

const columns = {
  id: uuid,
  reference: text,
  created_at: timestamp,
  num: numeric,
  points: numeric,
  balance_num: numeric,
  balance_points: numeric,
}

const sums = `coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
  coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points`

/**
 * The part `above (num, points)`: what the wallet had after the transfer that the part `top (transfer_id)` names. It is counted back from the
 * nearest balance that is noted at it or above it, which is some hundred transfers away; near the newest, from the wallet's own.
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

/** A page of transfers by their ids, which are in the order of time. */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  statement(
    name,
    {
      parameters: { user: uuid, olderThan: orNull(uuid), newerThan: orNull(uuid), limit: int, offset: int },
      columns,
      isList: true,
    },
    `with page as materialized (
       select transfer_id, ${sums} from entries
       where wallet_id = $user and transfer_id < coalesce($olderThan, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         and transfer_id > coalesce($newerThan, '${NIL_UUID}')
       group by transfer_id order by transfer_id ${direction} limit $limit offset $offset
     ),
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

/** The kinds of transfers that a search finds, as `referencesWith` has them. */
const kindParameters = { references: arrayOf(text), isOther: boolean, known: arrayOf(text) }
const isFoundSql = `(split_part(t.reference, ':', 1) = any ($references)
  or ($isOther and split_part(t.reference, ':', 1) <> all ($known)))`

/** A page of the transfers of some kinds. The balance after each is counted by itself, because they do not follow each other. */
const readFound = (name: string, direction: 'asc' | 'desc') =>
  statement(
    name,
    {
      parameters: {
        ...{ user: uuid, olderThan: orNull(uuid), newerThan: orNull(uuid), limit: int, offset: int },
        ...kindParameters,
      },
      columns,
      isList: true,
    },
    `with page as materialized (
       select e.transfer_id, ${sums} from entries e join transfers t on t.id = e.transfer_id
       where e.wallet_id = $user and e.transfer_id < coalesce($olderThan, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         and e.transfer_id > coalesce($newerThan, '${NIL_UUID}') and ${isFoundSql}
       group by e.transfer_id order by e.transfer_id ${direction} limit $limit offset $offset
     )
     select t.id, t.reference, t.created_at, page.num, page.points, balance.num as balance_num, balance.points as balance_points
     from page join transfers t on t.id = page.transfer_id cross join lateral (
       with top as (select page.transfer_id), ${balanceAtTopSql} select num, points from above
     ) balance
     order by t.id ${direction}`,
  )
const readFoundDown = readFound('statement_search', 'desc')
const readFoundUp = readFound('statement_search_up', 'asc')

/** Number of transfers of some kinds that moved something in a wallet. */
const countFound = statement(
  'statement_search_count',
  { parameters: { user: uuid, ...kindParameters }, columns: { count: int }, isList: true },
  `select count(distinct e.transfer_id)::int as count from entries e join transfers t on t.id = e.transfer_id
   where e.wallet_id = $user and ${isFoundSql}`,
)

/** One transfer of a wallet, as a page would have it. */
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

/** How many transfers moved something in a wallet. */
const countTransfers = statement(
  'statement_count',
  { parameters: { user: uuid }, columns: { count: int }, isList: true },
  'select count(distinct transfer_id)::int as count from entries where wallet_id = $user',
)

function present({
  id,
  reference,
  created_at,
  num,
  points,
  balance_num,
  balance_points,
}: RowOf<typeof columns>): StatementLine {
  return {
    id,
    ...describeReference(reference),
    createdAt: created_at,
    num,
    points,
    balance: { num: balance_num, points: balance_points },
  }
}

/** The kinds of transfers that a search finds; undefined without a search. Raises VALIDATION_FAILED. */
function kindsFoundBy(search: Search) {
  const words = searchWords(search)
  return words.length > 0 ? { ...referencesWith(words), known: knownReferences } : undefined
}

/** Returns a wallet's statement to its owner, in the order in which the balance changed (decision 21). */
export function createStatementService({ database }: { database: Database }) {
  return {
    /** The actor's own transfers, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(
      actor: Actor,
      { limit, offset = 0, search, after, before, inverted = false }: StatementPage,
    ): Promise<StatementLine[]> {
      assertUserMay(actor, 'transfer:read')
      const page = {
        ...{ user: actor.id, limit, offset },
        olderThan: cursorUuid('after', after, 'transfer'),
        newerThan: cursorUuid('before', before, 'transfer'),
      }
      const kinds = kindsFoundBy(search)
      const rows = kinds
        ? await database.query(inverted ? readFoundUp : readFoundDown, { ...page, ...kinds })
        : await database.query(inverted ? readUp : readDown, page)
      return rows.map(present)
    },

    /** A transfer by its UUID, as it stands in the actor's own statement; null when it does not. */
    async find(actor: Actor, uuid: string): Promise<StatementLine | null> {
      if (actor.kind !== 'user') return null
      const [row] = await database.query(readOne, { user: actor.id, transfer: uuid })
      return row ? present(row) : null
    },

    /** How many there are in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor, search?: Search): Promise<number> {
      assertUserMay(actor, 'transfer:read')
      const kinds = kindsFoundBy(search)
      const [row] = kinds
        ? await database.query(countFound, { user: actor.id, ...kinds })
        : await database.query(countTransfers, { user: actor.id })
      return row?.count ?? 0
    },
  }
}
