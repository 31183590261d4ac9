import type { PassedBlock } from '../../../chain/block-checkpoint.ts'
import { passedBlockOf } from '../../../chain/block-checkpoint.ts'
import type { Registry } from '../../../chain/registry/registry.ts'
import type { BlockReply } from '../../../chain/replies.ts'
import { contradiction, type Rpc, resultOf } from '../../../chain/rpc.ts'

/** Number of confirmations until a deposit is credited, or `finalized` for blocks that the chain calls final. */
export type DepositDepth = number | 'finalized'

/** The newest block of the chain, and the newest block whose deposits are credited. */
export interface DepositView {
  chainId: number
  head: PassedBlock
  due: number
}

/** Reads up to which block deposits are credited. Throws WrongChainError, UNAVAILABLE, and an Error if the chain does not support `finalized`. */
export async function readDepositDepth(
  registry: Pick<Registry, 'assertChain'>,
  rpc: Rpc,
  confirmations: DepositDepth,
): Promise<DepositView> {
  const tags = ['latest', ...(confirmations === 'finalized' ? ['finalized'] : [])]
  const [id, latest, final] = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    ...tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  ])
  const chainId = Number(resultOf<string>(id))
  await registry.assertChain(chainId)
  const newest = resultOf<BlockReply | null>(latest)
  if (!newest) throw contradiction(rpc)
  const head = passedBlockOf(newest)
  if (confirmations !== 'finalized') return { chainId, head, due: head.number - confirmations }
  const finalized = final?.error ? null : resultOf<BlockReply | null>(final)
  if (!finalized)
    throw new Error('The chain does not say which block is final: set CHAIN_DEPOSIT_CONFIRMATIONS to a number.')
  return { chainId, head, due: Number(finalized.number) }
}
