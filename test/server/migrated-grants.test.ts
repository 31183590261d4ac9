/** The migration that gives grants a remainder, on books as they were before it. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { invariants } from '../../src/domain/invariants/check-invariants.ts'
import { applyMigrations } from '../../src/platform/database/migrations.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/embedded-postgres.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
const MIGRATION = '20261121182500_keep_remainders'

let dir: string
let embedded: EmbeddedPostgres
let database: pg.Client

const uuid = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, '0')}`

interface Movement {
  reference: string
  amount: number
}

/** A wallet with grants of 5 and 3 that expire in one and two hours, and what moved its points since. */
async function seed(n: number, movements: Movement[], closed: number[] = []): Promise<string> {
  const user = uuid(n)
  const [soon, late] = [uuid(n + 1), uuid(n + 2)]
  await database.query(
    `insert into users (id, username, email, password_hash, display_name) values ('${user}', 'u${n}', 'u${n}@x.io', '', '')`,
  )
  await database.query(`insert into wallets (user_id, address) values ('${user}', '0x${n}')`)
  for (const [id, amount, hours] of [
    [soon, 5, 1],
    [late, 3, 2],
  ] as const) {
    await database.query(
      `insert into point_grants (id, wallet_id, amount, reason, expires_at, expired_at)
       values ('${id}', '${user}', ${amount}, 'x', now() + interval '${hours} hours', case when ${closed.includes(hours)} then now() end)`,
    )
  }
  const all = [
    { reference: `sign-up:${user}`, amount: 12 },
    { reference: `grant:${soon}`, amount: 5 },
    { reference: `grant:${late}`, amount: 3 },
    ...movements.map(({ reference, amount }) => ({ reference: reference.replace('SOON', soon), amount })),
  ]
  for (const [index, { reference, amount }] of all.entries()) {
    await database.query(
      `with moved as (
         insert into transfers (reference, created_at) values ($1, now() - interval '1 minute' + make_interval(secs => $3)) returning id
       ),
       booked as (
         insert into entries (transfer_id, position, wallet_id, book, currency, amount)
         select moved.id, line.position, line.wallet_id, line.book, 'POINTS', line.amount
         from moved, (values (1, $2::uuid, null::book, $4::numeric), (2, null, 'PROMOTION', -$4::numeric)) as line (position, wallet_id, book, amount)
       )
       update wallets set points = points + $4::numeric where user_id = $2::uuid`,
      [reference, user, index, amount],
    )
  }
  return user
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-remainders-'))
  embedded = await startEmbeddedPostgres({ dir, log: silent })
  const before = join(dir, 'migrations')
  await cp('prisma/migrations', before, { recursive: true })
  for (const name of await readdir(before))
    if (name >= MIGRATION && name < 'a') await rm(join(before, name), { recursive: true })
  await applyMigrations(embedded.url, before)
  database = new pg.Client({ connectionString: embedded.url })
  await database.connect()
})

afterAll(async () => {
  await database?.end()
  await embedded?.stop()
  await rm(dir, { recursive: true, force: true })
})

it('finds out what remains of each grant, as history tells it', async () => {
  const users = {
    untouched: await seed(100, []),
    spent: await seed(200, [{ reference: 'commit:a', amount: -6 }]),
    refunded: await seed(300, [
      { reference: 'order:b', amount: -6 },
      { reference: 'order-refund:b', amount: 6 },
    ]),
    emptied: await seed(400, [{ reference: 'order:c', amount: -20 }]),
    closed: await seed(
      500,
      [
        { reference: 'order:d', amount: -2 },
        { reference: 'grant-expiry:SOON', amount: -3 },
        { reference: 'order-refund:d', amount: 2 },
      ],
      [1],
    ),
    /** More was closed than was left: as when clocks told movements in the wrong order. */
    uneven: await seed(600, [{ reference: 'grant-expiry:SOON', amount: -2 }], [1]),
  }
  expect(await applyMigrations(embedded.url)).toContain(MIGRATION)
  const remains = async (user: string) => {
    const { rows } = await database.query(
      `select trim_scale(remaining)::float as remaining from point_grants where wallet_id = $1 order by expires_at`,
      [user],
    )
    return rows.map(({ remaining }) => remaining)
  }
  const found: Record<string, number[]> = {}
  for (const [name, user] of Object.entries(users)) found[name] = await remains(user)
  expect(found).toEqual({
    untouched: [5, 3],
    spent: [0, 2],
    refunded: [5, 3],
    emptied: [0, 0],
    closed: [0, 3],
    uneven: [0, 3],
  })
  for (const id of ['I1', 'I2', 'C4']) {
    const { rows } = await database.query(invariants.find((invariant) => invariant.id === id)!.query)
    expect(rows, id).toEqual([])
  }
})
