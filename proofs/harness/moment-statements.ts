/** SQL statements for the proof of restored installations, for snapshots and for the later checks. */
import { boolean, float, int, statement, text, uuid } from '../../src/db/sql.ts'

export const makeCallsDue = statement(
  'proof_restore_due',
  {},
  `update webhook_deliveries set next_attempt_at = now() where status = 'PENDING'`,
)

export const makeJobsDue = statement(
  'proof_restore_job',
  {},
  `update jobs.job set start_after = now() where name = 'webhook-delivery' and state in ('created', 'retry')`,
)

export const findCredited = statement(
  'proof_restore_credited',
  { parameters: { transaction: text } },
  `select from deposits where transaction_hash = $transaction and status = 'CREDITED'`,
)

export const findSigned = statement(
  'proof_restore_signed',
  {},
  `select from commit_relays where status = 'PENDING' and tree_signature is not null`,
)

export const findCommits = statement(
  'proof_restore_commits',
  { columns: { id: uuid, nid: text, status: text, author: text } },
  `select c.id, a.nid, r.status::text, u.username as author from commits c join commit_relays r on r.commit_id = c.id
     join assets a on a.id = c.asset_id join users u on u.id = c.author_id`,
)

export const findPeople = statement(
  'proof_restore_people',
  { columns: { username: text, id: uuid } },
  'select username, id from users where deleted_at is null',
)

export const findFiles = statement(
  'proof_restore_files',
  { columns: { nid: text, username: text } },
  'select a.nid, u.username from assets a join users u on u.id = a.owner_id where a.deleted_at is null',
)

export const findDeposits = statement(
  'proof_restore_deposits',
  { columns: { hash: text } },
  `select transaction_hash as hash from deposits where status = 'CREDITED'`,
)

export const findKeys = statement(
  'proof_restore_keys',
  { columns: { id: text } },
  'select distinct vault_key_id as id from user_keys',
)

export const findBalance = statement(
  'proof_restore_balance',
  { parameters: { username: text }, columns: { balance: float } },
  `select (num + points)::float8 as balance from wallets w join users u on u.id = w.user_id where u.username = $username`,
)

export const findUnsettled = statement(
  'proof_restore_unsettled',
  { columns: { author: uuid, waits: boolean, failed: boolean } },
  `select c.author_id as author, r.status = 'PENDING' and r.tree_signature is null as waits, r.status = 'FAILED' as failed
   from commit_relays r join commits c on c.id = r.commit_id where r.status <> 'FINAL'`,
)

export const countUnsettled = statement(
  'proof_restore_open',
  { columns: { open: int } },
  `select count(*)::int as open from commit_relays where status not in ('FINAL', 'FAILED')`,
)
