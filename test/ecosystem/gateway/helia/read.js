/**
 * Reads files with @helia/verified-fetch from whom one delegated router names: `node read.js <router> <json>`, where the JSON lists
 * `{ cid, range? }`. Prints a list of `{ status, sha256, bytes }`, or `{ error }`.
 */
import { createHash } from 'node:crypto'
import { withHTTP } from '@helia/http'
import { createVerifiedFetchWithHelia } from '@helia/verified-fetch'
import { createHeliaLight } from 'helia'

const [router, wanted] = process.argv.slice(2)
// Nobody else is asked, and nothing is kept from one file to the next.
const sources = { delegatedRouters: [router], recursiveGateways: [], allowInsecure: true, allowLocal: true }

async function read({ cid, range }) {
  const helia = await withHTTP(createHeliaLight(), sources).start()
  const verifiedFetch = await createVerifiedFetchWithHelia(helia)
  try {
    const headers = range ? { Range: range } : {}
    const response = await verifiedFetch(`ipfs://${cid}`, { headers, signal: AbortSignal.timeout(120_000) })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
  } catch (error) {
    return { error: String(error) }
  } finally {
    await verifiedFetch.stop()
    await helia.stop()
  }
}

const found = []
for (const each of JSON.parse(wanted)) found.push(await read(each))
process.stdout.write(JSON.stringify(found))
process.exit(0)
