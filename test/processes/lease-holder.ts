/** Holds a lease, and writes under it for each line that it reads. With `in-transaction` it opens one and never ends it. */
import { createInterface } from 'node:readline'
import { createLease } from '../../src/chain/lease.ts'
import { statement } from '../../src/db/sql.ts'

const [databaseUrl = '', name = '', mode] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
const lease = createLease({ databaseUrl, log, duration: 2_000 })
const write = statement(
  'test_lease_holder_write',
  {},
  `insert into key_values (key, value) values ('written', '1')
   on conflict (key) do update set value = (key_values.value::int + 1)::text`,
)
const say = (text: string) => process.stdout.write(`${text}\n`)

if (!(await lease.acquire(name))) throw new Error(`The lease ${name} is not free.`)
if (mode === 'in-transaction') {
  lease
    .transaction(name, async () => {
      say('held')
      await new Promise(() => {})
    })
    .catch(() => {})
} else say('held')
createInterface(process.stdin).on('line', () => {
  lease.write(name, write, {}).then(
    () => say('written'),
    (error: Error) => say(error.name),
  )
})
