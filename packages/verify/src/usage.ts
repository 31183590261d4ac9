/** Checks the arguments of a call, so that a typing error is not reported as a problem of the history. */
import { isAddress } from 'ethers'
import { canonicalCid } from './canonical-cid.ts'

/** Arguments that can be checked by their form alone. */
export interface Said {
  nid?: string
  registry?: string
  recorders?: readonly string[]
  hashes?: readonly string[]
}

const BLOCK_HASH = /^0x[0-9a-f]{64}$/i
const HEX_ADDRESS = /^0x/i

/** Throws an Error when an identifier, an address or a hash is malformed. */
export function assertUsage({ nid, registry, recorders = [], hashes = [] }: Said): void {
  if (nid !== undefined && canonicalCid(nid) === undefined)
    throw new Error(`${nid} is neither a proof file nor an asset identifier (a CID).`)
  if (registry !== undefined && !isHexAddress(registry))
    throw new Error(`${registry} is not the address of a contract.`)
  const account = recorders.find((each) => !isHexAddress(each))
  if (account !== undefined) throw new Error(`${account} is not the address of an account.`)
  const hash = hashes.find((each) => !BLOCK_HASH.test(each))
  if (hash !== undefined) throw new Error(`${hash} is not the hash of a block: 0x and 64 hexadecimal digits.`)
}

const isHexAddress = (text: string) => HEX_ADDRESS.test(text) && isAddress(text.toLowerCase())
