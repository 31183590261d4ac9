import { create } from 'kubo-rpc-client'
import { DomainError, notFound, unavailable } from '../domain/errors.ts'
import type { ContentStore } from '../domain/ports.ts'
import { carOf } from './car.ts'
import { describeDocument, measure, parseCid } from './cids.ts'
import { identifyFile } from './file-layout.ts'

/** Global option of Kubo: answer from its own blocks instead of asking the network, where a missing block never fails. */
const offline: { offline: true; signal?: AbortSignal } = { offline: true }

/** Our pins bear this name and the Unix second of their import; other pins of the node are never touched. */
const pinPrefix = 'annal '

/**
 * The content store in a Kubo node (0.26 or later, which names pins). `url` is its RPC API. Everything added is pinned
 * at once; `collectGarbage` unpins, and the space comes back with the node's own garbage collection.
 */
export const createKuboContentStore = ({ url }: { url: string }): ContentStore => {
  const kubo = create({ url })
  const pin = (cid: string) => kubo.pin.add(cid, { name: `${pinPrefix}${Math.floor(Date.now() / 1000)}` })
  const readBlock = (cid: { toString(): string }) =>
    asking(() => kubo.block.get(parseCid(cid.toString()), { ...offline }))

  return {
    async importFile(source) {
      const { stream, result } = measure(source)
      let failure: { error: unknown } | undefined
      // The client turns an error of the source into an aborted request, so it is kept aside.
      async function* watched() {
        try {
          yield* stream
        } catch (error) {
          failure = { error }
          throw error
        }
      }
      const options = { cidVersion: 1 as const, rawLeaves: true, chunker: 'size-262144', pin: true }
      const cid = await asking(async () => {
        // Pinned while it is added, then named: an unpinned moment would leave it to the node's garbage collection.
        const added = await kubo.add(watched(), options)
        await pin(added.cid.toString())
        return added.cid.toString()
      }).catch((error) => {
        throw failure ? failure.error : error
      })
      return { cid, ...result() }
    },

    identifyFile,

    describe(bytes) {
      const { cid, sha256 } = describeDocument(bytes)
      return { cid: cid.toString(), sha256 }
    },

    putDocument(bytes) {
      // Kubo's defaults for a block are the raw codec and sha2-256.
      return asking(async () => {
        const cid = await kubo.block.put(bytes, { pin: true })
        await pin(cid.toString())
        return cid.toString()
      })
    },

    async *read(cid, range) {
      try {
        yield* kubo.cat(parseCid(cid), { ...offline, ...range })
      } catch (error) {
        throw refusal(error)
      }
    },

    async size(cid) {
      const path = `/ipfs/${parseCid(cid)}`
      return (await asking(() => kubo.files.stat(path, { ...offline }))).size
    },

    async readBlock(cid) {
      return readBlock(parseCid(cid))
    },

    async *exportCar(cid) {
      yield* carOf(parseCid(cid), readBlock)
    },

    async collectGarbage(pinned, graceSeconds) {
      const before = Date.now() / 1000 - graceSeconds
      const kept = new Set<string>()
      for await (const cid of pinned) kept.add(cid)
      return asking(async () => {
        let removed = 0
        for await (const { cid, name } of kubo.pin.ls({ type: 'recursive', names: true })) {
          const ours = name?.startsWith(pinPrefix) && Number(name.slice(pinPrefix.length)) < before
          if (!ours || kept.has(cid.toString())) continue
          await kubo.pin.rm(cid)
          removed += 1
        }
        return removed
      })
    },
  }
}

/** Kubo tells a missing block by its words only. */
const refusal = (error: unknown) => {
  if (error instanceof DomainError) return error
  const missing = error instanceof Error && /not found|could not find/i.test(error.message)
  return missing ? notFound('File') : unavailable('The file store', error)
}

const asking = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask()
  } catch (error) {
    throw refusal(error)
  }
}
