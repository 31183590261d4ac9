/** The migrations that tell of every commit who set what, on histories from before them, while an earlier version goes on writing. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyMigrations, assertMigrated, readMigrationStatus } from '../../src/platform/database/migrations.ts'
import { deploy, type Migrated, openEmptyDatabase, schemaOf } from '../server/migrated.ts'
import { until } from '../support/eventually.ts'

const FIRST = '20261122130500_say_which_commit_set_each_field'
const LAST = '20261122181100_require_blame'

let database: Migrated
let dir: string

beforeEach(async () => {
  database = await openEmptyDatabase()
  dir = await mkdtemp(join(tmpdir(), 'annal-blame-'))
})
afterEach(async () => {
  await database.close()
  await rm(dir, { recursive: true, force: true })
})

/** A folder of the migrations before one of them. */
async function migrationsBefore(end: string): Promise<string> {
  const folder = join(dir, end)
  await cp('prisma/migrations', folder, { recursive: true })
  const names = (await readdir(folder)).filter((name) => name >= end && name < 'a')
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true })))
  return folder
}

const uuid = (n: number) => `01980000-0000-7000-8000-${String(n).padStart(12, '0')}`
const USER = uuid(1)

type Changes = Record<string, [unknown, unknown]>

const caption = (n: number): Changes => ({ caption: [`${n - 1}`, `${n}`] })
const keys = (before: object, after: object): Changes => ({ nit_commit_custom: [before, after] })

/** What commits changed, by the number of the asset. */
const histories: Record<number, Changes[]> = {
  10: [{ ...caption(1), headline: ['', 'H'], ...keys({}, { a: 1, b: 1 }) }, caption(2), keys({ a: 1 }, {})],
  20: [{}, keys({}, { c: 1 }), { ...keys({ c: 1 }, { c: 2, d: 1 }), tag: ['', 't'] }],
  30: Array.from({ length: 4_500 }, (_, index) =>
    index % 2 ? caption(index) : keys({}, { [`k${index % 7}`]: index }),
  ),
  40: [caption(1)],
}

/** As an earlier version writes: the asset's row is locked, then the commit follows. */
const writeCommit = async (client: pg.Client, asset: number, sequence: number, changes: Changes) => {
  await client.query('update assets set head_sequence = $2 where id = $1', [uuid(asset), sequence])
  await client.query(
    `insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
     values ($1, $2, $3, $4, '{"tree":1}', 'bafk', repeat('a', 64))`,
    [uuid(asset), sequence, USER, changes],
  )
}

const seed = async ({ client }: Migrated) => {
  await client.query(
    `insert into users (id, username, email, password_hash, display_name) values ('${USER}', 'ana', 'a@x.io', '', '')`,
  )
  for (const [asset, commits] of Object.entries(histories)) {
    await client.query(
      `insert into assets (id, nid, owner_id, creator_id, file_name, mime_type, file_size, sha256, head_commit_id, head_sequence)
       values ($1, $2, '${USER}', '${USER}', 'a.png', 'image/png', 1, repeat('a', 64), '${USER}', $3)`,
      [uuid(Number(asset)), `bafy${asset}`, commits.length],
    )
    await client.query(
      `insert into commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
       select $1, n, '${USER}', changes, '{"tree":1}', 'bafk', repeat('a', 64)
       from jsonb_array_elements($2) with ordinality as commits (changes, n)`,
      [uuid(Number(asset)), JSON.stringify(commits)],
    )
  }
  // One was deleted, and its second commit waits for the relay.
  await client.query(`update assets set deleted_at = now() where id = '${uuid(20)}'`)
  await client.query(
    `update commits set message = '', changes = '{}', tree = '' where asset_id = '${uuid(20)}' and sequence <> 2`,
  )
}

/** After each commit, told by hand. */
const blameOf = (commits: Changes[]) => {
  const plain: Record<string, number> = {}
  let custom: Record<string, number> | undefined
  return commits.map((changes, index) => {
    for (const [field, values] of Object.entries(changes)) {
      if (field !== 'nit_commit_custom') plain[field] = index + 1
      else {
        const [before, after] = values as [object, object]
        const kept = Object.entries(custom ?? {}).filter(([key]) => !(key in before))
        custom = {
          ...Object.fromEntries(kept),
          ...Object.fromEntries(Object.keys(after).map((key) => [key, index + 1])),
        }
      }
    }
    return { ...plain, ...(custom && { nit_commit_custom: custom }) }
  })
}

const toldOf = async (asset: number) => {
  const { rows } = await database.client.query('select blame from commits where asset_id = $1 order by sequence', [
    uuid(asset),
  ])
  return rows.map(({ blame }) => blame)
}

const expectWhole = async (written: Record<number, Changes[]> = {}) => {
  for (const asset of [10, 30, 40]) {
    expect(await toldOf(asset)).toEqual(blameOf([...histories[asset]!, ...(written[asset] ?? [])]))
  }
  expect(await toldOf(20)).toEqual([{}, { nit_commit_custom: { c: 2 } }, {}])
}

/** Begins to tell, and is interrupted after the first batch. */
const begin = async () => {
  await applyMigrations(database.url, await migrationsBefore(LAST))
  const { rows } = await database.client.query('select tell_earlier_blame(2000) as has_more')
  expect(rows).toEqual([{ has_more: true }])
}

describe('histories from before', () => {
  beforeEach(async () => {
    await applyMigrations(database.url, await migrationsBefore(FIRST))
    await seed(database)
  })

  it.each([
    ['by us', (url: string) => applyMigrations(url)],
    ['by the engine of Prisma', (url: string) => deploy(url)],
  ])('are told whole %s', async (_, apply) => {
    expect(await apply(database.url)).toContain(LAST)
    await expectWhole()
    await expect(database.client.query('update commits set blame = null')).rejects.toThrow(/can only be erased/)
    const empty = await openEmptyDatabase()
    await applyMigrations(empty.url)
    expect(await schemaOf(database)).toEqual(await schemaOf(empty))
    await empty.close()
  })

  it('are told from where an interruption left them, and the status says how far that is', async () => {
    await begin()
    const total = Object.values(histories).flat().length
    const status = await readMigrationStatus(database.url)
    expect(status).toMatchObject({
      pending: expect.arrayContaining([LAST]),
      progress: { name: LAST, done: 2_000, total },
    })
    await expect(assertMigrated(database.url)).rejects.toThrow(/lacks migrations/)
    expect(await applyMigrations(database.url)).toContain(LAST)
    expect(await readMigrationStatus(database.url)).toMatchObject({ pending: [], progress: null })
    await expectWhole()
  })

  it('are told with what an earlier version writes meanwhile, which waits for one batch at most', async () => {
    await begin()
    // Behind what is told, before it, and in the middle of it.
    await writeCommit(database.client, 10, 4, keys({ b: 1 }, { b: 2 }))
    await writeCommit(database.client, 40, 2, caption(2))
    const old = new pg.Client({ connectionString: database.url })
    await old.connect()
    await old.query('begin')
    await writeCommit(old, 30, 4_501, { tag: ['', 'open'] })
    const whole = applyMigrations(database.url)
    await until('it waits for who changes the asset', async () => {
      const { rows } = await database.client.query(
        `select from pg_stat_activity where datname = current_database() and query like 'SELECT "tell_earlier_blame"%' and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    await old.query('commit')
    await old.end()
    expect(await whole).toContain(LAST)
    await writeCommit(database.client, 40, 3, caption(3))
    await expectWhole({
      10: [keys({ b: 1 }, { b: 2 })],
      30: [{ tag: ['', 'open'] }],
      40: [caption(2), caption(3)],
    })
  })
})

it('a database that ran the migration before it was rewritten comes to the same tables, and to its checksum', async () => {
  const folder = await migrationsBefore('20261122181000')
  await cp(`test/server/rewritten/${FIRST}.sql`, join(folder, FIRST, 'migration.sql'))
  await applyMigrations(database.url, await migrationsBefore(FIRST))
  await seed(database)
  await applyMigrations(database.url, folder)
  const { rows: before } = await database.client.query('select id, blame from commits order by id')
  expect(await applyMigrations(database.url)).toContain(LAST)
  const { rows: after } = await database.client.query('select id, blame from commits order by id')
  expect(after).toEqual(before)
  const empty = await openEmptyDatabase()
  await applyMigrations(empty.url)
  expect(await schemaOf(database)).toEqual(await schemaOf(empty))
  const checksums = 'select migration_name, checksum from _prisma_migrations order by 1'
  expect((await database.client.query(checksums)).rows).toEqual((await empty.client.query(checksums)).rows)
  await empty.close()
})
