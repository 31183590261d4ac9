/**
 * Deliberately faulty start after a restore, for a control, never part of the product. It signs and sends everything that the dump shows as
 * unsent, without checking the chain.
 */

import { createRelayAccount, toHex } from '../../src/chain/keys.ts'
import { encodeCommit, encodeCommitData } from '../../src/chain/registry/abi.ts'
import { registrySetting } from '../../src/chain/registry/registry.ts'
import { signTransaction } from '../../src/chain/transaction.ts'
import { findSetting } from '../../src/db/key-value-store.ts'
import { int, statement, text, timestamp } from '../../src/db/sql.ts'
import { developmentKey, startEmbeddedAnvil } from '../../src/embedded/embedded-anvil.ts'
import { createDescribeCommit } from '../../src/modules/commits/commits.ts'
import type { Installation } from './installation.ts'
import { silent } from './parts.ts'

const findPending = statement(
  'proof_hope_pending',
  {
    columns: {
      ...{ nid: text, sequence: int, tree_cid: text, tree_sha256: text, tree_signature: text },
      ...{ created_at: timestamp, message: text, address: text },
    },
  },
  `select a.nid, c.sequence, c.tree_cid, c.tree_sha256, r.tree_signature, c.created_at, c.message, w.address
   from commit_relays r join commits c on c.id = r.commit_id join assets a on a.id = c.asset_id
     join wallets w on w.user_id = c.author_id
   where r.status = 'PENDING' and r.tree_signature is not null order by c.id`,
)

/** Returns the number of sent commits. */
export async function hopefulStart({ dir, beside }: Installation): Promise<number> {
  const chain = await startEmbeddedAnvil({ dir, log: silent, blockTime: 50 })
  try {
    return await beside(async ({ database, rpc }) => {
      const [registry] = await database.query(findSetting, { key: registrySetting(chain.chainId) })
      const rows = await database.query(findPending)
      const account = createRelayAccount(developmentKey)
      const first = Number(await rpc<string>('eth_getTransactionCount', [account.address, 'latest']))
      const nids = { 'action-initial-registration': 'bafkreiregistration', 'action-commit': 'bafkreicommit' }
      const describe = createDescribeCommit({ provider: 'Annal', publicUrl: 'http://annal.test', actionNids: nids })
      const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
      for (const [index, row] of rows.entries()) {
        const facts = {
          ...{ nid: row.nid, sequence: row.sequence, createdAt: row.created_at, message: row.message },
          ...{ treeCid: row.tree_cid, treeSha256: row.tree_sha256, treeSignature: row.tree_signature },
          ...{ creatorAddress: row.address, committerAddress: row.address },
        }
        const data = encodeCommit(row.nid, encodeCommitData(describe(facts)))
        const plan = {
          ...fees,
          chainId: chain.chainId,
          nonce: first + index,
          to: registry!.value,
          data,
          gasLimit: 2_000_000n,
        }
        await rpc('eth_sendRawTransaction', [toHex(signTransaction(account, plan).raw)])
      }
      await rpc('evm_mine')
      return rows.length
    })
  } finally {
    await chain.stop()
  }
}
