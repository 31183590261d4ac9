/** What must always hold of assets and their histories. */
import type { Invariant } from '../../db/invariants/invariant.ts'

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
]
