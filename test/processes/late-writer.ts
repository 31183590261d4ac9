/** Waits for a database lock, then writes immediately and again later. Prints both results. With `starting`, stall detection is off. */
import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase } from '../../src/db/database.ts'
import { statement, text } from '../../src/db/sql.ts'

const [url = '', gate = '', state] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const database = createDatabase({ url, pool: 2, log, maxStallMs: 1_500 })
if (state !== 'starting') database.startStallDetection()
const wait = statement('test_late_wait', {}, `select from pg_advisory_xact_lock_shared(${gate})`)
const write = statement(
  'test_late_write',
  { parameters: { key: text } },
  `insert into key_values (key, value) values ($key, 'late')`,
)
const attempt = (key: string) =>
  database.query(write, { key }).then(
    () => 'written',
    ({ code }) => code,
  )

await database.query(wait)
const first = await attempt('first')
let second = first
for (let tries = 0; second !== 'written' && tries < 100; tries += 1) {
  await delay(100)
  second = await attempt('second')
}
process.stdout.write(`${first}, then ${second}\n`)
await database.close()
