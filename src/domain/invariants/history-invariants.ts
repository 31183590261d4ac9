/** What must always hold of assets and their histories. */
import { customField, saidSql } from '../asset/metadata.ts'
import type { Invariant } from './invariant.ts'

const { changeName: custom } = customField

/** About as many rows of a table, or all where there are fewer: pages of it, so that it takes as long however many there are. */
const sampleSql = (table: string, rows: number) =>
  `tablesample system ((select 100 * least(1, ${rows} / greatest(reltuples, 1)) from pg_class where oid = '${table}'::regclass))`

/** Those of histories, in the order in which they are told. */
export const historyInvariants: Invariant[] = [
  {
    id: 'I6',
    sentence:
      'Every accepted change has exactly one commit and one charge, and at most one refund; sequences have no gap.',
    query: `select 'commit:' || c.id as subject, 'no charge' as problem from commits c
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
            select 'commit:' || c.id, 'no relay row' from commits c left join commit_relays r on r.commit_id = c.id where r.commit_id is null
            union all
            select a.nid, 'head is not the newest of gapless commits' from assets a
              left join lateral (select count(*) as n, max(sequence) as newest,
                (array_agg(id order by sequence desc))[1] as head from commits where asset_id = a.id) c on true
              where c.n <> a.head_sequence or c.newest <> a.head_sequence or c.head <> a.head_commit_id`,
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
            select (select nid from assets where id = s.asset_id) as subject, 'no commit is known that set ' || concat_ws('.', s.field, s.key) || ' to what it is' as problem
              from said s where not exists (
                select from commits c where c.asset_id = s.asset_id and c.sequence = s.setter
                  and s.value = case when s.key is null then c.changes -> s.field -> 1 else c.changes -> s.field -> 1 -> s.key end)
            union all
            select (select nid from assets where id = n.asset_id), 'commit ' || n.sequence || ' names ' || n.setter || ' for ' || concat_ws('.', n.field, n.key)
              from named n where n.setter > n.sequence or not exists (
                select from commits c where c.asset_id = n.asset_id and c.sequence = n.setter
                  and (c.changes ? n.field and (n.key is null or c.changes -> n.field -> 1 ? n.key) or c.tree = ''))`,
  },
]
