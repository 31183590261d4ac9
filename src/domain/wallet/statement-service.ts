/** The statement of a wallet: its transfers with the balance after each. Contract: `transfers`, `GET /api/v3/wallet/transfers/`. */
import type { Actor } from '../actor.ts'
import { NIL_UUID } from '../ids.ts'
import { cursorUuid } from '../page.ts'
import { assertUserMay } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import { int, numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../sql.ts'
import { describeReference, type TransferKind } from './transfer-kind.ts'

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

/** The statement of a wallet, for its owner, in the order in which the balance changed (decision 21). */
export function createStatementService({ database }: { database: Database }) {
  return {
    /** The actor's own transfers, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(
      actor: Actor,
      { limit, offset = 0, after, before, inverted = false }: StatementPage,
    ): Promise<StatementLine[]> {
      assertUserMay(actor, 'transfer:read')
      const bounds = {
        olderThan: cursorUuid('after', after, 'transfer'),
        newerThan: cursorUuid('before', before, 'transfer'),
      }
      const rows = await database.query(inverted ? readUp : readDown, { user: actor.id, ...bounds, limit, offset })
      return rows.map(present)
    },

    /** A transfer by its UUID, as it stands in the actor's own statement; null when it does not. */
    async find(actor: Actor, uuid: string): Promise<StatementLine | null> {
      if (actor.kind !== 'user') return null
      const [row] = await database.query(readOne, { user: actor.id, transfer: uuid })
      return row ? present(row) : null
    },

    /** How many there are in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor): Promise<number> {
      assertUserMay(actor, 'transfer:read')
      const [row] = await database.query(countTransfers, { user: actor.id })
      return row?.count ?? 0
    },
  }
}
