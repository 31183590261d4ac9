/** Room for uploads, as two processes take it at the same time. Through the doors: `test/rest/shared-limits.test.ts`. */
import { afterAll, expect, it } from 'vitest'
import { silent } from '../../proofs/harness/parts.ts'
import { createUnpaidBytes } from '../../src/domain/asset/unpaid-bytes.ts'
import { createDatabase } from '../../src/platform/database/database.ts'
import { createTestDatabase } from '../support/test-database.ts'

const clone = await createTestDatabase()
const database = createDatabase({ url: clone.url, pool: 4, log: silent })
afterAll(async () => {
  await database.close()
  await clone.drop()
})

const MOST = 1_000
const process = (through: Pick<typeof database, 'query'> = database) =>
  createUnpaidBytes({ database: through, most: MOST, log: silent })
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

it('of many that come at once to two processes exactly those get room that there is room for', async () => {
  const both = [process(), process()] as const
  for (let round = 0; round < 5; round += 1) {
    const wishes = Array.from({ length: 40 }, (_, index) => both[index % 2]!)
    const granted = await Promise.all(wishes.map((one) => one.take('crowd', 100, 100)))
    expect(sum(granted)).toBe(MOST)
    expect(granted.filter((bytes) => bytes > 0)).toEqual(Array.from({ length: 10 }, () => 100))
    await Promise.all(granted.map((bytes, index) => bytes > 0 && wishes[index]!.giveBack('crowd', bytes)))
  }
})

it('the last byte is had, one more is not, and it is had by whoever comes when it is given back', async () => {
  const [one, other] = [process(), process()]
  expect(await one.take('exact', 600, 600)).toBe(600)
  expect(await other.take('exact', 401, 401)).toBe(0)
  expect(await other.take('exact', 400, 400)).toBe(400)
  expect(await one.take('exact', 1, 1)).toBe(0)
  await other.giveBack('exact', 1)
  expect(await one.take('exact', 1, 1)).toBe(1)
})

it('whoever would like more than is left gets what is left', async () => {
  const [one, other] = [process(), process()]
  await one.take('steps', 700, 700)
  expect(await other.take('steps', 10, 500)).toBe(300)
  expect(await other.take('steps', 1, 500)).toBe(0)
})

it('what a process said last holds for a minute, and longer when it says so again', async () => {
  const [killed, living, other] = [process(), process(), process()]
  await killed.take('minute', 400, 400)
  await living.take('minute', 500, 500)
  const minuteLater = () =>
    database.prisma.$executeRawUnsafe(
      `update unpaid_bytes set until = now() - interval '1 second', holders =
         (select coalesce(jsonb_object_agg(key, value || '{"until": 0}'), '{}') from jsonb_each(holders)) where owner = 'minute'`,
    )
  await minuteLater()
  await living.tellAll()
  expect(await other.take('minute', 501, 501)).toBe(0)
  expect(await other.take('minute', 500, 500)).toBe(500)
  await living.giveBack('minute', 500)
  await other.giveBack('minute', 500)
  await minuteLater()
  await other.forget()
  expect(await database.prisma.unpaidBytes.count({ where: { owner: 'minute' } })).toBe(0)
})

it('what could not be given back, because the database was away, is given back later', async () => {
  let isAway = false
  const one = process({
    query: ((...asked: Parameters<typeof database.query>) =>
      isAway ? Promise.reject(new Error('away')) : database.query(...asked)) as typeof database.query,
  })
  await one.take('away', MOST, MOST)
  isAway = true
  await one.giveBack('away', MOST)
  await expect(one.take('away', 1, 1)).rejects.toThrow('away')
  isAway = false
  expect(await process().take('away', 1, 1)).toBe(0)
  await one.tellAll()
  expect(await process().take('away', MOST, MOST)).toBe(MOST)
})
