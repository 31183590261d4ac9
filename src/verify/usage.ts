/** What a caller says beside the asset: a slip in it is told as one, before it passes for something that is wrong with the history. */
import { isAddress } from 'ethers'

/** What can be told by its form alone. */
export interface Said {
  registry?: string
  recorders?: readonly string[]
  hashes?: readonly string[]
}

const BLOCK_HASH = /^0x[0-9a-f]{64}$/i
const HEX_ADDRESS = /^0x/i

/** Raises an Error, with a sentence for whoever called, where an address or a hash is none. */
export function assertUsage({ registry, recorders = [], hashes = [] }: Said): void {
  if (registry !== undefined && !isHexAddress(registry))
    throw new Error(`${registry} is not the address of a contract.`)
  const account = recorders.find((each) => !isHexAddress(each))
  if (account !== undefined) throw new Error(`${account} is not the address of an account.`)
  const hash = hashes.find((each) => !BLOCK_HASH.test(each))
  if (hash !== undefined) throw new Error(`${hash} is not the hash of a block: 0x and 64 hexadecimal digits.`)
}

const isHexAddress = (text: string) => HEX_ADDRESS.test(text) && isAddress(text.toLowerCase())
