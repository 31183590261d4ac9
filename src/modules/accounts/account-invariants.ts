/** Invariants of accounts, sessions and idempotency keys. `annal check` runs them. */
import type { Invariant } from '../../db/database-types.ts'
import { int, text } from '../../db/sql.ts'
import { keptFromSql } from '../../jobs/retention.ts'

export const accountInvariants: Invariant[] = [
  {
    id: 'I8',
    sentence: 'Each idempotency key has a result that exists.',
    // A scope is the UUID of the user and a hash of the key. The result of a request for a mail is 'requested'.
    query: `select case when length(k.scope) = 48 then 'user:' || encode(substr(k.scope, 1, 16), 'hex')::uuid else encode(k.scope, 'hex') end as subject,
              'the result of an idempotency key is missing' as problem from idempotency_keys k
            where k.result <> 'requested' and case
              -- The result of a link is the nid, a space and the seed of the link.
              when k.result ~ '^baf' then not exists (select 1 from assets a where a.nid = split_part(k.result, ' ', 1))
              -- Sessions end, but the audit log keeps their start.
              when k.result ~ '^session_' then split_part(k.result, ':', 1) not in (select subject from audit_entries where action = 'session.started' and subject is not null)
              else not exists (select 1 from users u where u.id::text = k.result)
                and not exists (select 1 from network_apps a where a.id::text = split_part(k.result, ':', 1))
                and not exists (select 1 from orders o where o.id::text = split_part(k.result, ':', 1))
                and not exists (select 1 from api_keys a where a.id::text = k.result)
                and not exists (select 1 from transfers t where t.reference = 'grant:' || k.result)
                and not exists (select 1 from webhook_deliveries d where d.id::text = k.result)
                and not exists (select 1 from refunds r where r.id::text = k.result)
                and not exists (select 1 from withdrawals x where x.id::text = k.result)
            end`,
  },
  {
    id: 'I9',
    sentence: 'A deleted account has no open order, key, token, asset or active network app. Its wallet is closed.',
    query: `select 'user:' || u.id as subject, problem from users u cross join lateral (values
              (exists (select from orders where buyer_id = u.id and status = 'CREATED'), 'an order is open'),
              (exists (select from user_keys where user_id = u.id), 'a key exists'),
              (exists (select from access_tokens where user_id = u.id), 'an access token exists'),
              (exists (select from one_time_tokens where user_id = u.id), 'a mailed token exists'),
              (exists (select from assets where owner_id = u.id and deleted_at is null), 'an asset exists'),
              (exists (select from network_apps where owner_id = u.id and deactivated_at is null), 'a network app is active'),
              (exists (select from assets a join commits c on c.asset_id = a.id join commit_relays r on r.commit_id = c.id
                 where a.owner_id = u.id and r.status = 'PENDING' and r.tree_signature is null), 'a commit can never be signed'),
              (u.username not like 'deleted\\_%' or u.email not like '%@deleted.invalid' or u.password_hash <> '', 'personal data exists')
            ) as checks (is_violated, problem) where u.deleted_at is not null and is_violated
            union all
            select 'user:' || u.id, 'the account is deleted or the wallet is closed, but not both' from users u left join wallets w on w.user_id = u.id
              where (u.deleted_at is null) <> (w.closed_at is null)`,
  },
  {
    id: 'C2',
    sentence:
      'The sequence of a feed has no gap and ends at the number in the wallet. It starts at 1 unless retention deleted events.',
    columns: { subject: text, event_sequence: int, events: int },
    query: `select 'user:' || w.user_id as subject, w.event_sequence, count(e.id)::int as events from wallets w
              left join events e on e.owner_id = w.user_id
              group by w.user_id
              having count(e.id) <> w.event_sequence - coalesce(min(e.sequence) - 1, w.event_sequence) or max(e.sequence) <> w.event_sequence
                or (count(e.id) < w.event_sequence and ${keptFromSql} = '-infinity')`,
  },
  {
    id: 'C1',
    sentence: 'The asset count of an account is the number of its assets.',
    columns: { subject: text, asset_count: int },
    query: `select 'user:' || u.id as subject, u.asset_count from users u
            where u.asset_count <> (select count(*) from assets a where a.owner_id = u.id and a.deleted_at is null)`,
  },
]
