/** What must never go wrong with the books and the history, each as a query that returns no rows. */
import { customField, saidSql } from './asset/metadata.ts'
import type { Database } from './ports.ts'
import { int, statement, type Types, text, timestamp } from './sql.ts'

/** Something that must always hold, with the query that finds what contradicts it. */
export interface Invariant {
  id: string
  sentence: string
  /** Of what it finds: whom or what it is about and what is wrong, when left out. */
  columns?: Types
  query: string
}

const { changeName: custom } = customField

/** About as many rows of a table, or all where there are fewer: pages of it, so that it takes as long however many there are. */
const sampleSql = (table: string, rows: number) =>
  `tablesample system ((select 100 * least(1, ${rows} / greatest(reltuples, 1)) from pg_class where oid = '${table}'::regclass))`

/** Each query sees one moment of the database, so it may run beside a busy service. */
export const invariants: Invariant[] = [
  {
    id: 'I1',
    sentence: 'The entries of every transfer, and of all together, sum to zero per currency.',
    columns: { subject: text, currency: text, amount: text },
    query: `select transfer_id::text as subject, currency::text, sum(amount)::text as amount
            from entries group by transfer_id, currency having sum(amount) <> 0`,
  },
  {
    id: 'I2',
    sentence: 'The balances of a wallet are the sums of its entries.',
    columns: { subject: text, num: text, points: text, num_entries: text, points_entries: text },
    query: `select w.user_id::text as subject, w.num::text, w.points::text, e.num::text as num_entries, e.points::text as points_entries
            from wallets w left join lateral (
              select coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
                     coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points
              from entries where wallet_id = w.user_id) e on true
            where w.num <> e.num or w.points <> e.points`,
  },
  {
    id: 'I3',
    sentence: 'No balance is below zero.',
    columns: { subject: text, num: text, points: text },
    query: `select user_id::text as subject, num::text, points::text from wallets where num < 0 or points < 0`,
  },
  {
    id: 'I4',
    sentence:
      'An order is paid exactly if one charge of its frozen price exists, and then its event stands once in the feed of the app’s owner; one with a webhook has one delivery.',
    query: `select coalesce(o.id::text, t.reference) as subject, 'paid without its charge, or charged without being paid' as problem from orders o
              full join (select id, reference from transfers where reference like 'order:%') t on t.reference = 'order:' || o.id
              where (o.paid_at is not null) <> (t.id is not null) or o.transfer_id <> t.id
            union all
            select o.id::text, 'the charge is not the price' from orders o
              left join entries e on e.transfer_id = o.transfer_id and e.wallet_id = o.buyer_id and e.amount < 0
              where o.paid_at is not null group by o.id having coalesce(-sum(e.amount), 0) <> o.price
            union all
            select o.id::text, 'the event of the payment is missing' from orders o join network_apps a on a.id = o.network_app_id
              where o.paid_at is not null and not exists (
                select 1 from events e where e.order_id = o.id and e.owner_id = a.owner_id and e.type = 'order.paid')
            union all
            select e.order_id::text, 'an event of a payment that was not made' from events e join orders o on o.id = e.order_id
              where e.type = 'order.paid' and o.paid_at is null
            union all
            select o.id::text, 'not exactly one delivery' from orders o left join (
                webhook_deliveries d join events e on e.id = d.event_id and e.type = 'order.paid') on d.order_id = o.id
              where o.status in ('PENDING', 'FAILURE') or d.id is not null
              group by o.id having count(d.id) <> 1 or o.paid_at is null`,
  },
  {
    id: 'I5',
    sentence: 'No order is both expired and paid, and every paid one was paid before its deadline.',
    columns: { subject: text, status: text, paid_at: timestamp, expires_at: timestamp },
    query: `select id::text as subject, status::text, paid_at, expires_at from orders
            where paid_at is not null and (status in ('CREATED', 'EXPIRED', 'CANCELLED') or paid_at >= expires_at)`,
  },
  {
    id: 'I6',
    sentence:
      'Every accepted change has exactly one commit and one charge, and at most one refund; sequences have no gap.',
    query: `select c.id::text as subject, 'no charge' as problem from commits c
              left join transfers t on t.reference = 'commit:' || c.id where t.id is null
            union all
            select t.reference, 'charge without a commit' from transfers t
              left join commits c on t.reference = 'commit:' || c.id
              where t.reference like 'commit:%' and c.id is null
            union all
            select t.reference, 'refund without a failed commit' from transfers t
              left join commit_relays r on t.reference = 'refund:' || r.commit_id and r.status = 'FAILED'
              where t.reference like 'refund:%' and r.commit_id is null
            union all
            select c.id::text, 'no relay row' from commits c left join commit_relays r on r.commit_id = c.id where r.commit_id is null
            union all
            select a.id::text, 'head is not the newest of gapless commits' from assets a
              left join lateral (select count(*) as n, max(sequence) as newest,
                (array_agg(id order by sequence desc))[1] as head from commits where asset_id = a.id) c on true
              where c.n <> a.head_sequence or c.newest <> a.head_sequence or c.head <> a.head_commit_id`,
  },
  {
    id: 'I7',
    sentence:
      'Transfers, entries, uses of grants, commits and events cannot be changed or deleted: their triggers stand and are enabled.',
    query: `select wanted.name as subject, 'no enabled trigger against ' || operation.name as problem
            from (values ('transfers'), ('entries'), ('grant_uses'), ('commits'), ('events')) as wanted (name),
              (values ('UPDATE', 16), ('DELETE', 8), ('TRUNCATE', 32)) as operation (name, bit)
            where not exists (
              select 1 from pg_trigger t where t.tgrelid = wanted.name::regclass and not t.tgisinternal
                and t.tgenabled in ('O', 'A') and (t.tgtype & operation.bit) <> 0 and (t.tgtype & 2) <> 0)`,
  },
  {
    id: 'I8',
    // A mail that was asked for leaves nothing that stays: 'requested'.
    sentence: 'An idempotency key that is there names an effect that is there.',
    query: `select k.result as subject, 'effect is missing' as problem from idempotency_keys k
            where k.result <> 'requested' and case
              -- Of a link, a space and what it was made from follow.
              when k.result ~ '^baf' then not exists (select 1 from assets a where a.nid = split_part(k.result, ' ', 1))
              -- Sessions end; the trail of their beginning stays.
              when k.result ~ '^session_' then split_part(k.result, ':', 1) not in (select subject from audit_entries where action = 'session.started' and subject is not null)
              else not exists (select 1 from users u where u.id::text = k.result)
                and not exists (select 1 from network_apps a where a.id::text = split_part(k.result, ':', 1))
                and not exists (select 1 from orders o where o.id::text = k.result)
                and not exists (select 1 from api_keys a where a.id::text = k.result)
                and not exists (select 1 from point_grants g where g.id::text = k.result)
                and not exists (select 1 from webhook_deliveries d where d.id::text = k.result)
                and not exists (select 1 from refunds r where r.id::text = k.result)
                and not exists (select 1 from withdrawals x where x.id::text = k.result)
            end`,
  },
  {
    id: 'I9',
    sentence:
      'A deleted account has no open order, no key, no token, no asset, and nothing on sale; its wallet is closed, and its books stay.',
    query: `with deleted_users as (select id, username, email, password_hash from users where deleted_at is not null)
            select u.id::text as subject, 'an order is open' as problem from deleted_users u join orders o on o.buyer_id = u.id where o.status = 'CREATED'
            union all
            select u.id::text, 'a key is there' from deleted_users u join user_keys k on k.user_id = u.id
            union all
            select u.id::text, 'an access token is there' from deleted_users u join access_tokens t on t.user_id = u.id
            union all
            select u.id::text, 'a mailed token is there' from deleted_users u join one_time_tokens t on t.user_id = u.id
            union all
            select u.id::text, 'an asset is there' from deleted_users u join assets a on a.owner_id = u.id where a.deleted_at is null
            union all
            select u.id::text, 'a network app is on sale' from deleted_users u join network_apps a on a.owner_id = u.id where a.deactivated_at is null
            union all
            select u.id::text, 'a commit that nobody can sign any more' from deleted_users u join assets a on a.owner_id = u.id
              join commits c on c.asset_id = a.id join commit_relays r on r.commit_id = c.id
              where r.status = 'PENDING' and r.tree_signature is null
            union all
            select u.id::text, 'it names somebody' from deleted_users u
              where u.username not like 'deleted\\_%' or u.email not like '%@deleted.invalid' or u.password_hash <> ''
            union all
            select u.id::text, 'closed without being deleted, or deleted without being closed' from users u left join wallets w on w.user_id = u.id
              where (u.deleted_at is null) <> (w.closed_at is null)`,
  },
  {
    id: 'I10',
    sentence:
      'What is given back of an order is never more than was paid; each refund is one transfer, brings the buyer its amount, and is told to buyer and seller; an order is refunded exactly if all of it was given back.',
    query: `select coalesce(r.order_id::text, t.reference) as subject, 'a refund without its transfer, or a transfer without its refund' as problem
              from refunds r full join (select id, reference from transfers where reference like 'order-refund:%') t on t.id = r.transfer_id
              where r.id is null or t.id is null or split_part(t.reference, ':', 2) <> r.order_id::text
            union all
            select o.id::text, 'its refunds do not add up' from orders o left join lateral (
                select coalesce(sum(points), 0) as points, coalesce(sum(num), 0) as num from refunds where order_id = o.id) r on true
              where o.points_refunded <> r.points or o.num_refunded <> r.num
            union all
            select id::text, 'more was given back than paid' from orders where points_refunded > points_paid or num_refunded > num_paid
            union all
            select o.id::text, 'refunded without a refund of all, or all given back without being refunded' from orders o
              where o.paid_at is not null and case o.status
                when 'REFUNDED' then o.points_refunded + o.num_refunded <> o.price or not exists (select from refunds where order_id = o.id)
                else o.points_refunded + o.num_refunded = o.price and o.price > 0 end
            union all
            select o.id::text, 'the buyer got another amount' from refunds r join orders o on o.id = r.order_id
              join network_apps a on a.id = o.network_app_id left join lateral (
                select coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points,
                  coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num
                from entries where transfer_id = r.transfer_id and wallet_id = o.buyer_id) e on true
              where a.owner_id <> o.buyer_id and (e.points <> r.points or e.num <> r.num)
            union all
            select r.order_id::text, 'somebody was not told of the refund' from refunds r join orders o on o.id = r.order_id
              join network_apps a on a.id = o.network_app_id, lateral (values (o.buyer_id), (a.owner_id)) as person (id)
              where not exists (select from events e where e.owner_id = person.id and e.transfer_id = r.transfer_id and e.type = 'order.refunded')`,
  },
  {
    id: 'I11',
    sentence:
      'The newest commit of an asset knows which commit set each thing that the asset says, and that one set it so; other commits name none but earlier ones that set what they are named for. Up to 100,000 assets and 20,000 commits: of more, a sample.',
    query: `with asset as (
              select a.*, c.blame from assets a ${sampleSql('assets', 100_000)} join commits c on c.id = a.head_commit_id where a.deleted_at is null
            ), said as (
              select a.id as asset_id, said.field, null as key, said.value, (a.blame -> said.field)::int as setter
                from asset a, lateral (values ${saidSql('a')}) said (field, value) where said.value is not null
              union all
              select a.id, '${custom}', said.key, said.value, (a.blame -> '${custom}' -> said.key)::int
                from asset a, lateral jsonb_each(a.custom) said
            ), sample as (
              select c.asset_id, c.sequence, c.blame from commits c ${sampleSql('commits', 20_000)}
            ), named as (
              select s.asset_id, s.sequence, plain.field, null as key, plain.setter::int as setter
                from sample s, lateral jsonb_each(s.blame - '${custom}') plain (field, setter)
              union all
              select s.asset_id, s.sequence, '${custom}', custom.key, custom.setter::int
                from sample s, lateral jsonb_each(s.blame -> '${custom}') custom (key, setter)
            )
            select s.asset_id::text as subject, 'no commit is known that set ' || concat_ws('.', s.field, s.key) || ' to what it is' as problem
              from said s where not exists (
                select from commits c where c.asset_id = s.asset_id and c.sequence = s.setter
                  and s.value = case when s.key is null then c.changes -> s.field -> 1 else c.changes -> s.field -> 1 -> s.key end)
            union all
            select n.asset_id::text, 'commit ' || n.sequence || ' names ' || n.setter || ' for ' || concat_ws('.', n.field, n.key)
              from named n where n.setter > n.sequence or not exists (
                select from commits c where c.asset_id = n.asset_id and c.sequence = n.setter
                  and (c.changes ? n.field and (n.key is null or c.changes -> n.field -> 1 ? n.key) or c.tree = ''))`,
  },
  {
    id: 'C2',
    sentence: 'The positions of a feed have no gap and end where the wallet says.',
    columns: { subject: text, event_sequence: int, events: int },
    query: `select w.user_id::text as subject, w.event_sequence, count(e.id)::int as events from wallets w
              left join events e on e.owner_id = w.user_id
              group by w.user_id having count(e.id) <> w.event_sequence or coalesce(max(e.sequence), 0) <> w.event_sequence`,
  },
  {
    id: 'C3',
    sentence:
      'Every deposit and every grant is in the books once, with its amount; no grant gives back more than it gave.',
    query: `with income as (
              select reference, wallet_id, 'NUM'::currency as currency, amount from deposits where status <> 'PENDING'
              union all
              select 'grant:' || id, wallet_id, 'POINTS', amount from point_grants
            )
            select i.reference as subject, 'not in the books' as problem from income i where i.amount is distinct from (
              select sum(e.amount) from transfers t join entries e on e.transfer_id = t.id
              where t.reference = i.reference and e.wallet_id = i.wallet_id and e.currency = i.currency)
            union all
            select t.reference, 'takes what the grant does not have' from transfers t
              join entries e on e.transfer_id = t.id and e.wallet_id is not null
              left join point_grants g on t.reference = 'grant-expiry:' || g.id and g.expired_at is not null
              where t.reference like 'grant-expiry:%' and (g.id is null or -e.amount > g.amount)`,
  },
  {
    id: 'C6',
    sentence:
      'What came in is in the books exactly while it counts: not before, and not when the chain has lost it; what wallets owe for frozen deposits stands in SHORTFALL.',
    query: `select d.reference as subject, 'the books say ' || booked.amount::text || ' of a deposit that is ' || d.status as problem
              from deposits d, lateral (
                select coalesce(-sum(e.amount), 0) as amount from entries e join transfers t on t.id = e.transfer_id
                where e.book in ('DEPOSITS', 'TOKENS') and t.reference in (
                  select d.reference union all
                  select kind || substr(d.reference, 9) || ':' || n
                  from generate_series(1, d.freezes) n, (values ('deposit-freeze:'), ('deposit-release:')) as k (kind))
              ) booked
              where booked.amount <> case d.status when 'CREDITED' then d.amount else 0 end
            union all
            select 'SHORTFALL', 'the book says ' || booked || ' and the deposits ' || owed from (
                select (select coalesce(-sum(amount), 0) from entries where book = 'SHORTFALL') as booked,
                  (select coalesce(sum(shortfall), 0) from deposits) as owed) sums where booked <> owed`,
  },
  {
    id: 'C4',
    sentence:
      'What remains of an expiring grant is what it gave less what its uses took, never more than its wallet holds; the wallet says when the soonest one ends.',
    query: `select g.id::text as subject, 'its uses do not add up' as problem from point_grants g
              left join lateral (select coalesce(sum(amount), 0) as used from grant_uses where grant_id = g.id) u on true
              where g.remaining <> g.amount - u.used
            union all
            select w.user_id::text, 'its grants hold more than it does' from wallets w
              join point_grants g on g.wallet_id = w.user_id group by w.user_id having sum(g.remaining) > w.points
            union all
            select w.user_id::text, 'it names another end than that of its soonest grant' from wallets w
              left join lateral (
                select min(expires_at) as soonest from point_grants where wallet_id = w.user_id and expired_at is null
              ) g on true where w.points_expire_at is distinct from g.soonest
            union all
            select u.grant_id::text, 'a transfer used more of it than it moved' from grant_uses u
              join point_grants g on g.id = u.grant_id join transfers t on t.id = u.transfer_id
              left join entries e on e.transfer_id = u.transfer_id and e.wallet_id = g.wallet_id and e.currency = 'POINTS'
              where t.reference <> 'grant:' || g.id
              group by u.grant_id, u.transfer_id, u.amount having abs(u.amount) > greatest(
                coalesce(sum(e.amount) filter (where e.amount > 0), 0), coalesce(-sum(e.amount) filter (where e.amount < 0), 0))`,
  },
  {
    id: 'C7',
    sentence:
      'What is under way and what lies in the treasury is what the moves of coins say; each was signed, and settled, in the books once.',
    columns: { subject: text, booked: text, moved: text },
    query: `with booked as (
              select coalesce(sum(e.amount) filter (where e.book = 'UNDER_WAY'), 0) as under_way,
                coalesce(sum(e.amount) filter (where e.book = 'TREASURY'), 0) as treasury
              from entries e join transfers t on t.id = e.transfer_id
              where t.reference like 'coins-%' and e.book in ('UNDER_WAY', 'TREASURY')
            ), moved as (
              select coalesce(-sum(amount) filter (where status in ('SIGNED', 'BROADCAST', 'INCLUDED') and stranded_at is null), 0) as under_way,
                coalesce(sum(case
                  when kind = 'WITHDRAWAL' and status in ('FINAL', 'FAILED') then arrived + fee
                  when kind = 'WITHDRAWAL' then amount
                  when status = 'FINAL' then -arrived end), 0) as treasury
              from coin_moves
            )
            select 'under way' as subject, booked.under_way::text as booked, moved.under_way::text as moved
              from booked, moved where booked.under_way <> moved.under_way
            union all
            select 'treasury', booked.treasury::text, moved.treasury::text
              from booked, moved where booked.treasury <> moved.treasury`,
  },
  {
    id: 'C8',
    sentence:
      'Every withdrawal was taken from its wallet once, and given back exactly if it failed or was cancelled; what has not arrived stands in WITHDRAWALS.',
    query: `select coalesce(x.id::text, t.reference) as subject, 'withdrawn without its transfer, or a transfer without its withdrawal' as problem
              from withdrawals x full join (select reference from transfers where reference like 'withdrawal:%') t on t.reference = 'withdrawal:' || x.id
              where x.id is null or t.reference is null
            union all
            select x.id::text, 'another amount was taken' from withdrawals x join transfers t on t.reference = 'withdrawal:' || x.id
              left join entries e on e.transfer_id = t.id and e.wallet_id = x.wallet_id
              group by x.id having coalesce(-sum(e.amount), 0) <> x.amount + x.fee
            union all
            select x.id::text, 'given back without being over, or over without being given back' from withdrawals x
              left join transfers t on t.reference = 'withdrawal-refund:' || x.id
              where (x.status in ('FAILED', 'CANCELLED')) <> (t.id is not null)
            union all
            select 'WITHDRAWALS', 'the book says ' || booked || ' and the withdrawals ' || moved from (
              select (select coalesce(sum(amount), 0) from entries where book = 'WITHDRAWALS') as booked,
                (select coalesce(sum(x.amount), 0) from withdrawals x left join coin_moves m on m.id = x.move_id
                  where x.status in ('WAITING', 'SENDING', 'CONFIRMED') and m.status is distinct from 'FINAL')
                  + (select coalesce(sum(t.value), 0) from coin_moves m join coin_transactions t on t.move_id = m.id
                    where m.wallet_id is null and m.status not in ('FINAL', 'FAILED')) as moved) sums
              where booked <> moved`,
  },
  {
    id: 'C5',
    sentence: 'The number of open orders that a wallet shows is the number its owner has.',
    columns: { subject: text, open_orders: int },
    query: `select w.user_id::text as subject, w.open_orders from wallets w
            where w.open_orders <> (select count(*) from orders o where o.buyer_id = w.user_id and o.status = 'CREATED')`,
  },
  {
    id: 'C1',
    sentence: 'The number of assets an account shows is the number it has.',
    columns: { subject: text, asset_count: int },
    query: `select u.id::text as subject, u.asset_count from users u
            where u.asset_count <> (select count(*) from assets a where a.owner_id = u.id and a.deleted_at is null)`,
  },
]

/** What contradicts one invariant; nothing when it holds. */
export interface Finding {
  invariant: Pick<Invariant, 'id' | 'sentence'>
  /** At most `MOST_ROWS`. */
  rows: object[]
  /** Whether there are more rows than these. */
  isCut: boolean
  /** What its rows tell is worth knowing, and nothing is wrong. */
  isNote?: boolean
}

/** A look of another kind, told like an invariant: at most `MOST_ROWS` of the rows that it found. */
export const findingOf = (id: string, sentence: string, rows: object[], isNote = false): Finding => ({
  invariant: { id, sentence },
  rows: rows.slice(0, MOST_ROWS),
  isCut: rows.length > MOST_ROWS,
  isNote,
})

/** Rows of a finding that are shown. */
export const MOST_ROWS = 100

/** Milliseconds. A request has a few seconds; this takes as long as the books are large. */
const PATIENCE_MS = 3_600_000
/** For the statements of this transaction: as long as the books are large. */
const patiently = statement(
  'invariant_timeout',
  { columns: { timeout: text } },
  `select set_config('statement_timeout', '${PATIENCE_MS}', true) as timeout`,
)

const looks = invariants.map((invariant) => ({
  invariant,
  firstRows: statement(
    `invariant_${invariant.id}`,
    { columns: invariant.columns ?? { subject: text, problem: text }, patience: PATIENCE_MS },
    `select * from (${invariant.query}) as wrong limit ${MOST_ROWS + 1}`,
  ),
}))

/** Holds the database to every invariant, one after the other. Locks nothing. */
export async function checkInvariants(database: Database): Promise<Finding[]> {
  const results: Finding[] = []
  for (const { invariant, firstRows } of looks) {
    const rows = await database.transaction(async (query) => {
      await query(patiently)
      return query(firstRows)
    })
    results.push({ invariant, rows: rows.slice(0, MOST_ROWS), isCut: rows.length > MOST_ROWS })
  }
  return results
}
