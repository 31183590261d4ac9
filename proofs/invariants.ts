/**
 * The invariants can fail: each is broken on purpose in a copy of a real gateway's database, and its query must find it.
 * On the database itself nothing is found, and what they guard cannot be changed by hand.
 */
import { checkInvariants } from '../src/domain/invariants/check-invariants.ts'
import { int, statement } from '../src/domain/sql.ts'
import { insertGrant } from '../src/domain/wallet/grant-statements.ts'
import { createDatabase } from '../src/platform/database/database.ts'
import { until } from '../test/support/eventually.ts'
import { startReceiver } from '../test/support/receiver.ts'
import { nothingAcknowledged, openAccount, updateCall } from './harness/callers.ts'
import { ask, persist } from './harness/client.ts'
import { confirmOnce } from './harness/confirms.ts'
import { brokenInvariants, type Parts, silent, startParts } from './harness/parts.ts'
import { conclude, type ProofContext, type ProofResult } from './harness/proof.ts'
import { runSql } from './harness/run-sql.ts'
import { closeStore, openStore } from './harness/store.ts'

interface Breach {
  /** Which invariant must notice. */
  id: string
  what: string
  sql: string[]
}

const unlocked = (table: string, ...sql: string[]) => [
  `alter table ${table} disable trigger user`,
  ...sql,
  `alter table ${table} enable trigger user`,
]

const breaches: Breach[] = [
  {
    id: 'I1',
    what: 'an entry without its other side',
    sql: [
      `insert into transfers (reference) values ('one-sided')`,
      `insert into entries (transfer_id, position, book, currency, amount) select id, 1, 'REVENUE', 'NUM', 1 from transfers where reference = 'one-sided'`,
    ],
  },
  {
    id: 'I1',
    what: 'two wrong transfers that even out',
    sql: unlocked(
      'entries',
      `update entries set amount = amount + case when transfer_id = (select min(transfer_id::text) from entries)::uuid then 1 else -1 end
       where position = 1 and transfer_id in ((select min(transfer_id::text) from entries)::uuid, (select max(transfer_id::text) from entries)::uuid)`,
    ),
  },
  { id: 'I2', what: 'points from nowhere', sql: ['update wallets set points = points + 0.000000000000000001'] },
  {
    id: 'I2',
    what: 'an entry moved to another wallet',
    sql: unlocked(
      'entries',
      `update entries e set wallet_id = (select user_id from wallets where user_id <> e.wallet_id limit 1) where e.wallet_id is not null
       and e.transfer_id = (select transfer_id from entries where wallet_id is not null limit 1)`,
    ),
  },
  {
    id: 'I3',
    what: 'a balance below zero',
    sql: [
      `do $$ declare c record; begin
         for c in select conname from pg_constraint where conrelid = 'wallets'::regclass and contype = 'c' loop
           execute format('alter table wallets drop constraint %I', c.conname);
         end loop; end $$`,
      'update wallets set num = -1',
    ],
  },
  {
    id: 'I4',
    what: 'a paid order without its charge',
    sql: unlocked('transfers', `update transfers set reference = 'lost:' || reference where reference like 'order:%'`),
  },
  {
    id: 'I4',
    what: 'a charge of an order that is not paid',
    sql: [`insert into transfers (reference) select 'order:' || id from orders where paid_at is null`],
  },
  {
    id: 'I4',
    what: 'a charge that is not the price',
    sql: [
      'alter table orders drop constraint orders_quote_is_price, drop constraint orders_paid_is_price',
      'update orders set price = price + 0.000000000000000001 where paid_at is not null',
    ],
  },
  {
    id: 'I4',
    what: 'a sale that the seller was not told of',
    sql: unlocked(
      'events',
      `update events set type = 'order.created' where type = 'order.paid' and owner_id in (select owner_id from network_apps)`,
    ),
  },
  {
    id: 'I4',
    what: 'an event of a payment that was not made',
    sql: [
      `insert into events (owner_id, sequence, type, order_id) select buyer_id, 1000, 'order.paid', id from orders where paid_at is null`,
    ],
  },
  {
    id: 'I4',
    what: 'a payment whose webhook is not called',
    sql: [
      ...unlocked('orders', `update orders set status = 'PENDING', settled_at = null where paid_at is not null`),
      ...unlocked('events', 'delete from webhook_attempts', 'delete from webhook_deliveries'),
    ],
  },
  {
    id: 'I4',
    what: 'a payment whose webhook is called for two events',
    sql: [
      `insert into webhook_deliveries (event_id, network_app_id, order_id) select e.id, o.network_app_id, o.id
       from orders o join events e on e.order_id = o.id and e.owner_id = o.buyer_id and e.type = 'order.paid' limit 1`,
    ],
  },
  {
    id: 'I5',
    what: 'an order paid at its end',
    sql: [
      'alter table orders drop constraint orders_paid_in_time',
      'update orders set paid_at = expires_at where paid_at is not null',
    ],
  },
  {
    id: 'I5',
    what: 'an order that is paid and expired',
    sql: [
      'alter table orders drop constraint orders_paid_with_status',
      'alter table orders disable trigger user',
      `update orders set status = 'EXPIRED', settled_at = coalesce(settled_at, now()) where paid_at is not null`,
    ],
  },
  {
    id: 'I6',
    what: 'a commit that nobody paid',
    sql: unlocked('transfers', `update transfers set reference = 'lost:' || reference where reference like 'commit:%'`),
  },
  {
    id: 'I6',
    what: 'a charge without a commit',
    sql: [`insert into transfers (reference) values ('commit:' || uuidv7())`],
  },
  {
    id: 'I6',
    what: 'a refund of a commit that did not fail',
    sql: [`insert into transfers (reference) select 'refund:' || id from commits limit 1`],
  },
  {
    id: 'I6',
    what: 'a change without a commit',
    sql: ['update assets set head_sequence = head_sequence + 1'],
  },
  {
    id: 'I6',
    what: 'a commit twice in a history',
    sql: [
      `insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
       select asset_id, sequence + 1000, author_id, changes, tree, tree_cid, tree_sha256 from commits limit 1`,
    ],
  },
  {
    id: 'I6',
    what: 'a commit that the relay will never see',
    sql: ['delete from chain_transaction_members', 'delete from chain_transactions', 'delete from commit_relays'],
  },
  {
    id: 'I11',
    what: 'a caption whose author is not known',
    sql: unlocked('commits', `update commits set blame = blame - 'caption'`),
  },
  {
    id: 'I11',
    what: 'a caption that an earlier commit is named for',
    sql: unlocked(
      'commits',
      `update commits set blame = blame || '{"caption": 2}' where id in (select head_commit_id from assets)`,
    ),
  },
  {
    id: 'I11',
    what: 'a field that no commit set',
    sql: unlocked('commits', `update commits set blame = blame || '{"signature": 1}'`),
  },
  ...['transfers', 'entries', 'commits'].map((table) => ({
    id: 'I7',
    what: `the triggers of ${table} disabled`,
    sql: [`alter table ${table} disable trigger user`],
  })),
  {
    id: 'I7',
    what: 'entries guarded on replicas only',
    sql: ['alter table entries enable replica trigger entries_append_only'],
  },
  {
    id: 'I7',
    what: 'coins that come in and are not noted where they lie',
    sql: ['alter table deposits disable trigger deposits_note_lying'],
  },
  {
    id: 'I7',
    what: 'entries whose references are not looked up',
    sql: ['alter table entries disable trigger all', 'alter table entries enable trigger user'],
  },
  { id: 'I7', what: 'commits that can be changed', sql: ['drop trigger commits_erase_only on commits'] },
  { id: 'I7', what: 'commits that can be deleted', sql: ['drop trigger commits_no_delete on commits'] },
  { id: 'I7', what: 'entries that can be truncated', sql: ['drop trigger entries_no_truncate on entries'] },
  { id: 'I7', what: 'events that can be changed', sql: ['drop trigger events_never_changed on events'] },
  {
    id: 'I8',
    what: 'a key without its effect',
    sql: [
      `insert into idempotency_keys (scope, payload_hash, result) values (sha256('a'), sha256('b'), uuidv7()::text)`,
    ],
  },
  {
    id: 'I8',
    what: 'a key of an asset that is not there',
    sql: [
      `insert into idempotency_keys (scope, payload_hash, result) values (sha256('a'), sha256('b'), 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')`,
    ],
  },
  {
    id: 'I9',
    what: 'an order that a deleted account has open',
    sql: [
      `update orders set buyer_id = (select id from users where deleted_at is not null)
       where id = (select id from orders where status = 'CREATED' limit 1)`,
    ],
  },
  {
    id: 'I9',
    what: 'the key of a deleted account',
    sql: [
      `insert into user_keys (user_id, version, vault_key_id, wrapped_data_key, sealed_private_key)
       select u.id, k.version, k.vault_key_id, k.wrapped_data_key, k.sealed_private_key
       from users u, (select * from user_keys limit 1) k where u.deleted_at is not null`,
    ],
  },
  {
    id: 'I9',
    what: 'a session of a deleted account',
    sql: [`insert into access_tokens (user_id, hash) select id, sha256('a') from users where deleted_at is not null`],
  },
  {
    id: 'I9',
    what: 'a mailed token of a deleted account',
    sql: [
      `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
       select id, 'PASSWORD_RESET', uuidv7(), sha256('a'), email, now() from users where deleted_at is not null`,
    ],
  },
  {
    id: 'I9',
    what: 'an asset of a deleted account',
    sql: [`update assets set deleted_at = null where owner_id in (select id from users where deleted_at is not null)`],
  },
  {
    id: 'I9',
    what: 'a network app on sale whose owner is gone',
    sql: ['update network_apps set owner_id = (select id from users where deleted_at is not null)'],
  },
  {
    id: 'I9',
    what: 'a commit that was paid for and that nobody can sign',
    sql: [
      `update commit_relays r set status = 'PENDING', tree_signature = null from commits c join users u on u.id = c.author_id
       where c.id = r.commit_id and u.deleted_at is not null`,
    ],
  },
  {
    id: 'I9',
    what: 'a deleted account that still names a person',
    sql: [`update users set email = 'ada@example.org' where deleted_at is not null`],
  },
  {
    id: 'I9',
    what: 'a deleted account whose wallet can pay',
    sql: ['update wallets set closed_at = null where closed_at is not null'],
  },
  { id: 'C2', what: 'a position that no event has', sql: ['update wallets set event_sequence = event_sequence + 1'] },
  {
    id: 'I10',
    what: 'money given back for an order that stays paid',
    sql: [`insert into transfers (reference) select 'order-refund:' || id from orders where paid_at is not null`],
  },
  {
    id: 'I10',
    what: 'a refund without the money',
    sql: [
      'alter table orders drop constraint orders_refunded_with_status',
      ...unlocked(
        'orders',
        `update orders set status = 'REFUNDED', settled_at = coalesce(settled_at, now()) where paid_at is not null`,
      ),
    ],
  },
  {
    id: 'I10',
    what: 'more given back than was paid',
    sql: [
      'alter table orders drop constraint orders_refunded_at_most_paid, drop constraint orders_refunded_with_status',
      'update orders set num_refunded = num_paid + 0.000000000000000001 where paid_at is not null',
    ],
  },
  {
    id: 'I10',
    what: 'a refund that brought the buyer nothing, and that nobody was told of',
    sql: [
      `with made as (insert into transfers (reference) select 'order-refund:' || id || ':x' from orders where paid_at is not null and price > 0 limit 1 returning id, reference)
       insert into refunds (order_id, transfer_id, points, num, points_before, num_before)
       select split_part(reference, ':', 2)::uuid, id, 0, 0, 0, 0 from made`,
    ],
  },
  {
    id: 'C2',
    what: 'an event lost from a feed',
    sql: unlocked('events', `delete from events where type = 'order.created' and sequence > 1`),
  },
  {
    id: 'C4',
    what: 'a grant that was spent and not used',
    sql: [
      `insert into point_grants (wallet_id, amount, remaining, reason, expires_at)
       select user_id, 2, 1, 'breach', now() + interval '1 hour' from wallets where points > 2 limit 1`,
    ],
  },
  {
    id: 'C4',
    what: 'a grant that holds more than its wallet',
    sql: [
      `insert into point_grants (wallet_id, amount, remaining, reason, expires_at)
       select user_id, points + 1, points + 1, 'breach', now() + interval '1 hour' from wallets limit 1`,
    ],
  },
  { id: 'C5', what: 'an open order that was not counted', sql: ['update wallets set open_orders = open_orders + 1'] },
  { id: 'C4', what: 'points that a wallet says expire', sql: ['update wallets set points_expire_at = now()'] },
  {
    id: 'C4',
    what: 'a transfer that used more of a grant than it moved',
    sql: [
      `with paid as (select wallet_id, transfer_id, -amount as amount from entries where wallet_id is not null and currency = 'POINTS' and amount < 0 limit 1),
       given as (
         insert into point_grants (wallet_id, amount, remaining, reason, expires_at)
         select wallet_id, amount + 1, 0, 'breach', now() + interval '1 hour' from paid returning id, amount
       )
       insert into grant_uses (grant_id, transfer_id, amount) select given.id, paid.transfer_id, given.amount from given, paid`,
    ],
  },
  {
    id: 'C2',
    what: 'a feed with a gap',
    sql: unlocked('events', 'update events set sequence = sequence + 1000'),
  },
]

/** What must be refused on the database as it is. */
const forbidden = ['transfers', 'entries', 'grant_uses', 'commits', 'events'].flatMap((table) => {
  const column = { transfers: 'reference', entries: 'amount', grant_uses: 'amount' }[table] ?? 'sequence'
  return [`update ${table} set ${column} = ${column}`, `delete from ${table}`, `truncate ${table} cascade`]
})
/** A commit can be erased and nothing else, so an update that changes nothing is no change. */
const harmless = 'update commits set sequence = sequence'

const countOpen = statement(
  'proof_unfinished_commits',
  { columns: { count: int } },
  `select count(*)::int as count from commit_relays where status <> 'FINAL'`,
)

/** Some of what the buyer pays is of a grant that expires. */
async function giveExpiringPoints({ database }: Parts, userId: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const [given] = await database.query(insertGrant, {
    ...{ user: userId, amount: '1', reason: 'proof', expiresAt },
    ...{ actor: null, address: null, scope: null, payloadHash: null },
  })
  if (!given) throw new Error('Points could not be given.')
}

/** Traffic of a real gateway: accounts, one of them deleted, assets, updates on the chain, orders of which one is not paid. */
async function makeHistory(context: ProofContext, parts: Parts): Promise<void> {
  const { url: webhookUrl } = await startReceiver(context.afterwards)
  const gateways = [{ ALLOW_INSECURE_WEBHOOKS: 'true' }]
  const store = await openStore(context, parts, { price: '2.5', webhookUrl, gateways })
  const gateway = store.gateways[0]!
  await giveExpiringPoints(parts, store.buyer.id)
  for (const account of [store.seller, store.buyer]) {
    for (const caption of ['one', 'two', 'three']) {
      const { answer } = await persist(() => gateway.url, updateCall(account, caption))
      if (answer.status !== 200) throw new Error(`An update was answered with ${JSON.stringify(answer)}`)
    }
  }
  const { token } = await openAccount(gateway.url, 'gone', nothingAcknowledged())
  await ask(gateway.url, { method: 'DELETE', path: '/api/v3/auth/users/me/', token }, 204)
  const [, ...ids] = await store.order(3)
  for (const id of ids) {
    const { verdict } = await confirmOnce(store, 'REST', 0, id)
    if (verdict !== 'paid') throw new Error(`A confirm was answered with "${verdict}".`)
  }
  await until('every commit is final', async () => (await parts.database.query(countOpen))[0]?.count === 0, 60_000, 100)
  const [reason] = await closeStore(store)
  if (reason) throw new Error(reason)
}

/** The ids of the invariants that a breach breaks. */
async function breakCopy(parts: Parts, index: number, { sql }: Breach): Promise<string[]> {
  const name = `breach_${index}`
  const database = createDatabase({ url: await parts.copyDatabase(name), pool: 1, log: silent })
  try {
    for (const text of sql) await runSql(database, text)
    const results = await checkInvariants(database)
    return results.filter(({ rows }) => rows.length > 0).map(({ invariant }) => invariant.id)
  } finally {
    await database.close()
  }
}

export async function proveInvariants(context: ProofContext): Promise<ProofResult> {
  const parts = await startParts(context)
  await makeHistory(context, parts)
  const reasons = await brokenInvariants(parts.database)
  const attempts = forbidden.filter((text) => text !== harmless)
  for (const text of attempts) {
    const refused = await runSql(parts.database, text).then(
      () => false,
      () => true,
    )
    if (!refused) reasons.push(`The database let somebody "${text}".`)
  }
  // A copy needs its original to be left alone.
  await parts.database.close()
  let found = 0
  for (const [index, breach] of breaches.entries()) {
    const ids = await breakCopy(parts, index, breach)
    if (ids.includes(breach.id)) found += 1
    else reasons.push(`${breach.id} did not notice ${breach.what}.`)
  }
  return conclude({
    figure: `${found}/${breaches.length} breaches found`,
    n: breaches.length,
    faultsInjected: breaches.length,
    reasons,
  })
}
