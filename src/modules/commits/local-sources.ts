/** This installation's own chain and file store as sources for the verifier. */

import type { ChainNode } from '../../../packages/verify/src/chain-node.ts'
import type { FileSource } from '../../../packages/verify/src/sources.ts'
import type { Histories } from '../../chain/chain-types.ts'
import type { Registry } from '../../chain/registry/registry.ts'
import type { Rpc } from '../../chain/rpc.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { DomainError, isUnavailable, unavailable } from '../../shared/errors.ts'

/** Source name for messages, such as "The node of this installation does not answer." */
const OWN = 'of this installation'

/** Converts UNAVAILABLE to the error of an external source that does not respond. */
async function asSource<T>(what: string, asked: Promise<T>): Promise<T> {
  const { SourceError } = await import('../../../packages/verify/src/source-error.ts')
  return asked.catch((cause: unknown) => {
    throw isUnavailable(cause) ? new SourceError(`The ${what} ${OWN} does not answer.`, { cause }) : cause
  })
}

/** Returns the node of the installation as a source. */
export const nodeOf = (rpc: Rpc): ChainNode => ({
  name: OWN,
  async ask(questions) {
    const outcomes = await asSource('node', rpc.batch(questions))
    return outcomes.map(({ result, error }) =>
      error ? { refusal: `The node ${OWN} returned an error: ${error.message}.` } : { result },
    )
  },
})

/** Returns the content store as a source. `readBlock` must return undefined for missing and private blocks. */
export const filesOf = (
  store: Pick<ContentStore, 'readBlock' | 'exportCar'>,
  readBlock: FileSource['block'] = (cid) => ifFound(store.readBlock(cid)),
): FileSource => ({
  block: (cid) => asSource('file store', readBlock(cid)),
  async car(cid) {
    const isThere = await asSource('file store', ifFound(store.readBlock(cid)))
    return isThere && store.exportCar(cid)
  },
})

/** Converts NOT_FOUND to undefined. */
export const ifFound = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
    throw error
  })

interface HistoryParts {
  registry: Registry
  contentStore: Pick<ContentStore, 'readBlock' | 'exportCar'>
  /** Returns the relay addresses whose commits are valid. */
  recorders(): Promise<string[]>
}

/** Returns the address of the registry, or undefined before the first commit. Uses the stored address if the node is unavailable. */
export async function findRegistry(registry: Registry): Promise<string | undefined> {
  try {
    return await registry.findAddress(await registry.readChainId())
  } catch (error) {
    const { isNoAnswer } = await import('../../chain/registry/registry.ts')
    if (!isNoAnswer(error)) throw error
    const known = await registry.recall()
    if (!known) throw unavailable('The chain', error)
    return known.address
  }
}

/** Creates a reader for histories in this installation's registry. Large modules are loaded on first use. */
export function createOwnHistories({ registry, contentStore, recorders }: HistoryParts): Histories {
  const sources = async () => {
    const address = await findRegistry(registry)
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
      const { verifyOnline } = await import('../../../packages/verify/src/verify.ts')
      const files = filesOf(contentStore, readTree)
      return verifyOnline({ nid, nodes: [node], registry: address, files, recorders: await recorders() })
    },
    async *prove(nid, readTree) {
      const { node, address } = await sources()
      const { writeProof } = await import('../../../packages/verify/src/write-proof.ts')
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
