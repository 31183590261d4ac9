/** Locks a row of `key_values` in a transaction, and continues at the first input line. Then prints the result and the current value of the row. */
import { createInterface } from 'node:readline'
import { createDatabase } from '../../src/db/database.ts'
import { statement, text } from '../../src/db/sql.ts'

const [url = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const database = createDatabase({ url, pool: 1, log })
const say = (text: string) => process.stdout.write(`${text}\n`)
const write = statement('test_held_write', {}, `update key_values set value = 'frozen' where key = 'row'`)
const read = statement('test_held_read', { columns: { value: text } }, `select value from key_values where key = 'row'`)

const asked = new Promise((resolve) => createInterface(process.stdin).once('line', resolve))
const outcome = await database
  .transaction(async (query) => {
    await query(write)
    say('held')
    await asked
    await query(write)
  })
  .then(
    () => 'written',
    (error: { code?: string }) => error.code ?? String(error),
  )
const [row] = await database.query(read)
say(`${outcome} ${row?.value}`)
await database.close()
process.exit(0)
