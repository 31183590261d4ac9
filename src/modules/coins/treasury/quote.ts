/** What a withdrawal costs, and whether coins can go to an address at all. */
import { getAddress, ZeroAddress } from 'ethers'
import { isNoAnswer, type Registry } from '../../../chain/registry/registry.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../../../chain/rpc.ts'
import { readView } from '../../../chain/view.ts'
import { fromUnits } from '../../../shared/money.ts'
import type { Coins } from '../coin-types.ts'
import { mostGas, presentPrice, TRANSFER_GAS } from './plan.ts'

/** Which chain it is, and which addresses are the service's own. */
export interface CoinQuoteOptions {
  registry: Registry
  /** The treasury's address, from where withdrawals are sent. */
  treasury: string
  /** Addresses of the relay accounts. */
  relayAddresses: readonly string[]
  /** Wei; nothing above is ever offered. */
  maxFeePerGas: bigint
}

/** Milliseconds: somebody waits for the answer. */
const PATIENCE_MS = 5_000
const GLANCE_MS = 2_000
/** Where a contract's cost cannot be told, because the treasury has not enough to try it with. */
const CONTRACT_GAS = 100_000n

/** With EIP-55 checksum; undefined for what is no address, or has a wrong checksum. */
function readAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  try {
    return getAddress(text)
  } catch {
    return undefined
  }
}

/** Whether a node says that the recipient refuses coins, or takes them with no gas that there is. */
export const isRefusal = ({ message }: RpcError): boolean => /revert|out ?of ?gas|gas required exceeds/i.test(message)

/** The gas that coins need to arrive; undefined where the recipient is a contract that refuses them. */
async function readGas(rpc: Rpc, from: string, to: string, value: bigint): Promise<bigint | undefined> {
  const [code] = await rpc.batch([{ method: 'eth_getCode', params: [to, 'latest'] }])
  if (resultOf<string>(code) === '0x') return TRANSFER_GAS
  try {
    return (BigInt(await rpc.call<string>('eth_estimateGas', { from, to, value: quantity(value) })) * 5n) / 4n
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return isRefusal(error) ? undefined : CONTRACT_GAS
  }
}

/** Quotes withdrawals. */
export function createCoinQuotes({
  registry,
  treasury,
  relayAddresses,
  maxFeePerGas: cap,
}: CoinQuoteOptions): Pick<Coins, 'quote' | 'treasury'> {
  return {
    async treasury() {
      try {
        const rpc = registry.rpc.until(AbortSignal.timeout(GLANCE_MS))
        await registry.assertChain(Number(await rpc.call<string>('eth_chainId')))
        return { address: treasury, balance: BigInt(await rpc.call<string>('eth_getBalance', treasury, 'latest')) }
      } catch (error) {
        if (!isNoAnswer(error)) throw error
        return { address: treasury, balance: undefined }
      }
    },

    async quote(to, value) {
      const address = readAddress(to)
      const refused = (refusal: string) => ({
        address: address ?? ZeroAddress,
        fee: '0',
        gasLimit: Number(TRANSFER_GAS),
        refusal,
      })
      if (address === undefined)
        return refused(
          'Expected an address: 0x and 40 hexadecimal digits, in mixed case with the right EIP-55 checksum.',
        )
      if (address === ZeroAddress) return refused('Nobody has the zero address.')
      const rpc = registry.rpc.until(AbortSignal.timeout(PATIENCE_MS))
      const view = await readView(rpc, [])
      await registry.assertChain(view.chainId)
      const own = [treasury, ...relayAddresses, await registry.findAddress(view.chainId)]
      if (own.includes(address)) return refused('This is an address of the service itself.')
      const gas = await readGas(rpc, treasury, address, value)
      if (gas === undefined) return refused('This is a contract that takes no coins.')
      if (gas > mostGas(view))
        return refused('This is a contract that needs more gas to take coins than a payment may.')
      const price = presentPrice(view, cap) ?? cap
      return { address, fee: fromUnits(gas * price), gasLimit: Number(gas) }
    },
  }
}
