/** Amounts that two processes acquire at the same time. `test/api/http/shared-limits.test.ts` tests streams and uploads. */
import { expect, it } from 'vitest'
import { silent } from '../../../proofs/harness/parts.ts'
import { createConcurrencyCounter } from '../../../src/shared/concurrency-counter.ts'
import { createOwnDatabase } from '../../support/own-database.ts'

const { open } = await createOwnDatabase()
const database = open({ pool: 4 })
const MAX = 1_000
function process(through: Pick<typeof database, 'query'> = database) {
  const counter = createConcurrencyCounter({ database: through, log: silent })
  return {
    ...counter,
    acquire: (subject: string, needed: number, wanted = needed) =>
      counter.acquire(subject, { max: MAX, needed, wanted }),
  }
}
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

it('the shared counter grants exactly the maximum to concurrent requests of two processes', async () => {
  const both = [process(), process()] as const
  for (let round = 0; round < 5; round += 1) {
    const wishes = Array.from({ length: 40 }, (_, index) => both[index % 2]!)
    const granted = await Promise.all(wishes.map((one) => one.acquire('crowd', 100, 100)))
    expect(sum(granted)).toBe(MAX)
    expect(granted.filter((bytes) => bytes > 0)).toEqual(Array.from({ length: 10 }, () => 100))
    await Promise.all(granted.map((bytes, index) => bytes > 0 && wishes[index]!.release('crowd', bytes)))
  }
})

it('the shared counter grants the last unit, rejects the next request, and grants a unit after a release', async () => {
  const [one, other] = [process(), process()]
  expect(await one.acquire('exact', 600, 600)).toBe(600)
  expect(await other.acquire('exact', 401, 401)).toBe(0)
  expect(await other.acquire('exact', 400, 400)).toBe(400)
  expect(await one.acquire('exact', 1, 1)).toBe(0)
  await other.release('exact', 1)
  expect(await one.acquire('exact', 1, 1)).toBe(1)
})

it('the shared counter grants only the remaining units if a caller requests more', async () => {
  const [one, other] = [process(), process()]
  await one.acquire('steps', 700, 700)
  expect(await other.acquire('steps', 10, 500)).toBe(300)
  expect(await other.acquire('steps', 1, 500)).toBe(0)
})

it('a counter entry expires after a minute unless it is renewed', async () => {
  const [killed, living, other] = [process(), process(), process()]
  await killed.acquire('minute', 400, 400)
  await living.acquire('minute', 500, 500)
  const minuteLater = () =>
    database.prisma.$executeRawUnsafe(
      `update concurrency_counters set until = now() - interval '1 second', holders =
         (select coalesce(jsonb_object_agg(key, value || '{"until": 0}'), '{}') from jsonb_each(holders)) where subject = 'minute'`,
    )
  await minuteLater()
  await living.renew()
  expect(await other.acquire('minute', 501, 501)).toBe(0)
  expect(await other.acquire('minute', 500, 500)).toBe(500)
  await living.release('minute', 500)
  await other.release('minute', 500)
  await minuteLater()
  await other.deleteExpired()
  expect(await database.prisma.concurrencyCounter.count({ where: { subject: 'minute' } })).toBe(0)
})

it('the shared counter repeats a release that failed during a database outage', async () => {
  let isAway = false
  const one = process({
    query: ((...asked: Parameters<typeof database.query>) =>
      isAway ? Promise.reject(new Error('away')) : database.query(...asked)) as typeof database.query,
  })
  await one.acquire('away', MAX, MAX)
  isAway = true
  await one.release('away', MAX)
  await expect(one.acquire('away', 1, 1)).rejects.toThrow('away')
  isAway = false
  expect(await process().acquire('away', 1, 1)).toBe(0)
  await one.renew()
  expect(await process().acquire('away', MAX, MAX)).toBe(MAX)
})
