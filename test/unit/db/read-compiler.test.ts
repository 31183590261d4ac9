import { deepStrictEqual } from 'node:assert/strict'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ReadClient } from '../../../src/db/database-types.ts'
import { type Prisma, PrismaClient } from '../../../src/db/prisma/client.ts'
import { readModels } from '../../../src/db/read-compiler/model.ts'
import { createReads } from '../../../src/db/read-compiler/reads.ts'
import { createSemaphore } from '../../../src/shared/limiters.ts'
import { noopTracer } from '../../../src/telemetry/telemetry-types.ts'
import { createOwnDatabase } from '../../support/own-database.ts'
import { argumentsGenerator } from './read-arguments.ts'
import { leftToPrisma, supported, type Target } from './read-cases.ts'
import { assetId, seed, userId } from './read-seed.ts'

const { url } = await createOwnDatabase()
let pool: pg.Pool
let prisma: PrismaClient
let reads: ReadClient
const statements = vi.fn<(query: { name?: string; text: string }) => void>()
const onFallback = vi.fn<(model: string, method: string) => void>()
const defaults = {
  translate: (error: unknown) => error,
  lists: createSemaphore({ name: 'Lists', queue: 0, maxWait: 0 }),
  ...{ onFallback, isPooled: false, isCompiling: true, tracer: noopTracer },
}

beforeAll(async () => {
  pool = new pg.Pool({ connectionString: url, max: 2 })
  prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 2 }) })
  await seed(prisma)
  // Prisma uses separate connections here, so that the pool sees only the compiled reads.
  const query = pool.query.bind(pool) as (query: unknown) => Promise<pg.QueryArrayResult>
  pool.query = ((given: { name?: string; text: string }) => {
    statements(given)
    return query(given)
  }) as typeof pool.query
  reads = createReads({ ...defaults, pool, prisma, onFallback })
})

afterAll(async () => {
  await prisma?.$disconnect()
  await pool?.end()
})

beforeEach(() => {
  statements.mockClear()
  onFallback.mockClear()
})

type Find = (args?: unknown) => Promise<unknown>
const call = (client: object, [model, method, args]: Target) => {
  const find = (client as Record<string, Record<string, Find>>)[model]?.[method]
  if (!find) throw new Error(`${model}.${method} does not exist.`)
  return find(args)
}

const outcome = async (client: object, target: Target) => {
  try {
    return { answer: await call(client, target) }
  } catch (error) {
    const { name, code, meta, message } = error as Prisma.PrismaClientKnownRequestError
    // Prisma adds the location of the call to the message.
    return { refusal: { name, code, meta, message: message.slice(-120) } }
  }
}

describe('compiled reads', () => {
  test.each(Object.entries(supported))(
    'a compiled read returns the same as Prisma with one prepared statement: %s',
    async (_, target) => {
      const expected = await outcome(prisma, target)
      for (const _ of ['compiled', 'known']) {
        statements.mockClear()
        deepStrictEqual(await outcome(reads, target), expected)
        expect(statements).toHaveBeenCalledTimes(1)
        expect(statements.mock.calls[0]?.[0].name).toMatch(/^read_/)
      }
      expect(onFallback).not.toHaveBeenCalled()
    },
  )
})

describe('reads that cannot be compiled', () => {
  test.each(Object.entries(leftToPrisma))(
    'leaves a read that cannot be compiled to Prisma, and counts it: %s',
    async (_, target) => {
      const expected = await outcome(prisma, target)
      for (const _ of ['seen', 'known']) deepStrictEqual(await outcome(reads, target), expected)
      expect(statements).not.toHaveBeenCalled()
      const [model, method] = target
      const reported = [`${model.charAt(0).toUpperCase()}${model.slice(1)}`, method]
      expect(onFallback.mock.calls).toEqual([reported, reported])
    },
  )
})

test.each([
  ['a malformed UUID', { where: { id: 'no-uuid' } }],
  ['text that PostgreSQL cannot hold', { where: { email: 'a\0b' } }],
] as const)("a compiled read rejects %s with Prisma's error message", async (_, args) => {
  deepStrictEqual(await outcome(reads, ['user', 'findFirst', args]), await outcome(prisma, ['user', 'findFirst', args]))
  expect(onFallback).not.toHaveBeenCalled()
})

test('all reads with one query shape share one prepared statement', async () => {
  for (const user of [1, 2, 3])
    await reads.asset.findMany({
      where: { ownerId: { in: Array(user).fill(userId(user)) } },
      take: user,
      orderBy: { id: 'desc' },
    })
  await reads.asset.findMany({ where: { ownerId: { in: [] } }, take: -1, orderBy: { id: 'desc' } })
  const names = statements.mock.calls.map(([query]) => query.name)
  expect(new Set(names.slice(0, 3)).size).toBe(1)
  expect(names[3]).not.toBe(names[0])
})

describe('concurrent reads with the same shape', () => {
  const select = { email: true, wallet: true, ownedAssets: { take: 2, orderBy: { id: 'asc' }, select: { tag: true } } }
  const target = (id: string): Target => ['user', 'findFirst', { where: { id }, select }]
  const together = (ids: string[]) => Promise.all(ids.map((id) => outcome(reads, target(id))))
  const alone = (ids: string[]) => Promise.all(ids.map((id) => outcome(prisma, target(id))))

  test('concurrent reads with the same shape share a statement, and each caller gets its own row', async () => {
    const ids = [1, 2, 99, 3, 1].map(userId)
    const expected = await alone(ids)
    deepStrictEqual(await together(ids), expected)
    statements.mockClear()
    deepStrictEqual(await together(ids), expected)
    expect(statements.mock.calls.map(([query]) => query.name)).toEqual([expect.stringMatching(/^read_.*_many$/)])
  })

  test('concurrent reads with the same shape succeed even if one of them has an invalid argument', async () => {
    const ids = [userId(1), 'no-uuid', userId(2)]
    const answers = await together(ids)
    deepStrictEqual(answers, await alone(ids))
    expect(answers[1]).toHaveProperty('refusal')
  })
})

test('never puts an argument value into the text of a SQL statement', async () => {
  const value = `x' or true --`
  expect(await reads.user.findMany({ where: { email: value } })).toEqual([])
  expect(await reads.user.findMany({ where: { OR: [{ email: { in: [value, '{"}'] } }] } })).toEqual([])
  for (const [query] of statements.mock.calls) expect(query.text).not.toContain('or true')
})

test("a compiled read throws Prisma's error if a required row is missing", async () => {
  const missing: Target = ['asset', 'findUniqueOrThrow', { where: { id: assetId(999) } }]
  deepStrictEqual(await outcome(reads, missing), await outcome(prisma, missing))
  expect(onFallback).not.toHaveBeenCalled()
})

test('a compiled read translates database errors', async () => {
  const broken = new pg.Pool({ host: '127.0.0.1', port: 1 })
  const translated = createReads({
    ...defaults,
    pool: broken,
    prisma,
    translate: (cause) => new Error('Down.', { cause }),
  })
  await expect(translated.user.findFirst({ where: { id: userId(1) } })).rejects.toThrow('Down.')
  await broken.end()
})

describe('eviction of prepared statements', () => {
  let narrow: pg.Pool
  let fresh: ReadClient
  beforeEach(() => {
    narrow = new pg.Pool({ connectionString: url, max: 1 })
    fresh = createReads({ ...defaults, pool: narrow, prisma })
  })
  afterEach(() => narrow.end())

  type Kept = { name: string; statement: string }
  const kept = async () => (await narrow.query<Kept>('select name, statement from pg_prepared_statements')).rows
  const fields = () => [...(readModels(prisma).get('Asset')?.scalars.keys() ?? [])].slice(1, 11)
  const shape = (bits: number) =>
    Object.fromEntries(
      fields()
        .filter((_, at) => bits & (1 << at))
        .map((each) => [each, true]),
    )
  const ask = (bits: number, more: object = {}) =>
    fresh.asset.findFirst({ where: { id: assetId(1) }, select: { id: true, ...shape(bits), ...more } })

  test('a connection limits the number of its prepared statements, and closes the least recently used ones', async () => {
    await narrow.query({ name: 'of_somebody_else', text: 'select 1' })
    await ask(1)
    const [first] = (await kept()).filter(({ name }) => name.startsWith('read_'))
    for (let bits = 2; bits <= 500; bits++) await ask(bits)
    const expected = await ask(1)
    for (let bits = 501; bits <= 520; bits++) await ask(bits)
    const names = (await kept()).map(({ name }) => name)
    expect(names).toHaveLength(501)
    expect(names).toEqual(expect.arrayContaining(['of_somebody_else', first!.name]))
    expect(await ask(2)).toEqual(
      await prisma.asset.findFirst({ where: { id: assetId(1) }, select: { id: true, ...shape(2) } }),
    )
    expect(await ask(1)).toEqual(expected)
  })

  test('a connection limits the total length of its prepared statements', async () => {
    const below = (levels: number): object =>
      levels === 0
        ? { tag: true }
        : { owner: { select: { ownedAssets: { take: 1, orderBy: { id: 'asc' }, select: below(levels - 1) } } } }
    for (let bits = 1; bits <= 250; bits++) await ask(bits, below(12))
    const texts = (await kept()).map(({ statement }) => statement.length)
    const sum = texts.reduce((all, each) => all + each, 0)
    expect(texts.length).toBeLessThan(250)
    expect(sum).toBeGreaterThan(280_000)
    expect(sum).toBeLessThanOrEqual(300_000)
  })
})

test('a read with a cursor on a deleted row returns the rows after its position', async () => {
  const rows = { orderBy: { id: 'asc' }, select: { id: true } } as const
  const where = { OR: [{ id: { lt: assetId(9) } }, { id: { gt: assetId(9) } }] }
  const ids = (found: { id: string }[]) => found.map(({ id }) => id)
  const page = { ...rows, where, cursor: { id: assetId(9) }, skip: 1 }
  expect(ids(await reads.asset.findMany({ ...page, take: 2 }))).toEqual([assetId(10), assetId(11)])
  expect(ids(await reads.asset.findMany({ ...page, take: -2 }))).toEqual([assetId(7), assetId(8)])
  expect(ids(await reads.asset.findMany({ ...page, skip: 2, take: 1 }))).toEqual([assetId(11)])
  const { ownerId } = await prisma.asset.findUniqueOrThrow({ where: { id: assetId(9) } })
  const all = ids(await prisma.asset.findMany({ ...rows, where: { ownerId } }))
  const owner = await reads.user.findFirst({ where: { id: ownerId }, select: { ownedAssets: { ...page, take: 30 } } })
  expect(ids(owner!.ownedAssets)).toEqual(all.slice(all.indexOf(assetId(9)) + 1))
  expect(onFallback).not.toHaveBeenCalled()
})

test('compiled reads return the same as Prisma for random arguments', async () => {
  const next = argumentsGenerator(20261121)
  let fast = 0
  for (let round = 0; round < 200; round++) {
    const target = next()
    statements.mockClear()
    const given = await outcome(reads, target)
    fast += statements.mock.calls.length
    const message = `round ${round}: ${JSON.stringify(target, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`
    try {
      deepStrictEqual(given, await outcome(prisma, target))
    } catch (error) {
      throw new Error(message, { cause: error })
    }
    expect(given, message).toHaveProperty('answer')
  }
  // The generator creates only supported reads, except some cursors.
  expect(fast).toBeGreaterThan(180)
}, 120_000)
