/**
 * The known-bad variant of F38's control, never part of the product: a lock that lives as long as its connection, and writes
 * that look at nothing. Says when it holds the lock, and writes for each line that it reads.
 */
import { createInterface } from 'node:readline'
import pg from 'pg'

const [url] = process.argv.slice(2)
const client = new pg.Client({ connectionString: url, application_name: 'annal relay of the control' })
await client.connect()
await client.query('select pg_advisory_lock(38)')
const say = (text: string) => process.stdout.write(`${text}\n`)
say('held')
createInterface(process.stdin).on('line', async () => {
  await client.query('update commit_relays set updated_at = now()')
  say('written')
})
