/** Deliberately faulty relays for controls: one uses a new nonce after an error, the other counts nonces in memory. */
import { JsonRpcProvider, NonceManager, type TransactionRequest, Wallet } from 'ethers'
import { encodeCommit } from '../../src/chain/registry/abi.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc.ts'

const plan = (nid: string, message: string, nonce: number, to: string) => ({
  type: 2,
  chainId: 31337,
  nonce,
  to,
  data: encodeCommit(nid, JSON.stringify({ abstract: message })),
  gasLimit: 500_000n,
  maxFeePerGas: 10_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
})

/** Creates an account with coins on this chain. */
export async function openCarelessAccount(rpc: Rpc): Promise<Wallet> {
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  await rpc.call('anvil_setBalance', wallet.address, '0x8ac7230489e80000')
  return wallet
}

/** Sends each message as a commit. After any error it requests a new nonce and signs again. */
export async function sendCarelessly(url: string, wallet: Wallet, registry: string, messages: readonly string[]) {
  const rpc = createRpc({ url })
  for (const message of messages) {
    for (let isSent = false; !isSent; ) {
      const nonce = Number(await rpc.call<string>('eth_getTransactionCount', wallet.address, 'pending'))
      const raw = await wallet.signTransaction(plan('careless', message, nonce, registry))
      isSent = await rpc.call('eth_sendRawTransaction', raw).then(
        () => true,
        () => false,
      )
    }
  }
}

/** Sends with the nonce manager of the library. Every n-th build fails, with n = `every`. Returns the number of sent transactions. */
export async function sendManaged(rpcUrl: string, wallet: Wallet, registry: string, count: number, every: number) {
  let builds = 0
  class Failing extends Wallet {
    override async populateTransaction(transaction: TransactionRequest) {
      builds += 1
      if (builds % every === 0) throw new Error('It could not be built.')
      return super.populateTransaction(transaction)
    }
  }
  const provider = new JsonRpcProvider(rpcUrl, 31337, { staticNetwork: true })
  const managed = new NonceManager(new Failing(wallet.privateKey, provider))
  let sent = 0
  for (let index = 0; index < count; index += 1) {
    const { nonce: _, ...rest } = plan('managed', `managed ${index}`, 0, registry)
    await managed.sendTransaction(rest).then(
      () => (sent += 1),
      () => undefined,
    )
  }
  provider.destroy()
  return sent
}
