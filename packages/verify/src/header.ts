/** Headers of blocks: what stands in them, and their bytes. */
import { decodeRlp, hexlify, keccak256 } from 'ethers'
import { encodeRlp, rlpNumber } from './rlp.ts'

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

/** Number of fields that every header has. */
const FEWEST_FIELDS = 15

/** Decodes a header. Returns undefined when the bytes are not a header. */
export function decodeHeader(bytes: Uint8Array): Header | undefined {
  try {
    const fields = decodeRlp(bytes)
    if (!Array.isArray(fields) || fields.length < FEWEST_FIELDS || !fields.every((field) => typeof field === 'string'))
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

/** Encodes a header from a node's reply. The bytes are right if their hash is the block's. Throws when the reply is not a block. */
export function encodeHeader(block: BlockReply): Uint8Array {
  const given = FIELDS.filter((name, index) => index < FEWEST_FIELDS || (block[name] ?? null) !== null)
  if (!given.every((name) => typeof block[name] === 'string')) throw new Error('A field of the header is not a text.')
  const fields = given.map((name) => (NUMBERS.has(name) ? rlpNumber(block[name]) : hexlify(block[name] as string)))
  return encodeRlp(fields)
}
