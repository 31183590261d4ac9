/** The file network through somebody's HTTP gateway: for readers who have no content store of their own. */

import { notFound, unavailable } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports.ts'
import { identifyDocument } from './cids.ts'

const TIMEOUT_MS = 30_000

/**
 * Reads files from a gateway; `url` is its root, files are read at `/ipfs/<cid>`. What comes back is not to be trusted:
 * compare it with `identify`. Reading raises NOT_FOUND, and UNAVAILABLE when the gateway does not answer.
 */
export function createGatewayClient({ url }: { url: string }): Pick<ContentStore, 'identify' | 'readBlock' | 'read'> {
  async function open(cid: string, query: string): Promise<Response> {
    const target = `${url.replace(/\/+$/, '')}/ipfs/${encodeURIComponent(cid)}${query}`
    const response = await fetch(target, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
      throw unavailable(`The gateway ${new URL(url).host}`, error)
    })
    if (response.status === 404 || response.status === 410) throw notFound('File')
    if (!response.ok) throw unavailable(`The gateway ${new URL(url).host}`, new Error(`status ${response.status}`))
    return response
  }

  return {
    identify(bytes) {
      const { cid, sha256 } = identifyDocument(bytes)
      return { cid: cid.toString(), sha256 }
    },
    async readBlock(cid) {
      return new Uint8Array(await (await open(cid, '?format=raw')).arrayBuffer())
    },
    async *read(cid) {
      yield* (await open(cid, '')).body ?? []
    },
  }
}
