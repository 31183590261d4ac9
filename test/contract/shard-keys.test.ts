/** Every statement says which one database it would be carried out in, if people were spread over several, or is named among those that cross. */
import { globSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredStatements } from '../support/declared-statements.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'
import { crossing, global, homes, reads } from './shard-keys.ts'
import { createShardPlans, type Key } from './shard-plans.ts'

const statements = await declaredStatements()
let database: TestDatabase
let client: pg.Client
let explain: Awaited<ReturnType<typeof createShardPlans>>
/** By the names of statements. */
const keys = new Map<string, Key | undefined>()
const named = [...Object.values(crossing), ...Object.values(global)].flatMap(({ statements: names }) => names)

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  explain = await createShardPlans(client)
  for (const { name, text, parameters } of statements) {
    keys.set(
      name,
      await explain(
        text,
        parameters.map((parameter) => parameter.name),
      ),
    )
  }
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

describe('A table', () => {
  it('has its rows at one place that is named', async () => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    )
    const own = Object.keys(homes).filter((table) => !table.includes('.'))
    expect(rows.map(({ name }) => name).toSorted()).toEqual(own.toSorted())
  })
})

describe('A statement', () => {
  it('is carried out in one database, or is named with what it would become', () => {
    const unnamed: string[] = []
    const stale: string[] = []
    for (const [name, key] of keys) {
      if (key === undefined && !named.includes(name)) unnamed.push(name)
      if (key !== undefined && named.includes(name)) stale.push(`${name}: ${JSON.stringify(key)}`)
    }
    expect(
      unnamed,
      'These cross, or their key is not to be seen: name them in shard-keys.ts, with what they would become',
    ).toEqual([])
    expect(stale, 'The keys of these are to be seen: take them out of shard-keys.ts').toEqual([])
  })

  it('is counted in docs/scaling.md', () => {
    const crosses = Object.values(crossing).flatMap(({ statements: names }) => names)
    const counts: Record<string, number> = {
      'with the account that a parameter names': 0,
      'with a thing that a parameter names (an order, an asset, a commit)': 0,
      'with each of a list that comes from the same database': 0,
      'in each database for itself (queues, lanes, sweeps, what the chain says)': 0,
      'on what is copied': 0,
      'named: no account is known when it is asked, with the reason': named.length - crosses.length,
      'named: crosses, with what it would become': crosses.length,
    }
    const [owner, thing, list, own, copied] = Object.keys(counts) as [string, string, string, string, string]
    for (const key of keys.values()) {
      if (key === undefined) continue
      if (key === 'list') counts[list]! += 1
      else if (key === 'own') counts[own]! += 1
      else if (key === 'reference') counts[copied]! += 1
      else counts['owner' in key ? owner : thing]! += 1
    }
    const told = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')
    const rows = [...told.matchAll(/^\| (.+?) +\| (\d+) +\|$/gm)].map(([, what, count]) => [what, Number(count)])
    const those = rows.filter(([what]) => Object.hasOwn(counts, what as string))
    expect(Object.fromEntries(those)).toEqual(counts)
    expect(told).toContain(`of each of the ${statements.length} statements`)
  })

  it('that is named is there, once', () => {
    const known = statements.map(({ name }) => name)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
    expect(new Set(named).size).toBe(named.length)
  })

  it.each([
    ['of one account', 'select num from wallets where user_id = $1::uuid', { owner: 'a' }],
    ['of a thing', 'update orders set price = 1 where id = $1::uuid', { thing: ['a'] }],
    [
      'of two accounts',
      'with one as (update wallets set num = 1 where user_id = $1::uuid) update wallets set num = 1 where user_id = $2::uuid',
      undefined,
    ],
    [
      'of a buyer and whoever sells',
      'update wallets w set num = 1 from network_apps a where a.id = $1::uuid and w.user_id = a.owner_id',
      undefined,
    ],
    ['of everybody', 'select sum(num) from wallets', undefined],
  ])('%s is told apart', async (_, text, key) => {
    expect(await explain(text, ['a', 'b'])).toEqual(key)
  })
})

describe('A read in Prisma’s language', () => {
  it('is of a model that says how its database is found', () => {
    const root = new URL('../../src/', import.meta.url)
    const sources = globSync('**/*.ts', { cwd: root, exclude: ['platform/**'] }).map((file) =>
      readFileSync(new URL(file, root), 'utf8'),
    )
    const models = sources.flatMap((source) =>
      [...source.matchAll(/\b(?:read|readOf\([^)]*\))\.(\w+)\.(?:find|count)/g)].map(([, model]) => model!),
    )
    expect(models.length).toBeGreaterThan(30)
    expect([...new Set(models)].toSorted()).toEqual(Object.keys(reads).toSorted())
  })
})
