/**
 * Deliberately faulty writer for the control of F03, never part of the product. It writes the effect and the idempotency key in two
 * transactions. It runs one request, named on the command line.
 */
import pg from 'pg'

const [url, key] = process.argv.slice(2)
const client = new pg.Client({ connectionString: url, application_name: 'two-step writer' })
await client.connect()
const { rowCount } = await client.query('select from control_keys where key = $1', [key])
if (rowCount === 0) {
  await client.query('insert into control_effects (wish) values ($1)', [key])
  await client.query('insert into control_keys (key) values ($1)', [key])
}
await client.end()
