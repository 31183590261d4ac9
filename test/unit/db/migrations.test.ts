import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyMigrations, assertMigrated } from '../../../src/db/migrations.ts'
import { createMigration, diffMigrations } from '../../../src/db/new-migration.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/embedded/embedded-postgres.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

let dir: string
let embedded: EmbeddedPostgres
let database: pg.Client

const sha = 'a'.repeat(64)
const ids = {
  user: '01980000-0000-7000-8000-000000000001',
  asset: '01980000-0000-7000-8000-000000000002',
  commit: '01980000-0000-7000-8000-000000000003',
  transfer: '01980000-0000-7000-8000-000000000004',
}

const insert = (table: string, columns: string, ...values: string[]) =>
  `INSERT INTO ${table} (${columns}) VALUES (${values.map((value) => `'${value}'`)})`
const erase = `UPDATE commits SET tree = '', message = '', changes = '{}'`

const insertUser = (username: string, email: string) =>
  `INSERT INTO users (username, email, password_hash, display_name) VALUES ('${username}', '${email}', 'x', 'x')`

const insertAsset = (values: Record<string, string> = {}) => {
  const row: Record<string, string> = {
    nid: `'bafy-other'`,
    owner_id: `'${ids.user}'`,
    creator_id: `'${ids.user}'`,
    file_name: `'a.png'`,
    mime_type: `'image/png'`,
    file_size: '1',
    sha256: `'${sha}'`,
    head_commit_id: `'${ids.commit}'`,
    ...values,
  }
  return `INSERT INTO assets (${Object.keys(row)}) VALUES (${Object.values(row)})`
}

const insertCommit = (sequence: number, sha256: string, changes = '{}') =>
  `INSERT INTO commits (asset_id, sequence, author_id, changes, tree, tree_cid, tree_sha256)
   VALUES ('${ids.asset}', ${sequence}, '${ids.user}', '${changes}', '{}', 'bafk', '${sha256}')`

const insertEntry = (wallet: string, book: string, amount: string) =>
  `INSERT INTO entries (transfer_id, position, wallet_id, book, currency, amount)
   VALUES ('${ids.transfer}', 9, ${wallet}, ${book}, 'NUM', ${amount})`

const seed = `
  INSERT INTO users (id, username, email, password_hash, display_name) VALUES ('${ids.user}', 'Ana', 'Ana@example.org', 'x', 'Ana');
  INSERT INTO wallets (user_id, address) VALUES ('${ids.user}', '0x1');
  ${insertAsset({ id: `'${ids.asset}'`, nid: `'bafy-first'` })};
  INSERT INTO commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    VALUES ('${ids.commit}', '${ids.asset}', 1, '${ids.user}', 'first', '{"caption": ["", "a"]}', '{"a":1}', 'bafk', '${sha}');
  INSERT INTO transfers (id, reference) VALUES ('${ids.transfer}', 'sign-up:ana');
  INSERT INTO entries (transfer_id, position, wallet_id, currency, amount) VALUES ('${ids.transfer}', 0, '${ids.user}', 'NUM', 12);
`

const migrationNames = async () => {
  const entries = await readdir('prisma/migrations', { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

const attempt = async (sql: string) => {
  await database.query('BEGIN')
  try {
    return await database.query(sql)
  } finally {
    await database.query('ROLLBACK')
  }
}

beforeAll(async () => {
  dir = await createTemporaryFolder()
  embedded = await startEmbeddedPostgres({ dir, log: silent })
  const [first, second] = await Promise.all([applyMigrations(embedded.url), applyMigrations(embedded.url)])
  expect([...first, ...second]).toEqual(await migrationNames())
  database = new pg.Client({ connectionString: embedded.url })
  await database.connect()
  await database.query(seed)
})

afterAll(async () => {
  await database?.end()
  await embedded?.stop()
})

async function withMigration(name: string, work: () => Promise<unknown>) {
  const add = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ($1, '', $1, now())`
  await database.query(add, [name])
  try {
    await work()
  } finally {
    await database.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [name])
  }
}

describe('migrations', () => {
  it('the migrations create exactly the tables of schema.prisma', async () => {
    expect(await diffMigrations(embedded.url)).toBe('')
    const empty = await createTemporaryFolder()
    await writeFile(join(empty, 'migration_lock.toml'), 'provider = "postgresql"')
    expect(await diffMigrations(embedded.url, empty)).toContain('CREATE TABLE "entries"')

    expect(await createMigration(embedded.url, 'create_all', empty)).toMatch(/\/\d{14}_create_all\/migration\.sql$/)
    expect(await diffMigrations(embedded.url, empty)).toBe('')
    await expect(createMigration(embedded.url, 'Create All', empty)).rejects.toThrow(/lower case and underscores/)
  })

  it('a second run of the migrations changes nothing', async () => {
    expect(await applyMigrations(embedded.url)).toEqual([])
    const { rows } = await database.query('SELECT username FROM users')
    expect(rows).toEqual([{ username: 'Ana' }])
  })

  it('the server rejects a database if one of its applied migrations was edited', async () => {
    const { rows } = await database.query<{ name: string; checksum: string }>(
      'SELECT migration_name AS name, checksum FROM _prisma_migrations LIMIT 1',
    )
    const edit = (checksum: string) =>
      database.query('UPDATE _prisma_migrations SET checksum = $1 WHERE migration_name = $2', [checksum, rows[0]?.name])
    await edit('0'.repeat(64))
    try {
      await expect(applyMigrations(embedded.url)).rejects.toThrow(/was edited/)
    } finally {
      await edit(rows[0]?.checksum ?? '')
    }
  })

  it('rejects a database of a newer version, and applies migrations only in the server', async () => {
    const name = '20990101000000_add_what_is_to_come'
    await expect(assertMigrated(embedded.url)).resolves.toBeUndefined()
    await withMigration(name, async () => {
      await expect(applyMigrations(embedded.url)).rejects.toThrow(new RegExp(`newer version of Annal \\(${name}\\)`))
      await expect(assertMigrated(embedded.url)).rejects.toThrow(/newer version/)
    })
    await database.query('CREATE DATABASE untouched')
    const url = embedded.url.replace(/annal(?=\?|$)/, 'untouched')
    await expect(assertMigrated(url)).rejects.toThrow(
      /lacks migrations .*start the service of this version or run `annal migrate`/,
    )
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(`SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'`)
    await client.end()
    expect(rows).toEqual([{ n: 0 }])
  })

  it('rejects a database from before the first release, and names the Git commit that can read it', async () => {
    const message = /development version of Annal before the first release.*check out Git commit 9b0c61da/
    await withMigration('20261121000000_create_tables', () =>
      expect(applyMigrations(embedded.url)).rejects.toThrow(message),
    )
  })

  it('rolls back a failed migration, and applies its corrected version', async () => {
    await database.query('CREATE DATABASE corrected')
    const url = embedded.url.replace(/annal(?=\?|$)/, 'corrected')
    const folder = await createTemporaryFolder()
    const file = join(folder, '20270101000000_add_words', 'migration.sql')
    await mkdir(dirname(file))
    await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"')
    await writeFile(file, 'CREATE TABLE words (word text); INSERT INTO wrods VALUES (1);')
    await expect(applyMigrations(url, folder)).rejects.toThrow(/relation "wrods" does not exist/)
    await writeFile(file, 'CREATE TABLE words (word text); -- the end')
    expect(await applyMigrations(url, folder)).toEqual(['20270101000000_add_words'])
    expect(await applyMigrations(url, folder)).toEqual([])
  })

  it('migrations leave no temporary database behind', async () => {
    const { rows } = await database.query(`SELECT datname FROM pg_database WHERE datname LIKE 'annal_shadow%'`)
    expect(rows).toEqual([])
  })

  it('migrations collect table statistics for the first query plans', async () => {
    const { rows } = await database.query(
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
         AND pg_stat_get_analyze_count(oid) + pg_stat_get_autoanalyze_count(oid) = 0`,
    )
    expect(rows).toEqual([])
  })

  it('migrations keep rate limit counters out of the write-ahead log', async () => {
    const { rows } = await database.query(`SELECT relpersistence FROM pg_class WHERE relname = 'limits'`)
    expect(rows).toEqual([{ relpersistence: 'u' }])
  })
})

describe('rejected rows', () => {
  it.each([
    ['a username that differs in case only', insertUser('aNA', 'b@example.org'), 'users_username_key'],
    ['an e-mail address that differs in case only', insertUser('Bea', 'ANA@example.org'), 'users_email_key'],
    ['an empty username', insertUser('', 'b@example.org'), 'users_username_length'],
    ['a username of 22 characters', insertUser('ü'.repeat(22), 'b@example.org'), 'users_username_length'],
    ['a negative NUM balance', 'UPDATE wallets SET num = -0.000000000000000001', 'wallets_num_not_negative'],
    ['a negative points balance', 'UPDATE wallets SET points = -1', 'wallets_points_not_negative'],
    ['an unhashed access token', insert('access_tokens', 'user_id, hash', ids.user, 'x'), 'access_tokens_hash_length'],
    ['an unhashed API key', insert('api_keys', 'name, prefix, hash', 'a', 'b', 'x'), 'api_keys_hash_length'],
    ['a file registered twice', insertAsset({ nid: `'bafy-first'` }), 'assets_nid_key'],
    ['a headline of 101 characters', insertAsset({ headline: `'${'é'.repeat(101)}'` }), 'assets_headline_length'],
    ['a negative file size', insertAsset({ file_size: '-1' }), 'assets_file_size_not_negative'],
    ['a hash in upper case', insertAsset({ sha256: `'${'A'.repeat(64)}'` }), 'assets_sha256_format'],
    ['custom fields that are not an object', insertAsset({ custom: `'[]'` }), 'assets_custom_object'],
    ['an asset without a first commit', insertAsset({ head_sequence: '0' }), 'assets_head_sequence_positive'],
    ['a commit with a sequence below 1', insertCommit(0, sha), 'commits_sequence_positive'],
    ['two commits with the same sequence', insertCommit(1, sha), 'commits_asset_id_sequence_key'],
    ['changes that are not an object', insertCommit(2, sha, '[]'), 'commits_changes_object'],
    ["a short hash of a commit's tree", insertCommit(2, 'abc'), 'commits_tree_sha256_format'],
    ['an entry without an account', insertEntry('NULL', 'NULL', '1'), 'entries_one_account'],
    ['an entry with two accounts', insertEntry(`'${ids.user}'`, `'GAS'`, '1'), 'entries_one_account'],
    ['an entry with amount 0', insertEntry('NULL', `'GAS'`, '0'), 'entries_amount_not_zero'],
    ['a reference used twice', insert('transfers', 'reference', 'sign-up:ana'), 'transfers_reference_key'],
    ['a change to the reference of a transfer', `UPDATE transfers SET reference = 'x'`, 'transfers_erase_only'],
    ['a change to the reason of a transfer', `UPDATE transfers SET reason = 'x'`, 'transfers_erase_only'],
    ['the deletion of a transfer', 'DELETE FROM transfers', 'transfers_no_delete'],
    ['a change to an entry', 'UPDATE entries SET amount = 13', 'entries_append_only'],
    ['the deletion of an entry', 'DELETE FROM entries', 'entries_append_only'],
    ['truncation of entries', 'TRUNCATE entries', 'entries_no_truncate'],
    ['truncation of transfers', 'TRUNCATE transfers CASCADE', 'transfers_no_truncate'],
    ['the deletion of a commit', 'DELETE FROM commits', 'commits_no_delete'],
    ['truncation of commits', 'TRUNCATE commits CASCADE', 'commits_no_truncate'],
    ['a change to the tree of a commit', `UPDATE commits SET tree = '{"a":2}'`, 'commits_erase_only'],
    ['erasure of only the tree of a commit', `UPDATE commits SET tree = ''`, 'commits_erase_only'],
    ['erasure of a commit that changes its sequence', `${erase}, sequence = 7`, 'commits_erase_only'],
  ])('the database rejects %s', async (_, sql, constraint) => {
    await expect(attempt(sql)).rejects.toMatchObject({ constraint })
  })
})

describe('accepted rows', () => {
  it.each([
    ['a username of the maximum length', insertUser('ü'.repeat(21), 'b@example.org')],
    ['a headline of 100 characters', insertAsset({ headline: `'${'é'.repeat(100)}'` })],
    ['a deleted file again', `UPDATE assets SET deleted_at = now(); ${insertAsset({ nid: `'bafy-first'` })}`],
    ['the next commit', insertCommit(2, sha)],
    ['complete erasure of a commit', erase],
    ['a wallet with a balance of zero', 'UPDATE wallets SET num = 0, points = 0'],
    ['an entry of a bookkeeping account', insertEntry('NULL', `'GAS'`, '0.000000000000000001')],
  ])('the database accepts %s', async (_, sql) => {
    await expect(attempt(sql)).resolves.toBeDefined()
  })
})
