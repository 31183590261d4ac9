/** Coins on the chain held to coins in the books, and to what people were told. Product and known-bad variant are judged alike. */
import { toId } from '../../src/domain/ids.ts'
import { fromUnits, toUnits } from '../../src/domain/money.ts'
import { int, numeric, orNull, type RowOf, statement, text, textOf, uuid } from '../../src/domain/sql.ts'
import { lyingSql } from '../../src/domain/wallet/coin-sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import type { CoinChain, SentCoins } from './coin-chain.ts'
import type { Asked, Promises } from './coin-people.ts'

const findBooked = statement(
  'proof_coins_booked',
  { columns: { deposits: numeric, under_way: numeric, treasury: numeric } },
  `select coalesce(-sum(amount) filter (where book = 'DEPOSITS'), 0) as deposits, coalesce(-sum(amount) filter (where book = 'UNDER_WAY'), 0) as under_way,
     coalesce(-sum(amount) filter (where book = 'TREASURY'), 0) as treasury
   from entries where currency = 'NUM' and book in ('DEPOSITS', 'UNDER_WAY', 'TREASURY')`,
)
const findAddresses = statement(
  'proof_coins_addresses',
  { columns: { address: text } },
  'select address from wallets order by address',
)
const depositColumns = { hash: orNull(text), status: text, amount: numeric, address: text }
type DepositRow = RowOf<typeof depositColumns>
const findDeposits = statement(
  'proof_coins_deposits',
  { columns: depositColumns },
  'select d.transaction_hash as hash, d.status::text, d.amount, w.address from deposits d join wallets w on w.user_id = d.wallet_id',
)
const findWithdrawals = statement(
  'proof_coins_withdrawals',
  {
    columns: {
      id: uuid,
      status: textOf<'WAITING' | 'SENDING' | 'CONFIRMED' | 'FAILED' | 'CANCELLED'>('withdrawal_status'),
      amount: numeric,
      recipient: text,
      returned: numeric,
    },
  },
  `select x.id, x.status, x.amount, x.recipient, coalesce((
     select sum(e.amount) from transfers t join entries e on e.transfer_id = t.id and e.wallet_id = x.wallet_id
     where t.reference = 'withdrawal-refund:' || x.id), 0) as returned
   from withdrawals x order by x.id`,
)
/** Moves whose coins the chain has lost wait for them. */
const countOpen = statement(
  'proof_coins_open',
  { columns: { deposits: int, withdrawals: int, moves: int } },
  `select (select count(*) from deposits where status = 'PENDING' or status = 'FROZEN' and block_number is not null)::int as deposits,
     (select count(*) from withdrawals where status in ('WAITING', 'SENDING'))::int as withdrawals,
     (select count(*) from coin_moves m join wallets w on w.user_id = m.wallet_id
       where m.status in ('SIGNED', 'BROADCAST', 'INCLUDED') and (m.kind = 'WITHDRAWAL' or ${lyingSql('w')} >= 0))::int as moves`,
)
/** What has happened in all, for the chances that a run must have had. */
const countDone = statement(
  'proof_coins_done',
  {
    columns: {
      frozen: int,
      released: int,
      gathered: int,
      paid: int,
      displaced: int,
      failed: int,
      last: int,
      short: numeric,
    },
  },
  `select (select count(*) from transfers where reference like 'deposit-freeze:%')::int as frozen,
     (select count(*) from transfers where reference like 'deposit-release:%')::int as released,
     (select count(*) from coin_moves where kind = 'GATHERING' and settlements > 0)::int as gathered,
     (select count(*) from coin_moves where kind = 'WITHDRAWAL' and status = 'FINAL')::int as paid,
     (select count(*) from transfers where reference like 'coins-displaced:%')::int as displaced,
     (select count(*) from withdrawals where status = 'FAILED')::int as failed,
     (select count(*) from coin_moves m join wallets w on w.user_id = m.wallet_id
       where m.kind = 'GATHERING' and w.closed_at between m.created_at - interval '3 seconds' and m.created_at + interval '3 seconds')::int as last,
     (select coalesce(sum(shortfall), 0) from deposits) as short`,
)

export type Done = Awaited<ReturnType<typeof readDone>>
export const readDone = async (database: ConnectedDatabase) => (await database.query(countDone))[0]!

export interface Judged {
  /** Wei. */
  onChain: bigint
  inBooks: bigint
  reasons: string[]
}

/** What is missing until everything that was sent and asked for is over; empty when nothing is. */
export async function findUnsettled(database: ConnectedDatabase, chain: CoinChain): Promise<string> {
  const [open] = await database.query(countOpen)
  const standing = await chain.standing()
  const rows = await database.query(findDeposits)
  const found = new Map(rows.map((row) => [row.hash, row.status]))
  const missing = [...standing].filter(({ kind, hash }) => kind !== 'CONTRACT' && found.get(hash) !== 'CREDITED')
  const waiting = chain.sent.filter((each) => !each.isLost && !standing.has(each))
  const parts = {
    'deposits that do not count': open!.deposits,
    'withdrawals that are not over': open!.withdrawals,
    'moves that are not settled': open!.moves,
    'deposits that were not credited': missing.length,
    'transactions that are in no block': waiting.length,
    // What contracts sent stands in no deposit before it counts.
    'addresses to which more was sent than was credited, or less': differencesOf(rows, standing).length,
  }
  return Object.entries(parts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')
}

/** Everything, when all is quiet. `funds`: wei that the treasury had before anything came in. */
export async function judgeCoins(
  database: ConnectedDatabase,
  chain: CoinChain,
  { treasury, funds, promises }: { treasury: string; funds: bigint; promises: Pick<Promises, 'asked' | 'cancelled'> },
): Promise<Judged> {
  const [booked] = await database.query(findBooked)
  const addresses = (await database.query(findAddresses)).map(({ address }) => address)
  const balances = await chain.balancesOf([...addresses, treasury])
  const onChain = balances.reduce((sum, balance) => sum + balance, 0n) - funds
  const inBooks = toUnits(booked!.deposits) + toUnits(booked!.under_way) + toUnits(booked!.treasury)
  const { deposits, under_way, treasury: held } = booked!
  const told = `deposits ${deposits}, under way ${under_way}, treasury ${held}`
  return {
    onChain,
    inBooks,
    reasons: [
      ...(onChain === inBooks
        ? []
        : [`${fromUnits(onChain)} coins are on the chain and ${fromUnits(inBooks)} in the books (${told}).`]),
      ...(await judgeDeposits(database, await chain.standing())),
      ...(await judgeWithdrawals(database, chain, promises)),
    ],
  }
}

/** Addresses to which the chain has sent more than was credited, or less, and how much. */
function differencesOf(rows: readonly DepositRow[], standing: ReadonlySet<SentCoins>): [string, bigint][] {
  const sums = new Map<string, bigint>()
  for (const { to, value } of standing) sums.set(to, (sums.get(to) ?? 0n) + value)
  for (const { address, amount, status } of rows)
    if (status === 'CREDITED') sums.set(address, (sums.get(address) ?? 0n) - toUnits(amount))
  return [...sums].filter(([, sum]) => sum !== 0n)
}

/** What the chain has is credited once, and nothing else; what contracts sent stands in no transaction, and is judged by its sum. */
async function judgeDeposits(database: ConnectedDatabase, standing: ReadonlySet<SentCoins>): Promise<string[]> {
  const rows = await database.query(findDeposits)
  const credited = rows.filter(({ status }) => status === 'CREDITED')
  const byHash = new Map(credited.map((row) => [row.hash, row]))
  const plain = [...standing].filter(({ kind }) => kind !== 'CONTRACT')
  const wrong = plain.filter(({ hash, value }) => toUnits(byHash.get(hash)?.amount ?? '0') !== value)
  const differing = differencesOf(rows, standing)
  return [
    ...(wrong.length
      ? [`${wrong.length} deposits are not in the books as they came in, such as ${wrong[0]!.hash}.`]
      : []),
    ...differing.slice(0, 5).map(([address, sum]) => `${address} was sent ${fromUnits(sum)} more than was credited.`),
  ]
}

/** Each that was asked for was paid once or given back once; nothing else was. */
async function judgeWithdrawals(
  database: ConnectedDatabase,
  chain: CoinChain,
  { asked, cancelled }: { asked: readonly Asked[]; cancelled: readonly string[] },
): Promise<string[]> {
  const rows = await database.query(findWithdrawals)
  const balances = await chain.balancesOf(rows.map(({ recipient }) => recipient))
  const byId = new Map(rows.map((row) => [toId('withdrawal', row.id), row]))
  const reasons = asked
    .filter(({ id, to, amount }) => byId.get(id)?.recipient !== to || toUnits(byId.get(id)!.amount) !== amount)
    .map(({ id }) => `${id} was acknowledged, and there is none.`)
  for (const id of cancelled)
    if (byId.get(id)?.status !== 'CANCELLED')
      reasons.push(`${id} was told to be cancelled, and is ${byId.get(id)?.status}.`)
  for (const [index, { id, status, amount, returned }] of rows.entries()) {
    const [paid, isBack] = [balances[index]!, toUnits(returned) > 0n]
    const isRight = status === 'CONFIRMED' ? paid === toUnits(amount) && !isBack : paid === 0n && isBack
    const isOver = status !== 'WAITING' && status !== 'SENDING'
    if (!isRight || !isOver)
      reasons.push(
        `${toId('withdrawal', id)} of ${amount} is ${status}: ${fromUnits(paid)} arrived, ${returned} came back.`,
      )
  }
  return reasons
}
