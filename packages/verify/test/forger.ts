/** Writes valid and forged histories to the chain, and stores their trees and files for a gateway. */
import { getCreateAddress, Wallet } from 'ethers'
import { encodeCommit, encodeCommitData, registryBytecode } from '../../../src/chain/registry/abi.ts'
import { createRpc, type Rpc } from '../../../src/chain/rpc.ts'
import { identifyDocument } from '../../../src/files/cids.ts'
import type { CommitData } from '../../../src/modules/commits/commits.ts'

export type Forge = (honest: CommitData) => Partial<CommitData> | string

export interface Forger {
  registry: string
  recorder: string
  blocks: Map<string, Uint8Array>
  rpc: Rpc
  hold(text: string): string
  commit(...commits: readonly [nid: string, text: string][]): Promise<void>
  write(nid: string, sequence: number, forge?: Forge, tree?: object): Promise<string>
}

const REGISTRATION_TIME = 1_700_000_000

export async function createForger(
  rpcUrl: string,
  key: string,
  given?: { registry: string; author: Wallet },
): Promise<Forger & { author: Wallet }> {
  const rpc = createRpc({ url: rpcUrl })
  const wallet = new Wallet(key)
  const author = given?.author ?? new Wallet(Wallet.createRandom().privateKey)
  const chainId = Number(await rpc.call('eth_chainId'))
  const blocks = new Map<string, Uint8Array>()
  let nonce = Number(await rpc.call('eth_getTransactionCount', wallet.address, 'latest'))

  const send = async (transactions: readonly { to?: string; data: string }[]) => {
    const raw = []
    for (const fields of transactions) {
      const gasLimit = 2_000_000 + 25 * fields.data.length
      const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, gasLimit }
      raw.push(await wallet.signTransaction({ type: 2, chainId, nonce, ...fees, ...fields }))
      nonce += 1
    }
    for (const { error } of await rpc.batch(
      raw.map((each) => ({ method: 'eth_sendRawTransaction', params: [each] })),
    )) {
      if (error) throw error
    }
    await rpc.call('evm_mine')
  }

  const registry = given?.registry ?? getCreateAddress({ from: wallet.address, nonce })
  if (!given) await send([{ data: registryBytecode }])
  const hold = (text: string) => {
    const bytes = Buffer.from(text)
    const name = identifyDocument(bytes).cid.toString()
    blocks.set(name, bytes)
    return name
  }

  return {
    ...{ registry, recorder: wallet.address, author, blocks, rpc, hold },
    commit: (...commits) => send(commits.map(([nid, text]) => ({ to: registry, data: encodeCommit(nid, text) }))),
    async write(nid, sequence, forge = () => ({}), fields = {}) {
      const file = identifyDocument(blocks.get(nid) ?? Buffer.from(''))
      const tree = JSON.stringify({
        assetCid: nid,
        assetSha256: file.sha256,
        assetTimestampCreated: 1,
        serial: sequence,
        ...fields,
      })
      const { sha256 } = identifyDocument(Buffer.from(tree))
      const honest: CommitData = {
        assetTreeCid: hold(tree),
        assetTreeSha256: sha256,
        assetTreeSignature: await author.signMessage(sha256),
        ...{ author: author.address, committer: author.address, provider: 'test' },
        timestampCreated: REGISTRATION_TIME + sequence,
        ...{ action: 'bafkreiaction', actionResult: 'http://annal.test', abstract: '' },
        actionName: sequence === 1 ? 'action-initial-registration' : 'action-commit',
      }
      const forged = forge(honest)
      return typeof forged === 'string' ? forged : encodeCommitData({ ...honest, ...forged })
    },
  }
}
