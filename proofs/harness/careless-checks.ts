/** The known-bad variants of the check of passwords, never part of the product. Each tells how many wrong guesses it looked at. */
import { randomUUID } from 'node:crypto'
import { createLimits } from '../../src/domain/limits.ts'
import { int, statement, text } from '../../src/domain/sql.ts'
import { silentMeter } from '../../src/domain/telemetry.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { createPasswordHasher } from '../../src/platform/passwords.ts'

const COUNT = 5
const SECONDS = 900

/** A check of one guess; raises when it is not looked at. */
type Check = (path: string) => Promise<void>

const readCount = statement(
  'proof_careless_count',
  { parameters: { key: text }, columns: { count: int } },
  'select count from limits where key = $key',
)
const addOne = statement(
  'proof_careless_add',
  { parameters: { key: text } },
  `insert into limits as l (key, window_end, count) values ($key, now() + interval '15 minutes', 1)
   on conflict (key) do update set count = l.count + 1`,
)

/** Guesses at one account by each of the paths, all at once. */
async function storm(check: Check, paths: readonly string[], each: number): Promise<void> {
  await Promise.all(paths.flatMap((path) => Array.from({ length: each }, () => check(path).catch(() => undefined))))
}

export async function countCareless(database: ConnectedDatabase, paths: readonly string[], each: number) {
  const limits = createLimits({ database, meter: silentMeter })
  const passwords = createPasswordHasher()
  const encoded = await passwords.hash('the right password')
  const subject = randomUUID()
  const looked = { perPath: 0, lateCount: 0 }

  await storm(
    async (path) => {
      await limits.take({ name: `password-check-${path}`, count: COUNT, seconds: SECONDS }, subject)
      if (!(await passwords.verify(encoded, 'a guess'))) looked.perPath += 1
    },
    paths,
    each,
  )
  const key = `password-check-late:${subject}`
  await storm(
    async () => {
      const [row] = await database.query(readCount, { key })
      if (row && row.count >= COUNT) return
      if (await passwords.verify(encoded, 'a guess')) return
      looked.lateCount += 1
      await database.query(addOne, { key })
    },
    paths,
    each,
  )
  return looked
}
