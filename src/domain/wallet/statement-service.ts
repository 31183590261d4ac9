/** The statement of a wallet: its transfers with the balance after each. Contract: `transfers`, `GET /api/v3/wallet/transfers/`. */
import { type Actor, assertUser } from '../actor.ts'
import { validationFailed } from '../errors.ts'
import { fromId } from '../ids.ts'
import { assertMay } from '../policy.ts'
import { type Database, listStatement, statement } from '../ports.ts'
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

export interface StatementPage {
  limit: number
  offset?: number
  /** TypeIDs of transfers: only older than `after`, only newer than `before`. */
  after?: string | undefined
  before?: string | undefined
  /** From the oldest. */
  inverted?: boolean
}

interface Row {
  id: string
  reference: string
  created_at: Date
  num: string
  points: string
  balance_num: string
  balance_points: string
}

const sums = `coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
  coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points`

/**
 * A page of transfers by their ids, which are in the order of time. Balances are counted back from the wallet's own, so
 * that a page reads no entries older than itself. $1 user, $2 older than, $3 newer than, $4 limit, $5 offset.
 */
const readPage = (name: string, direction: 'asc' | 'desc') =>
  listStatement<Row>(
    name,
    `with page as materialized (
       select transfer_id, ${sums} from entries
       where wallet_id = $1::uuid and transfer_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
         and transfer_id > coalesce($3::uuid, '00000000-0000-0000-0000-000000000000')
       group by transfer_id order by transfer_id ${direction} limit $4::int offset $5::int
     ),
     -- Once, and not for each row of the page.
     newer as materialized (
       select ${sums} from entries
       where wallet_id = $1::uuid and transfer_id > (select transfer_id from page order by transfer_id desc limit 1)
     )
     select t.id, t.reference, t.created_at, page.num, page.points,
       w.num - newer.num + page.num - sum(page.num) over down as balance_num,
       w.points - newer.points + page.points - sum(page.points) over down as balance_points
     from page join transfers t on t.id = page.transfer_id, newer, wallets w
     where w.user_id = $1::uuid
     window down as (order by page.transfer_id desc)
     order by t.id ${direction}`,
  )
const readDown = readPage('statement_page', 'desc')
const readUp = readPage('statement_page_up', 'asc')

/** One transfer of a wallet, as a page would have it. $1 user, $2 transfer. */
const readOne = statement<Row>(
  'statement_line',
  `with line as (
     select transfer_id, ${sums} from entries where wallet_id = $1::uuid and transfer_id = $2::uuid group by transfer_id
   ),
   newer as (select ${sums} from entries where wallet_id = $1::uuid and transfer_id > $2::uuid)
   select t.id, t.reference, t.created_at, line.num, line.points,
     w.num - newer.num as balance_num, w.points - newer.points as balance_points
   from line join transfers t on t.id = line.transfer_id, newer, wallets w
   where w.user_id = $1::uuid`,
)

const countTransfers = listStatement<{ count: number }>(
  'statement_count',
  'select count(distinct transfer_id)::int as count from entries where wallet_id = $1::uuid',
)

function present({ id, reference, created_at, num, points, balance_num, balance_points }: Row): StatementLine {
  return {
    id,
    ...describeReference(reference),
    createdAt: created_at,
    num,
    points,
    balance: { num: balance_num, points: balance_points },
  }
}

/** Raises VALIDATION_FAILED for a cursor that no page gave out. */
function uuidOf(name: 'after' | 'before', cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const found = fromId(cursor, 'transfer')
  if (!found) throw validationFailed({ [name]: ['Not a cursor of this connection.'] })
  return found.uuid
}

export type StatementService = ReturnType<typeof createStatementService>

export function createStatementService({ database }: { database: Database }) {
  return {
    /** The actor's own transfers, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(
      actor: Actor,
      { limit, offset = 0, after, before, inverted = false }: StatementPage,
    ): Promise<StatementLine[]> {
      assertMay(actor, 'transfer:read')
      assertUser(actor)
      const bounds = [uuidOf('after', after), uuidOf('before', before)]
      const rows = await database.query(inverted ? readUp : readDown, [actor.id, ...bounds, limit, offset])
      return rows.map(present)
    },

    /** A transfer by its UUID, as it stands in the actor's own statement; null when it does not. */
    async find(actor: Actor, uuid: string): Promise<StatementLine | null> {
      if (actor.kind !== 'user') return null
      const [row] = await database.query(readOne, [actor.id, uuid])
      return row ? present(row) : null
    },

    /** How many there are in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor): Promise<number> {
      assertMay(actor, 'transfer:read')
      assertUser(actor)
      const [row] = await database.query(countTransfers, [actor.id])
      return row?.count ?? 0
    },
  }
}
