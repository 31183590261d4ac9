/** Headers of blocks: what stands in them, and their bytes. */
import { decodeRlp, encodeRlp, getBytes, hexlify, keccak256 } from 'ethers'
import { rlpNumber } from './rlp.ts'

/** A header, as much as a verifier reads of it. Hashes and roots are 0x-prefixed. */
export interface Header {
  /** Made from its bytes. */
  hash: string
  parentHash: string
  stateRoot: string
  transactionsRoot: string
  receiptsRoot: string
  number: number
  /** Unix seconds. */
  timestamp: number
}

/** A block as nodes tell of it. */
export interface BlockReply {
  number: string
  hash: string
  transactions: unknown[]
  [field: string]: unknown
}

/** RLP writes nothing for zero. */
const numberIn = (hex: string | undefined) => (hex === '0x' ? 0 : Number(BigInt(hex as string)))
/** The last second of the year 9999: later ones have no date. */
const LATEST_TIME = 253_402_300_799

/** Reads a header's bytes; undefined when they are none. */
export function decodeHeader(bytes: Uint8Array): Header | undefined {
  try {
    const fields = decodeRlp(bytes)
    if (!Array.isArray(fields) || fields.length < 15 || !fields.every((field) => typeof field === 'string'))
      return undefined
    const [parentHash, , , stateRoot, transactionsRoot, receiptsRoot] = fields as string[]
    const roots = { parentHash, stateRoot, transactionsRoot, receiptsRoot } as Record<string, string>
    if (!Object.values(roots).every((root) => root.length === 66)) return undefined
    const [number, timestamp] = [numberIn(fields[8]), numberIn(fields[11])]
    if (!Number.isSafeInteger(number) || timestamp > LATEST_TIME) return undefined
    return {
      ...(roots as Pick<Header, 'parentHash' | 'stateRoot' | 'transactionsRoot' | 'receiptsRoot'>),
      ...{ hash: keccak256(bytes), number, timestamp },
    }
  } catch {
    return undefined
  }
}

/** In the order in which they stand in a header; the later ones came with forks. */
const FIELDS = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const
const NUMBERS = new Set<string>([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
])

/** The bytes of a header as nodes tell of it. They are what they should be if their hash is the block's. */
export function encodeHeader(block: BlockReply): Uint8Array {
  const given = FIELDS.filter((name) => typeof block[name] === 'string')
  const fields = given.map((name) => (NUMBERS.has(name) ? rlpNumber(block[name]) : hexlify(block[name] as string)))
  return getBytes(encodeRlp(fields))
}
