/** What the verifier asks strangers for, from this installation's own chain and file store. */
import type { Rpc } from './chain/rpc.ts'
import { DomainError } from './domain/errors.ts'
import type { ContentStore } from './domain/ports.ts'
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
