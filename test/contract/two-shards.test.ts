/**
 * A sale whose buyer and seller live in different databases (docs/scaling.md, "Past one PostgreSQL"): no part of the product, but the form that
 * the payment of an order would take, tried on two databases with our tables. The buyer's takes the money against the book CLEARING and
 * writes down what is on its way; the seller's credits it by the order's identifier, once; then it is struck off. Whoever
 * carries it may die between any two steps, and several carry at once.
 */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

const SHARE = '0.12'
const seed = Number.parseInt(process.env.SEED ?? '49', 16)
const BUYER = '00000000-0000-7000-8000-000000000001'
const SELLER = '00000000-0000-7000-8000-000000000002'
const APP = '00000000-0000-7000-8000-000000000003'

const accountSql = `
  with person as (
    insert into users (id, username, email, password_hash, display_name) values ($1, $2, $2 || '@example.org', '!', $2) returning id
  ) insert into wallets (user_id, address, num) select id, $2, $3 from person`

/** Paid by the buyer: one statement in the buyer's database. No row: it is paid, overdue, or not to be paid for. */
const payHere = `
  with open_order as materialized (
    select o.id, o.price, a.owner_id from orders o join network_apps a on a.id = o.network_app_id
    where o.id = $1 and o.status = 'CREATED' and clock_timestamp() < o.expires_at for update of o
  ),
  charged as (
    update wallets w set num = w.num - open_order.price from open_order
    where w.user_id = $2 and w.num >= open_order.price returning uuidv7() as transfer_id
  ),
  split as materialized (
    select open_order.*, transfer_id, round(price * ${SHARE}, 18) as share from open_order, charged
  ),
  posted as (insert into transfers (id, reference) select transfer_id, 'order:' || id from split),
  lines as (
    insert into entries (transfer_id, position, wallet_id, book, currency, amount)
    select transfer_id, line.* from split, lateral (values
      (1, $2::uuid, null::book, 'NUM'::currency, -price), (2, null, 'REVENUE', 'NUM', share), (3, null, 'CLEARING', 'NUM', price - share)
    ) as line
  ),
  paid as (
    update orders o set status = 'SUCCESS', num_paid = split.price, transfer_id = split.transfer_id, paid_at = clock_timestamp(), settled_at = now()
    from split where o.id = split.id
  )
  insert into on_their_way (order_id, seller_id, amount) select id, owner_id, price - share from split returning order_id`

/** Received by the seller: one statement in the seller's database. A second one finds the reference, and does nothing. */
const receiveThere = `
  with posted as (
    insert into transfers (id, reference) values (uuidv7(), 'sale:' || $1) on conflict (reference) do nothing returning id
  ),
  credited as (
    update wallets w set num = w.num + case when w.closed_at is null then $3::numeric else 0 end from posted
    where w.user_id = $2 returning w.user_id, w.closed_at is null as is_open, posted.id
  )
  insert into entries (transfer_id, position, wallet_id, book, currency, amount)
  select id, line.* from credited, lateral (values
    (1, null::uuid, 'CLEARING'::book, 'NUM'::currency, -$3::numeric),
    (2, case when is_open then user_id end, case when is_open then null else 'FORFEITED' end::book, 'NUM', $3::numeric)
  ) as line`

/** The known-bad variants: a credit under a name of its own, and one that is struck off before it is there. */
const creditAnew = receiveThere.replace(`'sale:' || $1`, `'sale:' || $1 || ':' || gen_random_uuid()`)
type Way = 'as described' | 'credited under another name' | 'struck off first'

let databases: TestDatabase[]
/** The buyer's, and the seller's. */
let here: pg.Pool
let there: pg.Pool

beforeAll(async () => {
  databases = [await createTestDatabase(), await createTestDatabase()]
  ;[here, there] = databases.map(({ url }) => new pg.Pool({ connectionString: url, max: 4 })) as [pg.Pool, pg.Pool]
  for (const pool of [here, there]) await pool.query(`alter type book add value 'CLEARING'`)
  await here.query(accountSql, [BUYER, 'buyer', 0])
  await there.query(accountSql, [SELLER, 'seller', 0])
  // Of the seller the buyer's database has no more than the reference table says.
  await here.query('alter table network_apps drop constraint network_apps_owner_id_fkey')
  await here.query(`insert into network_apps (id, owner_id, name, price) values ($1, $2, 'app', 1)`, [APP, SELLER])
  await here.query(
    'create table on_their_way (order_id uuid primary key, seller_id uuid not null, amount numeric not null)',
  )
})

afterAll(async () => {
  await Promise.all([here.end(), there.end()])
  await Promise.all(databases.map((database) => database.drop()))
})

async function begin(prices: readonly string[], funds: string): Promise<string[]> {
  for (const pool of [here, there]) {
    // Only here, where nothing is ever to be kept: the books refuse it otherwise.
    await pool.query(
      'set session_replication_role = replica; delete from entries; delete from orders; delete from transfers; reset session_replication_role',
    )
  }
  await here.query('delete from on_their_way')
  await here.query('update wallets set num = $1', [funds])
  await there.query('update wallets set num = 0, closed_at = null')
  const { rows } = await here.query<{ id: string }>(
    `insert into orders (buyer_id, network_app_id, network_app_name, price, quoted_points, quoted_num, expires_at)
     select $1, $2, 'app', price, 0, price, now() + interval '15 minutes' from unnest($3::numeric[]) price returning id`,
    [BUYER, APP, prices],
  )
  return rows.map(({ id }) => id)
}

const clearing = async (pool: pg.Pool) =>
  (
    await pool.query<{ sum: string }>(
      `select coalesce(sum(amount), 0)::text as sum from entries where book = 'CLEARING'`,
    )
  ).rows[0]!.sum

/** What does not hold, in words. */
async function wrong(funds: string): Promise<string[]> {
  const found: string[] = []
  for (const pool of [here, there]) {
    const { rows } = await pool.query(
      'select transfer_id from entries group by transfer_id, currency having sum(amount) <> 0',
    )
    if (rows.length > 0) found.push(`${rows.length} transfers do not sum to zero`)
  }
  const { rows: received } = await there.query<{ order: string }>(
    `select substring(reference from 6) as order from transfers where reference like 'sale:%'`,
  )
  const { rows: sums } = await here.query(
    `select $1::numeric + $2::numeric = coalesce(sum(amount) filter (where order_id <> all ($3::uuid[])), 0) as holds from on_their_way`,
    [await clearing(here), await clearing(there), received.map(({ order }) => order.slice(0, 36))],
  )
  // What was received and not struck off yet is no more on its way.
  if (!sums[0].holds) found.push('CLEARING is not what is on its way')
  const { rows: paid } = await here.query(
    `select coalesce(sum(price), 0)::text as sum, coalesce(sum(price - round(price * ${SHARE}, 18)), 0)::text as due,
       (select num = $1::numeric - coalesce(sum(price), 0) from wallets) as "isTaken" from orders where status = 'SUCCESS'`,
    [funds],
  )
  if (!paid[0].isTaken) found.push(`The buyer did not pay ${paid[0].sum}`)
  const { rows: waiting } = await here.query('select count(*)::int as count from on_their_way')
  if (waiting[0].count > 0) return found
  const { rows: got } = await there.query(
    `select num + coalesce((select sum(amount) from entries where book = 'FORFEITED'), 0) = $1::numeric as holds, num::text from wallets`,
    [paid[0].due],
  )
  if (!got[0].holds) found.push(`The seller has ${got[0].num}, and ${paid[0].due} is right`)
  return found
}

type Turn = (step: string) => Promise<void>
class Died extends Error {}

/** Carries what is on its way, as several do at once. Dies after so many steps. */
async function carry(way: Way, turn: Turn, diesAfter: number): Promise<void> {
  let steps = 0
  const step = async <T>(name: string, work: () => Promise<T>) => {
    if (steps === diesAfter) throw new Died()
    steps += 1
    await turn(name)
    return work()
  }
  const { rows } = await step('look', () =>
    here.query<{ order_id: string; seller_id: string; amount: string }>('select * from on_their_way order by order_id'),
  )
  for (const { order_id: order, seller_id: seller, amount } of rows) {
    const strikeOff = () =>
      step('strike off', () => here.query('delete from on_their_way where order_id = $1', [order]))
    if (way === 'struck off first') await strikeOff()
    const text = way === 'credited under another name' ? creditAnew : receiveThere
    await step('receive', () => there.query(text, [order, seller, amount]))
    if (way !== 'struck off first') await strikeOff()
  }
}

const price = fc.constantFrom('1', '0.333333333333333333', '2.5', '0.000000000000000007')

/** That nothing is lost or doubled, whoever dies when, in whatever order steps happen. */
const property = (way: Way) =>
  fc.asyncProperty(
    fc.array(price, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(9), { maxLength: 4 }),
    fc.boolean(),
    fc.scheduler(),
    async (prices, deaths, isClosed, scheduler) => {
      const funds = '5'
      const orders = await begin(prices, funds)
      const turn: Turn = (name) => scheduler.schedule(Promise.resolve(), name)
      const pay = async (order: string) => {
        await turn('pay')
        await here.query(payHere, [order, BUYER])
      }
      const close = async () => {
        await turn('close')
        if (isClosed) await there.query('update wallets set closed_at = now()')
      }
      const mayDie = (diesAfter: number) =>
        carry(way, turn, diesAfter).catch((error: unknown) => {
          if (!(error instanceof Died)) throw error
        })
      // Every payment is asked for twice.
      await scheduler.waitFor(Promise.all([...orders, ...orders].map(pay).concat(deaths.map(mayDie), close())))
      expect(await wrong(funds)).toEqual([])
      await carry(way, async () => {}, Number.POSITIVE_INFINITY)
      expect(await wrong(funds)).toEqual([])
    },
  )

describe('A sale between two databases', () => {
  it('takes and gives each price once, and sums to zero, whoever dies between which steps', async () => {
    await fc.assert(property('as described'), { numRuns: 25, seed })
  })

  it.each(['credited under another name', 'struck off first'] as const)('that is %s is caught', async (way) => {
    const found = await fc.check(property(way), { numRuns: 200, seed, endOnFailure: true })
    expect(found.failed).toBe(true)
  })
})
