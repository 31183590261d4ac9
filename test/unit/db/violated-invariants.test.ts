/** Violates each invariant of the database without its CHECK constraints and triggers. Every violation is rolled back. */
import pg from 'pg'
import { expect, it } from 'vitest'
import type { Database } from '../../../src/db/database-types.ts'
import { checkInvariants, invariants } from '../../../src/db/invariants/check-invariants.ts'
import type { Statement } from '../../../src/db/sql.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { atEnd } from '../../support/at-end.ts'
import { creditDepositsOf } from '../../support/deposits.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { PASSWORD } from '../../support/user.ts'

const testDatabase = await createTestDatabase()
const app = await createTestApp({ database: testDatabase })
const client = new pg.Client({ connectionString: testDatabase.url })
await client.connect()
atEnd(() => client.end())

await client.query(`do $$ declare c record; begin
  for c in select conrelid::regclass as t, conname as n from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
  loop execute format('alter table %s drop constraint %I', c.t, c.n); end loop; end $$`)
const store = await createStore(app)
const [user, other, admin] = [await app.newUser({ num: '100' }), await app.newUser(), await app.admin()]
const uuidOf = (id: string) => fromId(id)!.uuid
const [paid, open, refunded] = [await store.order(user), await store.order(user), await store.order(user)].map(
  ({ id }) => id,
)
for (const id of [paid, refunded]) expectOk(await store.confirm(user, id))
const refund = `mutation { refundOrder(input: { orderId: "${refunded}", amount: "1", reason: "Broken" }) { refund { id } } }`
expectOk(await admin.graphql(refund))
await user.register()
await creditDepositsOf(app, user, 1)
const withdrawal = { amount: '3', to: `0x${'e2'.repeat(20)}`, current_password: PASSWORD }
expectOk(await user.rest('POST', 'wallet/withdrawals/', { json: withdrawal }))
const [paidOrder, openOrder, refundedOrder] = [paid, open, refunded].map((id) => `'${uuidOf(id)}'`)
const [person, stranger] = [`'${user.id}'`, `'${other.id}'`]

const transfer = (reference: string) => `insert into transfers (reference) values ('${reference}')`
/** Posts entries of a new transfer. A line has the columns \`wallet_id, book, currency, amount\`. */
const entries = (id: string, ...lines: string[]) =>
  `with t as (insert into transfers (id, reference) values (${id}, 'test:1') returning id)
   insert into entries (transfer_id, position, wallet_id, book, currency, amount)
   select t.id, row_number() over (), l.* from t, (values ${lines.map((line) => `(${line})`).join()}) l`
const walletLine = (amount: number) => `${person}::uuid, null::book, 'NUM'::currency, ${amount}`
const bookLine = (amount: number) => `null::uuid, 'REVENUE'::book, 'NUM'::currency, ${amount}`
const retype = (order: string, from: string, to: string) =>
  `update events set type = '${to}' where order_id = ${order} and type = '${from}'`
const coinTransfer = (
  status: string,
) => `insert into coin_transfers (kind, sender, nonce, recipient, amount, status, transaction_hash, arrived, fee)
   values ('WITHDRAWAL', 'sender', 0, 'recipient', 2, '${status}', 'hash', 0, 0)`
const key = (result: string) =>
  `insert into idempotency_keys (scope, payload_hash, result) values ('\\x01', '\\x02', '${result}')`
const ZEROS = '00000000-0000-7000-8000-000000000000'
const deleteAccount = `update users set deleted_at = now() where id = ${person};
  update wallets set closed_at = now() where user_id = ${person}; update network_apps set owner_id = ${person};
  insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
    values (${person}, 'PASSWORD_RESET', gen_random_uuid(), '\\x01', 'a@b.c', now())`

/** Each row has the violated invariant, the SQL that violates it, and the reported problems. */
const violations = `
I1 | ${entries('uuidv7()', bookLine(1))} |
I2 | update wallets set num = num + 1 where user_id = ${person} |
I3 | ${entries('uuidv7()', walletLine(-999), bookLine(999))}; update wallets set num = num - 999 where user_id = ${person} |
C9 | insert into statement_balances select wallet_id, transfer_id, 9, 9 from entries where wallet_id = ${person} limit 1 |
C9 | ${entries(`'${ZEROS}'`, walletLine(1), walletLine(-1))} |
C3 | update deposits set wallet_id = ${stranger} | no transfer of its amount
C3 | ${transfer('grant:1')} | does not add points to one wallet
C6 | update deposits set status = 'FROZEN' | the ledger has 1.000000000000000000 for a deposit with the status FROZEN
C6 | update deposits set shortfall = 1 | the account has 0, the deposits 1.000000000000000000
C7 | ${coinTransfer('SIGNED')} |
C8 | ${transfer('withdrawal:1')} | a withdrawal without its transfer, or a transfer without its withdrawal
C8 | update withdrawals set fee = fee + 1 | a different amount was charged
C8 | update withdrawals set status = 'FAILED' | refunded without having failed or been cancelled, or the reverse; the account has 3.000000000000000000, the withdrawals 0
C8 | ${coinTransfer('FAILED')}; update withdrawals set status = 'CONFIRMED', coin_transfer_id = (select id from coin_transfers) | confirmed, but its coin transfer failed
I7 | drop trigger events_no_update on events | no enabled trigger against UPDATE
I7 | alter table orders disable trigger orders_status_step | trigger orders_status_step is disabled
I4 | ${transfer(`order:${uuidOf(open)}`)} | a paid order without a charge, or a charge of an unpaid order
I4 | update orders set price = price + 1 where id = ${paidOrder} | the charge is not the price
I4 | ${retype(paidOrder!, 'order.paid', 'order.other')} | the event of the payment is missing
I4 | ${retype(openOrder!, 'order.created', 'order.paid')} | an unpaid order has a payment event
I4 | update orders set status = 'PENDING' where id = ${paidOrder} | the order does not have exactly one delivery
I5 | update orders set expires_at = paid_at where id = ${paidOrder} |
I10 | ${transfer(`order-refund:${uuidOf(paid)}:1`)} | a refund without its transfer, or a transfer without its refund
I10 | update orders set points_refunded = points_refunded + 0.1 where id = ${refundedOrder} | the sum of the refunds is not the refunded amount
I10 | update orders set points_paid = 0 where id = ${refundedOrder} | more was refunded than paid
I10 | update orders set status = 'REFUNDED' where id = ${refundedOrder} | the status REFUNDED without a complete refund, or a complete refund without the status
I10 | update refunds set points = 0.9; update orders set points_refunded = 0.9 where id = ${refundedOrder} | the refund credited a different amount to the buyer
I10 | ${retype(refundedOrder!, 'order.refunded', 'order.other')} and owner_id = ${person} | the event of the refund is missing
C5 | update wallets set open_orders = 5 where user_id = ${person} |
I6 | update transfers set reference = 'test:1' where reference like 'commit:%' | no charge
I6 | ${transfer('commit:1')} | charge without a commit
I6 | ${transfer('refund:1')} | refund without a failed commit
I6 | delete from commit_relays | no relay row
I6 | update assets set head_sequence = 2 | head is not the newest of gapless commits
I8 | ${key(ZEROS)} | the result of an idempotency key is missing
I8 | ${key('bafy seed')} | the result of an idempotency key is missing
I8 | ${key('session_1')} | the result of an idempotency key is missing
I9 | ${deleteAccount} | an order is open; a key exists; an access token exists; a mailed token exists; an asset exists; a network app is active; a commit can never be signed; personal data exists
I9 | update wallets set closed_at = now() where user_id = ${stranger} | the account is deleted or the wallet is closed, but not both
C2 | update wallets set event_sequence = event_sequence + 1 where user_id = ${person} |
C1 | update users set asset_count = 5 where id = ${person} |`
  .trim()
  .split(/\n(?=[CI]\d+ \| )/)
  .map((row) => row.split(/ \|\s*/) as [id: string, sql: string, problems: string])

const query = async (statement: Statement<never, unknown>) => (await client.query(statement.text)).rows
const database = { transaction: (work: (run: unknown) => unknown) => work(query) } as unknown as Database
const findings = async () => (await checkInvariants(database)).filter(({ rows }) => rows.length > 0)

it.each(violations)('only invariant %s reports: %s', async (id, sql, problems) => {
  await client.query('begin; set local session_replication_role = replica')
  try {
    await client.query(sql)
    const found = await findings()
    expect(found.map(({ invariant }) => invariant.id)).toEqual([id])
    const reported = found[0]!.rows.flatMap((row) => ('problem' in row ? [row.problem] : []))
    expect(reported).toEqual(problems ? problems.split(/;\s+/) : [])
  } finally {
    await client.query('rollback')
  }
})

it('the violations cover every invariant', () => {
  expect([...new Set(violations.map(([id]) => id))].sort()).toEqual(invariants.map(({ id }) => id).sort())
})
