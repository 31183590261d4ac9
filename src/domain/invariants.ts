/** What must never go wrong with the books and the history, each as a query that returns no rows. */
import { type Database, statement } from './ports.ts'

export interface Invariant {
  id: string
  sentence: string
  query: string
}

/** Each query sees one moment of the database, so it may run beside a busy service. */
export const invariants: Invariant[] = [
  {
    id: 'I1',
    sentence: 'The entries of every transfer, and of all together, sum to zero per currency.',
    query: `select transfer_id::text as subject, currency::text, sum(amount)::text as amount
            from entries group by transfer_id, currency having sum(amount) <> 0`,
  },
  {
    id: 'I2',
    sentence: 'The balances of a wallet are the sums of its entries.',
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
    query: `select user_id::text as subject, num::text, points::text from wallets where num < 0 or points < 0`,
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
    sentence: 'Transfers, entries and commits cannot be changed or deleted: their triggers stand and are enabled.',
    query: `select wanted.name as subject, 'no enabled trigger against ' || operation.name as problem
            from (values ('transfers'), ('entries'), ('commits')) as wanted (name),
              (values ('UPDATE', 16), ('DELETE', 8), ('TRUNCATE', 32)) as operation (name, bit)
            where not exists (
              select 1 from pg_trigger t where t.tgrelid = wanted.name::regclass and not t.tgisinternal
                and t.tgenabled in ('O', 'A') and (t.tgtype & operation.bit) <> 0 and (t.tgtype & 2) <> 0)`,
  },
  {
    id: 'I8',
    sentence: 'An idempotency key that is there names an effect that is there.',
    query: `select k.result as subject, 'effect is missing' as problem from idempotency_keys k
            where case
              when k.result ~ '^baf' then not exists (select 1 from assets a where a.nid = k.result)
              else not exists (select 1 from users u where u.id::text = k.result)
            end`,
  },
  {
    id: 'C1',
    sentence: 'The number of assets an account shows is the number it has.',
    query: `select u.id::text as subject, u.asset_count from users u
            where u.asset_count <> (select count(*) from assets a where a.owner_id = u.id and a.deleted_at is null)`,
  },
]

/** The rows that contradict each invariant, by its id; all empty when everything is right. */
export async function checkInvariants(database: Database): Promise<{ invariant: Invariant; rows: object[] }[]> {
  const results = []
  for (const invariant of invariants) {
    const rows = await database.query(statement<object>(`invariant_${invariant.id}`, invariant.query))
    results.push({ invariant, rows })
  }
  return results
}
