/** The file network through somebody's HTTP gateway (https://specs.ipfs.tech/http-gateways/trustless-gateway/). */
import { isTimeout, readBounded, reasonOf } from './chain-node.ts'
import { type FileSource, LARGEST_BLOCK_BYTES } from './file-source.ts'
import { SourceError } from './source-error.ts'

/** Until a response begins, and until a block is read. */
const BLOCK_DEADLINE_MS = 60_000
/** Until a whole file is read. */
const FILE_DEADLINE_MS = 3_600_000

/** The gateway does not have the block, no longer has it, must not give it, or did not find it in time. */
const NOT_THERE = new Set([404, 410, 451, 504])

/**
 * Reads from a gateway. `url` is its root; blocks are read at `/ipfs/<cid>`. After a timeout no more requests are sent. Throws an Error
 * when `url` is not a valid address.
 */
export function connectGateway(url: string): FileSource {
  const root = URL.canParse(url) ? new URL(url) : undefined
  if (!root || !/^https?:$/.test(root.protocol))
    throw new Error('The address of a gateway begins with http: or https:.')
  let timedOut: SourceError | undefined
  const gone = (error: unknown) => {
    const failure = new SourceError(`The gateway ${root.host} does not answer: ${reasonOf(error)}.`, { cause: error })
    if (isTimeout(error)) timedOut = failure
    return failure
  }

  async function open(cid: string, format: 'raw' | 'car', deadline: number): Promise<Response | undefined> {
    if (timedOut) throw timedOut
    const target = `${url.replace(/\/+$/, '')}/ipfs/${encodeURIComponent(cid)}?format=${format}`
    const headers = { accept: `application/vnd.ipld.${format}` }
    const opening = new AbortController()
    const signal = AbortSignal.any([opening.signal, AbortSignal.timeout(deadline)])
    const timer = setTimeout(() => opening.abort(new DOMException('', 'TimeoutError')), BLOCK_DEADLINE_MS)
    const response = await fetch(target, { headers, signal })
      .catch((error: unknown) => {
        throw gone(error)
      })
      .finally(() => clearTimeout(timer))
    if (response.ok) return response
    await response.body?.cancel().catch(() => undefined)
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
