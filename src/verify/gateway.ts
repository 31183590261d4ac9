/** The file network through somebody's HTTP gateway (https://specs.ipfs.tech/http-gateways/trustless-gateway/). */
import { readBounded, reasonOf } from './chain-node.ts'
import { type FileSource, LARGEST_BLOCK_BYTES } from './file-source.ts'
import { SourceError } from './source-error.ts'

const BLOCK_DEADLINE_MS = 60_000
/** A film takes its time; a gateway that sends nothing is given up by `fetch` itself. */
const FILE_DEADLINE_MS = 3_600_000

/** What a gateway says of what it does not have, does not give any more or may not give, or has looked for in vain. */
const NOT_THERE = new Set([404, 410, 451, 504])

/** Reads from a gateway; `url` is its root, blocks are read at `/ipfs/<cid>`. Raises an Error where it is no address. */
export function connectGateway(url: string): FileSource {
  const root = URL.canParse(url) ? new URL(url) : undefined
  if (!root || !/^https?:$/.test(root.protocol))
    throw new Error('The address of a gateway begins with http: or https:.')
  const gone = (error: unknown) =>
    new SourceError(`The gateway ${root.host} does not answer: ${reasonOf(error)}.`, { cause: error })

  async function open(cid: string, format: 'raw' | 'car', deadline: number): Promise<Response | undefined> {
    const target = `${url.replace(/\/+$/, '')}/ipfs/${encodeURIComponent(cid)}?format=${format}`
    const headers = { accept: `application/vnd.ipld.${format}` }
    const response = await fetch(target, { headers, signal: AbortSignal.timeout(deadline) }).catch((error: unknown) => {
      throw gone(error)
    })
    if (response.ok) return response
    await response.body?.cancel()
    if (NOT_THERE.has(response.status)) return undefined
    throw gone(new Error(`status ${response.status}`))
  }

  return {
    async block(cid) {
      const response = await open(cid, 'raw', BLOCK_DEADLINE_MS)
      return (
        response &&
        (await readBounded(response, LARGEST_BLOCK_BYTES).catch((error: unknown) => Promise.reject(gone(error))))
      )
    },
    async car(cid) {
      return (await open(cid, 'car', FILE_DEADLINE_MS))?.body ?? undefined
    },
  }
}
