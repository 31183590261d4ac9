/** Invariants of accounts, sessions and idempotency keys. `annal check` runs them. */

import type { Invariant } from '../../db/invariants/invariant.ts'
import { int, text } from '../../db/sql.ts'
import { keptFromSql } from '../../jobs/retention.ts'

export const accountInvariants: Invariant[] = [
  {
    id: 'I8',
    // A mail that was asked for leaves nothing that stays: 'requested'.
    sentence: 'An idempotency key that is there names an effect that is there.',
    // A scope is the UUID of the user and a hash of their key.
    query: `select case when length(k.scope) = 48 then 'user:' || encode(substr(k.scope, 1, 16), 'hex')::uuid else encode(k.scope, 'hex') end as subject,
              'the effect of an idempotency key is missing' as problem from idempotency_keys k
            where k.result <> 'requested' and case
              -- Of a link, a space and what it was made from follow.
              when k.result ~ '^baf' then not exists (select 1 from assets a where a.nid = split_part(k.result, ' ', 1))
              -- Sessions end; the trail of their beginning stays.
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
    sentence:
      'A deleted account has no open order, no key, no token, no asset, and nothing on sale; its wallet is closed, and its books stay.',
    query: `with deleted_users as (select id, username, email, password_hash from users where deleted_at is not null)
            select 'user:' || u.id as subject, 'an order is open' as problem from deleted_users u join orders o on o.buyer_id = u.id where o.status = 'CREATED'
            union all
            select 'user:' || u.id, 'a key is there' from deleted_users u join user_keys k on k.user_id = u.id
            union all
            select 'user:' || u.id, 'an access token is there' from deleted_users u join access_tokens t on t.user_id = u.id
            union all
            select 'user:' || u.id, 'a mailed token is there' from deleted_users u join one_time_tokens t on t.user_id = u.id
            union all
            select 'user:' || u.id, 'an asset is there' from deleted_users u join assets a on a.owner_id = u.id where a.deleted_at is null
            union all
            select 'user:' || u.id, 'a network app is on sale' from deleted_users u join network_apps a on a.owner_id = u.id where a.deactivated_at is null
            union all
            select 'user:' || u.id, 'a commit that nobody can sign any more' from deleted_users u join assets a on a.owner_id = u.id
              join commits c on c.asset_id = a.id join commit_relays r on r.commit_id = c.id
              where r.status = 'PENDING' and r.tree_signature is null
            union all
            select 'user:' || u.id, 'it names somebody' from deleted_users u
              where u.username not like 'deleted\\_%' or u.email not like '%@deleted.invalid' or u.password_hash <> ''
            union all
            select 'user:' || u.id, 'closed without being deleted, or deleted without being closed' from users u left join wallets w on w.user_id = u.id
              where (u.deleted_at is null) <> (w.closed_at is null)`,
  },
  {
    id: 'C2',
    sentence:
      'The positions of a feed have no gap and end where the wallet says; they begin with 1 unless something was forgotten.',
    columns: { subject: text, event_sequence: int, events: int },
    query: `select 'user:' || w.user_id as subject, w.event_sequence, count(e.id)::int as events from wallets w
              left join events e on e.owner_id = w.user_id
              group by w.user_id
              having count(e.id) <> w.event_sequence - coalesce(min(e.sequence) - 1, w.event_sequence) or max(e.sequence) <> w.event_sequence
                or (count(e.id) < w.event_sequence and ${keptFromSql} = '-infinity')`,
  },
  {
    id: 'C1',
    sentence: 'The number of assets an account shows is the number it has.',
    columns: { subject: text, asset_count: int },
    query: `select 'user:' || u.id as subject, u.asset_count from users u
            where u.asset_count <> (select count(*) from assets a where a.owner_id = u.id and a.deleted_at is null)`,
  },
]
