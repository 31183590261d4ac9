/** Quotes withdrawals: the cost, and whether coins can be sent to an address. */
import { getAddress, ZeroAddress } from 'ethers'
import type { Coins } from '../../../chain/chain-types.ts'
import { isNoAnswer, type Registry } from '../../../chain/registry/registry.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../../../chain/rpc.ts'
import { readView } from '../../../chain/view.ts'
import { fromUnits } from '../../../shared/money.ts'
import { maxPaymentGas, presentPrice, TRANSFER_GAS } from './gas-prices.ts'

interface CoinQuoteOptions {
  registry: Registry
  /** Address of the treasury. */
  treasury: string
  /** Addresses of the relay accounts. */
  relayAddresses: readonly string[]
  /** Maximum gas price, in wei. */
  maxFeePerGas: bigint
}

/** Time limits of a quote and of reading the treasury, in milliseconds. A user waits for the response. */
const QUOTE_TIMEOUT_MS = 5_000
const BALANCE_TIMEOUT_MS = 2_000
/** Gas of a payment to a contract if the node cannot estimate it, because the treasury has too few coins. */
const CONTRACT_GAS = 100_000n

/** Returns the address with its EIP-55 checksum. Undefined if the text is not an address or has a wrong checksum. */
function readAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  try {
    return getAddress(text)
  } catch {
    return undefined
  }
}

/** Returns true if the recipient refuses coins, at any gas limit. */
export const isRefusal = ({ message }: RpcError): boolean => /revert|out ?of ?gas|gas required exceeds/i.test(message)

/** Returns the gas limit of a payment. Undefined if the recipient is a contract that refuses coins. */
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

/** Creates `quote` and `treasury`. */
export function createCoinQuotes({
  registry,
  treasury,
  relayAddresses,
  maxFeePerGas: cap,
}: CoinQuoteOptions): Pick<Coins, 'quote' | 'treasury'> {
  return {
    async treasury() {
      try {
        const rpc = registry.rpc.until(AbortSignal.timeout(BALANCE_TIMEOUT_MS))
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
      const rpc = registry.rpc.until(AbortSignal.timeout(QUOTE_TIMEOUT_MS))
      const view = await readView(rpc, [])
      await registry.assertChain(view.chainId)
      const own = [treasury, ...relayAddresses, await registry.findAddress(view.chainId)]
      if (own.includes(address)) return refused('This is an address of the service itself.')
      const gas = await readGas(rpc, treasury, address, value)
      if (gas === undefined) return refused('This is a contract that takes no coins.')
      if (gas > maxPaymentGas(view))
        return refused('This is a contract that needs more gas to take coins than a payment may.')
      const price = presentPrice(view, cap) ?? cap
      return { address, fee: fromUnits(gas * price), gasLimit: Number(gas) }
    },
  }
}
