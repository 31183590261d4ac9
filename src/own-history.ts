/** What the verifier asks strangers for, from this installation's own chain and file store. */
import type { Registry } from './chain/registry/registry.ts'
import type { Rpc } from './chain/rpc.ts'
import { DomainError, unavailable } from './domain/errors.ts'
import type { Histories } from './domain/ports/chain.ts'
import type { ContentStore } from './domain/ports/files.ts'
import type { ChainNode } from './verify/chain-node.ts'
import type { FileSource } from './verify/file-source.ts'

/** The installation's node. Asking raises UNAVAILABLE when it does not answer. */
export const nodeOf = (rpc: Rpc): ChainNode => ({
  name: rpc.host,
  async ask(questions) {
    const outcomes = await rpc.batch(questions)
    return outcomes.map(({ result, error }) => (error ? { refusal: error.message } : { result }))
  },
})

/** The installation's file store. Reading raises UNAVAILABLE when it is away. */
export const filesOf = (store: Pick<ContentStore, 'readBlock' | 'exportCar'>): FileSource => {
  const block = (cid: string) =>
    store.readBlock(cid).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
      throw error
    })
  return { block, car: async (cid) => (await block(cid)) && store.exportCar(cid) }
}

interface HistoryParts {
  registry: Registry
  contentStore: Pick<ContentStore, 'readBlock' | 'exportCar'>
  /** Accounts whose commits count. */
  recorders(): Promise<string[]>
}

/** Reads histories of this installation's registry. What is large is loaded when one is read. */
export function createOwnHistories({ registry, contentStore, recorders }: HistoryParts): Histories {
  const sources = async () => {
    const address = await registry.findAddress(await registry.readChainId())
    if (!address) throw notYet()
    return { node: nodeOf(registry.rpc), address }
  }
  return {
    async place() {
      const found = await registry.recall()
      return found && { chainId: found.chainId, registry: found.address }
    },
    async verify(nid, readTree) {
      const { node, address } = await sources()
      const { verifyOnline } = await import('./verify/verify.ts')
      const files = { ...filesOf(contentStore), block: readTree }
      return verifyOnline({ nid, nodes: [node], registry: address, files, recorders: await recorders() }).catch(
        translate,
      )
    },
    async *prove(nid, readTree) {
      const { node, address } = await sources()
      const { writeProof } = await import('./verify/write-proof.ts')
      try {
        yield* writeProof({ nid, node, registry: address, readTree })
      } catch (error) {
        translate(error)
      }
    },
  }
}

const notYet = () => new DomainError('CONFLICT', 'The chain holds no commit of this asset yet. Try again in a while.')

function translate(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NothingCommitted') throw notYet()
  throw name === 'SourceError' ? unavailable('The chain', error) : error
}
