/**
 * The known-bad variant of F42's control, never part of the product: two questions at once, of which the second is forgotten when the
 * first one fails. Says at which port it listens.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

const [url] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 2 })
pool.on('error', () => {})
const server = createServer(async (_, res) => {
  try {
    const asked = [1, 2].map(() => pool.query('select count(*)::int as count from assets'))
    const counts: number[] = []
    for (const question of asked) counts.push((await question).rows[0].count)
    res.end(JSON.stringify(counts))
  } catch {
    res.writeHead(503).end()
  }
}).listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
