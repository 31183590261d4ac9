/** SQL parts of statements that move money, and the invariants of the ledger. */
import type { Invariant } from '../../db/database-types.ts'

import type { Entry } from '../../db/prisma/client.ts'
import { numeric, text } from '../../db/sql.ts'
import { NIL_UUID } from '../../shared/ids.ts'

/** One entry. `wallet` (a user UUID) and `amount` are SQL expressions. A positive amount credits the account. */
export type EntryLine = { currency: Entry['currency']; amount: string } & ({ wallet: string } | { book: Book })
type Book = NonNullable<Entry['book']>

/** Returns entries in currency units: an entry of a wallet (user and amount), followed by entries of ledger accounts. */
export const numLines = (books: Partial<Record<Book, string>>, wallet?: readonly [string, string]): EntryLine[] => [
  ...(wallet ? [{ wallet: wallet[0], currency: 'NUM' as const, amount: wallet[1] }] : []),
  ...Object.entries(books).map(([book, amount]) => ({ book: book as Book, currency: 'NUM' as const, amount })),
]

/** SQL parts of a statement that posts a transfer for each row of `from`. */
interface TransferParts {
  from: string
  id?: string
  /** The unique index on the reference prevents a second transfer. */
  reference: string
  reason?: string
  when?: string
  /** Entries that sum to zero per currency, or a query with the columns `position, wallet_id, book, currency, amount`. */
  lines: readonly EntryLine[] | string
  /** Omits entries with the amount 0, which a CHECK constraint rejects. */
  omitsZeros?: boolean
}

/** Returns one SQL row. Every value has a cast, because PostgreSQL treats a column of untyped nulls as text. */
const valueSql = (line: EntryLine, index: number) => {
  const [wallet, book] = 'wallet' in line ? [line.wallet, 'null'] : ['null', `'${line.book}'`]
  return `(${index + 1}, ${wallet}::uuid, ${book}::book, '${line.currency}'::currency, ${line.amount})`
}

/** Returns the CTEs that post transfers, with the CTE `inserted_transfers (id)`. */
export function postTransferSql(parts: TransferParts): string {
  const { from, id = 'transfer_id', reference, reason = 'null', when = 'true', lines, omitsZeros = false } = parts
  return `
  inserted_transfers as (
    insert into transfers (id, reference, reason)
    select ${id}, ${reference}, ${reason} from ${from} where ${when} returning id
  ),
  inserted_entries as (
    insert into entries (transfer_id, position, wallet_id, book, currency, amount)
    select ${id}, line.position, line.wallet_id, line.book, line.currency, line.amount
    from ${from}, lateral (
      ${typeof lines === 'string' ? lines : `values ${lines.map(valueSql).join(', ')}`}
    ) as line (position, wallet_id, book, currency, amount)
    where ${when} ${omitsZeros ? 'and line.amount <> 0' : ''}
  )`
}

/**
 * SQL of the ID for the next transfer of a wallet, the alias of a locked row (decision 21). If the wallet's latest ID is
 * ahead of the clock, `next_transfer_ids` continues from the latest ID.
 */
export const nextTransferSql = (wallet: string) => `case when uuidv7() > coalesce((
    select e.transfer_id from entries e where e.wallet_id = ${wallet}.user_id order by e.transfer_id desc limit 1
  ), '${NIL_UUID}'::uuid) then uuidv7() else (next_transfer_ids(${wallet}.user_id))[1] end`

/**
 * Returns CTEs that add the column `gain` of the CTE `from (id, user_id, gain, …)` to the wallets. The CTE `result` has
 * the columns of `from`, and an event `sequence` and a `transfer_id` for each row. The lock order prevents deadlocks.
 */
export const changeWalletsSql = (from: string, result: string) => `
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select user_id from ${from}) order by user_id for no key update
   ),
   changed_wallets as (
     update wallets w set num = w.num + sum.gain, event_sequence = w.event_sequence + sum.count
     from locked_wallets join (
       select user_id, sum(gain) as gain, count(*)::int as count from ${from} group by user_id
     ) sum using (user_id)
     where w.user_id = locked_wallets.user_id
     returning w.user_id, old.event_sequence as before, next_transfer_ids(w.user_id, sum.count) as transfers
   ),
   ${result} as materialized (
     select ranked.*, before + rank as sequence, transfers[rank] as transfer_id
     from (select *, (row_number() over (partition by user_id order by id))::int as rank from ${from}) ranked
       join changed_wallets using (user_id)
   )`

/** SQL of the CTE `new_transfer (transfer_id)`: an ID for one transfer between all locked wallets of `from`. */
export const newTransferSql = (from: string) => `
  new_transfer as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`

/** SQL that splits a payment: points first, then currency units. `quoteOf` does the same in TypeScript. */
export const pointsFirstSql = (points: string, amount: string) => {
  const inPoints = `least(${points}, ${amount})`
  return { points: inPoints, num: `(${amount} - ${inPoints})` }
}

export const charged = { fee: numeric, gas: numeric }
const total = pointsFirstSql('w.points', 'due.fee + due.gas')
/** Points and currency units each pay the fee first, then the gas. */
const fee = pointsFirstSql('charge.points', 'charge.fee')

/**
 * Returns the CTEs that charge wallets for the commits of the CTE `from (payer, fee, gas, …)`. The CTE `charge (points,
 * num, sequence, commit_id, transfer_id, …)` has no row for a wallet that cannot pay.
 */
export const chargeSql = ({ from }: { from: string }) => `
  charge as (
    update wallets w set
      points = w.points - ${total.points},
      num = w.num - ${total.num},
      event_sequence = w.event_sequence + 1
    from ${from} due
    where w.user_id = due.payer and w.closed_at is null and w.points + w.num >= due.fee + due.gas
    returning old.points - new.points as points, old.num - new.num as num, new.event_sequence as sequence,
      uuidv7() as commit_id, ${nextTransferSql('w')} as transfer_id, due.*
  ),
  ${postTransferSql({
    from: 'charge',
    reference: `'commit:' || commit_id`,
    omitsZeros: true,
    lines: [
      { wallet: 'charge.payer', currency: 'POINTS', amount: '-charge.points' },
      { wallet: 'charge.payer', currency: 'NUM', amount: '-charge.num' },
      { book: 'REVENUE', currency: 'POINTS', amount: fee.points },
      { book: 'REVENUE', currency: 'NUM', amount: fee.num },
      { book: 'GAS', currency: 'POINTS', amount: `charge.points - ${fee.points}` },
      { book: 'GAS', currency: 'NUM', amount: `charge.num - ${fee.num}` },
    ],
  })}`

/** SQL that locks the wallets and users of several callers, and skips locked accounts. `user`: SQL of the UUID. */
export const heldAccountSql = {
  join: (user: string) => `join wallets held on held.user_id = ${user} join users named on named.id = ${user}`,
  locks: 'for no key update of held skip locked for key share of named skip locked',
}

/** SQL for the sums of entries by currency, as `num` and `points`. */
export const sumsSql = `coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
  coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points`

export const bookInvariants: Invariant[] = [
  {
    id: 'I1',
    sentence: 'The entries of every transfer, and of all together, sum to zero per currency.',
    columns: { subject: text, currency: text, amount: text },
    query: `select 'transfer:' || transfer_id as subject, currency::text, sum(amount)::text as amount
            from entries group by transfer_id, currency having sum(amount) <> 0`,
  },
  {
    id: 'I2',
    sentence: 'The balances of a wallet are the sums of its entries.',
    columns: { subject: text, num: text, points: text, num_entries: text, points_entries: text },
    query: `select 'user:' || w.user_id as subject, w.num::text, w.points::text, e.num::text as num_entries, e.points::text as points_entries
            from wallets w left join lateral (
              select ${sumsSql} from entries where wallet_id = w.user_id) e on true
            where w.num <> e.num or w.points <> e.points`,
  },
  {
    id: 'C9',
    sentence: 'Each stored balance of a statement is the sum of the entries up to its transfer, and none is missing.',
    columns: { subject: text, transfer: text, num: text, points: text, num_entries: text, points_entries: text },
    query: `with parts as (
              select s.*, e.num as num_since, e.points as points_since
              from (select *, lag(transfer_id) over (partition by wallet_id order by transfer_id) as earlier from statement_balances) s,
                lateral (
                  select ${sumsSql} from entries where wallet_id = s.wallet_id and transfer_id <= s.transfer_id
                    and transfer_id > coalesce(s.earlier, '${NIL_UUID}')
                ) e
            ), summed as (
              select *, sum(num_since) over up as num_entries, sum(points_since) over up as points_entries
              from parts window up as (partition by wallet_id order by transfer_id)
            )
            select 'user:' || wallet_id as subject, 'transfer:' || transfer_id as transfer, num::text, points::text, num_entries::text, points_entries::text
              from summed where num <> num_entries or points <> points_entries
            union all
            select 'user:' || e.wallet_id, 'transfer:' || e.transfer_id, null, null, null, null from entries e
              where e.wallet_id is not null and is_balance_checkpoint(e.transfer_id)
                and not exists (select from statement_balances s where s.wallet_id = e.wallet_id and s.transfer_id = e.transfer_id)`,
  },
  {
    id: 'I3',
    sentence: 'No balance is below zero.',
    columns: { subject: text, num: text, points: text },
    query: `select 'user:' || user_id as subject, num::text, points::text from wallets where num < 0 or points < 0`,
  },
  {
    id: 'C3',
    sentence: 'Every deposit has one transfer of its amount; every grant adds points to one wallet.',
    query: `select d.reference as subject, 'no transfer of its amount' as problem from deposits d
              where d.status <> 'PENDING' and d.amount is distinct from (
                select sum(e.amount) from transfers t join entries e on e.transfer_id = t.id
                where t.reference = d.reference and e.wallet_id = d.wallet_id and e.currency = 'NUM')
            union all
            select t.reference, 'does not add points to one wallet' from transfers t
              where t.reference like 'grant:%' and (
                select count(*) filter (where wallet_id is not null and currency = 'POINTS' and amount > 0) <> 1
                from entries where transfer_id = t.id)`,
  },
  {
    id: 'C6',
    sentence:
      'Deposits are in the ledger exactly while they are credited. The account SHORTFALL has the debts of wallets from frozen deposits.',
    query: `select d.reference as subject, 'the ledger has ' || booked.amount::text || ' for a deposit with the status ' || d.status as problem
              from deposits d, lateral (
                select coalesce(-sum(e.amount), 0) as amount from entries e join transfers t on t.id = e.transfer_id
                where e.book in ('DEPOSITS', 'TOKENS') and t.reference in (
                  select d.reference union all
                  select kind || substr(d.reference, 9) || ':' || n
                  from generate_series(1, d.freezes) n, (values ('deposit-freeze:'), ('deposit-release:')) as k (kind))
              ) booked
              where booked.amount <> case d.status when 'CREDITED' then d.amount else 0 end
            union all
            select 'SHORTFALL', 'the account has ' || booked || ', the deposits ' || owed from (
                select (select coalesce(-sum(amount), 0) from entries where book = 'SHORTFALL') as booked,
                  (select coalesce(sum(shortfall), 0) from deposits) as owed) sums where booked <> owed`,
  },
  {
    id: 'C7',
    sentence:
      'The accounts IN_TRANSIT and TREASURY match the coin transfers. Each coin transfer was posted once when it was signed, and once when it was settled.',
    columns: { subject: text, booked: text, moved: text },
    query: `with booked as (
              select coalesce(sum(e.amount) filter (where e.book = 'IN_TRANSIT'), 0) as in_transit,
                coalesce(sum(e.amount) filter (where e.book = 'TREASURY'), 0) as treasury
              from entries e join transfers t on t.id = e.transfer_id
              where t.reference like 'coins-%' and e.book in ('IN_TRANSIT', 'TREASURY')
            ), moved as (
              select coalesce(-sum(amount) filter (where status in ('SIGNED', 'BROADCAST', 'INCLUDED') and suspended_at is null), 0) as in_transit,
                coalesce(sum(case
                  when kind = 'WITHDRAWAL' and status in ('FINAL', 'FAILED') then arrived + fee
                  when kind = 'WITHDRAWAL' then amount
                  when status = 'FINAL' then -arrived end), 0) as treasury
              from coin_transfers
            )
            select 'under way' as subject, booked.in_transit::text as booked, moved.in_transit::text as moved
              from booked, moved where booked.in_transit <> moved.in_transit
            union all
            select 'treasury', booked.treasury::text, moved.treasury::text
              from booked, moved where booked.treasury <> moved.treasury`,
  },
  {
    id: 'C8',
    sentence:
      'Every withdrawal was charged once, and refunded exactly if it failed or was cancelled. No withdrawal is confirmed whose coin transfer failed. The account WITHDRAWALS has the coins that have not arrived.',
    query: `select coalesce('withdrawal:' || x.id, t.reference) as subject, 'a withdrawal without its transfer, or a transfer without its withdrawal' as problem
              from withdrawals x full join (select reference from transfers where reference like 'withdrawal:%') t on t.reference = 'withdrawal:' || x.id
              where x.id is null or t.reference is null
            union all
            select 'withdrawal:' || x.id, 'a different amount was charged' from withdrawals x join transfers t on t.reference = 'withdrawal:' || x.id
              left join entries e on e.transfer_id = t.id and e.wallet_id = x.wallet_id
              group by x.id having coalesce(-sum(e.amount), 0) <> x.amount + x.fee
            union all
            select 'withdrawal:' || x.id, 'refunded without having failed or been cancelled, or the reverse' from withdrawals x
              left join transfers t on t.reference = 'withdrawal-refund:' || x.id
              where (x.status in ('FAILED', 'CANCELLED')) <> (t.id is not null)
            union all
            select 'withdrawal:' || x.id, 'confirmed, but its coin transfer failed' from withdrawals x join coin_transfers m on m.id = x.coin_transfer_id
              where x.status = 'CONFIRMED' and m.status = 'FAILED'
            union all
            select 'WITHDRAWALS', 'the account has ' || booked || ', the withdrawals ' || moved from (
              select (select coalesce(sum(amount), 0) from entries where book = 'WITHDRAWALS') as booked,
                (select coalesce(sum(x.amount), 0) from withdrawals x left join coin_transfers m on m.id = x.coin_transfer_id
                  where x.status in ('WAITING', 'SENDING', 'CONFIRMED') and m.status is distinct from 'FINAL')
                  + (select coalesce(sum(t.value), 0) from coin_transfers m join coin_transactions t on t.coin_transfer_id = m.id
                    where m.wallet_id is null and m.status not in ('FINAL', 'FAILED')) as moved) sums
              where booked <> moved`,
  },
  {
    id: 'I7',
    sentence:
      'Triggers prevent changes of transfers, entries, stored balances, commits and recent events. They exist and are enabled, and no trigger or foreign key of any table is disabled.',
    query: `select wanted.name as subject, 'no enabled trigger against ' || operation.name as problem
            from (values ('transfers'), ('entries'), ('statement_balances'), ('commits'), ('events')) as wanted (name),
              (values ('UPDATE', 16), ('DELETE', 8), ('TRUNCATE', 32)) as operation (name, bit)
            where not exists (
              select 1 from pg_trigger t where t.tgrelid = wanted.name::regclass and not t.tgisinternal
                and t.tgenabled in ('O', 'A') and (t.tgtype & operation.bit) <> 0 and (t.tgtype & 2) <> 0)
            union all
            select r.relname, coalesce('foreign key ' || c.conname, 'trigger ' || t.tgname) || ' is disabled'
            from pg_trigger t join pg_class r on r.oid = t.tgrelid left join pg_constraint c on c.oid = t.tgconstraint and c.contype = 'f'
            where r.relnamespace = 'public'::regnamespace and t.tgenabled not in ('O', 'A')`,
  },
]
