/** Encodes and decodes headers, receipts and transactions with RLP, the binary encoding of Ethereum. */
import {
  AbiCoder,
  dataSlice,
  decodeRlp,
  getAddress,
  getBytes,
  hexlify,
  id,
  keccak256,
  Transaction,
  type TransactionLike,
  toBeHex,
  toUtf8String,
} from 'ethers'

/** RLP input: bytes, a 0x-prefixed hex string, or a list of items. */
export type RlpItem = string | Uint8Array | readonly RlpItem[]

/** Encodes a number for RLP, without leading zeros. Zero is empty. Throws if the value is not a number. */
export const rlpNumber = (value: unknown): string => {
  const number = BigInt(value as string)
  return number === 0n ? '0x' : toBeHex(number)
}

/** Maximum length in bytes of RLP's short form. */
const SHORT_LENGTH = 55

/**
 * Encodes an item. The time grows linearly with the size: the encoder of ethers copies a list once per element, which takes two minutes
 * for a receipt with 10,000 events. Throws when a string is not hexadecimal.
 */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (typeof item !== 'string' && !(item instanceof Uint8Array)) {
    return withLength(0xc0, Buffer.concat(item.map(encodeRlp)))
  }
  const bytes = getBytes(item)
  return bytes.length === 1 && bytes[0]! < 0x80 ? bytes : withLength(0x80, bytes)
}

function withLength(offset: number, content: Uint8Array): Uint8Array {
  const { length } = content
  if (length <= SHORT_LENGTH) return Buffer.concat([Uint8Array.of(offset + length), content])
  const size = getBytes(toBeHex(length))
  return Buffer.concat([Uint8Array.of(offset + SHORT_LENGTH + size.length), size, content])
}

/** Fields of a header that the verifier uses. Hashes and roots are 0x-prefixed. */
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

/** A block in a node's response. */
export interface BlockReply {
  number: string
  hash: string
  transactions: unknown[]
  [field: string]: unknown
}

/** Reads an RLP number. RLP encodes zero as empty bytes. */
const numberIn = (hex: string | undefined) => (hex === '0x' ? 0 : Number(BigInt(hex as string)))
/** Unix time of the last second of the year 9999. JavaScript cannot format later years in ISO 8601 with four digits. */
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

/** Fields in the order of the header. The later ones were added by hard forks. */
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

/** Encodes a header from a node's response. The encoding is correct if its hash is the block hash. Throws if the response is not a block. */
export function encodeHeader(block: BlockReply): Uint8Array {
  const given = FIELDS.filter((name, index) => index < FEWEST_FIELDS || (block[name] ?? null) !== null)
  if (!given.every((name) => typeof block[name] === 'string')) throw new Error('A field of the header is not a string.')
  const fields = given.map((name) => (NUMBERS.has(name) ? rlpNumber(block[name]) : hexlify(block[name] as string)))
  return encodeRlp(fields)
}

/** An event log in a receipt. Values are 0x-prefixed hex. */
export interface Log {
  address: string
  topics: string[]
  data: string
}

/** A receipt in a node's response. */
export interface ReceiptReply {
  type?: string
  status?: string
  root?: string
  cumulativeGasUsed: string
  logsBloom: string
  logs: Log[]
  /** Deposit nonce on an OP stack chain. Without `depositReceiptVersion`, before the Canyon upgrade, it is not part of the receipt's encoding. */
  depositNonce?: string
  depositReceiptVersion?: string
}

/** Maximum transaction type (EIP-2718). */
const LAST_TYPE = 0x7f

/** Encodes a receipt from a node's response, legacy or typed (EIP-2718). Throws if the response is not a receipt. */
export function encodeReceipt({
  type = '0x0',
  status,
  root,
  cumulativeGasUsed,
  logsBloom,
  logs,
  depositNonce = '0x0',
  depositReceiptVersion: version,
}: ReceiptReply): Uint8Array {
  const outcome = status === undefined ? hexlify(root ?? '0x') : rlpNumber(status)
  const events = logs.map(({ address, topics, data }) => [address, topics, data])
  const deposit = version === undefined ? [] : [rlpNumber(depositNonce), rlpNumber(version)]
  const fields = encodeRlp([outcome, rlpNumber(cumulativeGasUsed), logsBloom, events, ...deposit])
  const kind = getBytes(rlpNumber(type))
  if (kind.length > 1 || kind[0]! > LAST_TYPE) throw new Error('The receipt type is invalid.')
  return Buffer.concat([kind, fields])
}

/** Decodes the logs of a receipt. Returns undefined if its format is unknown. */
export function decodeLogs(bytes: Uint8Array): Log[] | undefined {
  try {
    // A typed receipt starts with a type byte, which is lower than the first byte of an RLP list.
    const fields = decodeRlp(bytes[0]! < 0xc0 ? bytes.subarray(1) : bytes)
    const logs = (fields as unknown[][])[3]!.map(readLog)
    return logs.every((log) => log !== undefined) ? logs : undefined
  } catch {
    return undefined
  }
}

function readLog(fields: unknown): Log | undefined {
  const [address, topics, data] = fields as unknown[]
  if (typeof address !== 'string' || typeof data !== 'string' || !Array.isArray(topics)) return undefined
  return topics.every((topic) => typeof topic === 'string') ? { address, topics, data } : undefined
}

/** A commit in an event of the registry (ERC-7053). */
export interface CommitEvent {
  /** Address of the account that wrote the commit, with EIP-55 checksum. */
  recorder: string
  /** Text in the log. Undefined if it is not valid UTF-8. */
  text: string | undefined
}

const COMMIT_TOPIC = id('Commit(address,string,string)')

/** Length of a 32-byte topic in characters, with the prefix 0x. */
const TOPIC_DIGITS = 66

/** Returns the asset's commit in a log. Returns undefined for other logs. */
export function readCommit({ address, topics, data }: Log, registry: string, nid: string): CommitEvent | undefined {
  const [topic, recorder, asset] = topics
  if (address.toLowerCase() !== registry.toLowerCase() || topic !== COMMIT_TOPIC || asset !== id(nid)) return undefined
  if (recorder?.length !== TOPIC_DIGITS) return undefined
  return { recorder: getAddress(dataSlice(recorder, 12)), text: readText(data) }
}

function readText(data: string): string | undefined {
  try {
    const [bytes] = AbiCoder.defaultAbiCoder().decode(['bytes'], data)
    return toUtf8String(bytes as string)
  } catch {
    return undefined
  }
}

/** A transaction in a node's response. */
export type TransactionReply = Record<string, unknown> & { hash: string }

/** Fields of a signed transaction that the verifier uses. */
export interface SignedTransaction {
  /** Made from its bytes. */
  hash: string
  /** Undefined for legacy transactions without replay protection (EIP-155). They are valid on every chain. */
  chainId: number | undefined
}

/**
 * Decodes a transaction. Returns only the hash for an unknown type. Does not recover the signer: a block cannot contain an invalid signature,
 * and recovery is slow.
 */
export function decodeTransaction(bytes: Uint8Array): SignedTransaction {
  const hash = keccak256(bytes)
  try {
    const { chainId } = Transaction.from(hexlify(bytes))
    return { hash, chainId: chainId === 0n ? undefined : Number(chainId) }
  } catch {
    return { hash, chainId: undefined }
  }
}

/** Encodes a transaction from a node's response. Returns undefined if the result has another hash, as for an unknown type. */
export function encodeTransaction(reply: TransactionReply): Uint8Array | undefined {
  try {
    const { serialized, hash } = Transaction.from(fieldsOf(reply))
    return hash === reply.hash ? getBytes(serialized) : undefined
  } catch {
    return undefined
  }
}

/** An entry of the authorization list of EIP-7702 in a node's response. */
interface AuthorizationReply {
  chainId: string
  address: string
  nonce: string
  r: string
  s: string
  yParity: string
}

const authorizationOf = ({ chainId, address, nonce, ...signature }: AuthorizationReply) => ({
  ...{ chainId, address, nonce, signature },
})

function fieldsOf({
  gas,
  input,
  type,
  nonce,
  gasPrice,
  maxFeePerGas,
  maxPriorityFeePerGas,
  r,
  s,
  v,
  yParity,
  ...reply
}: TransactionReply) {
  const isOld = Number(type ?? 0) < 2
  const fees = isOld ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas }
  const optional = ['accessList', 'blobVersionedHashes', 'maxFeePerBlobGas'] as const
  const given = Object.fromEntries(optional.filter((name) => reply[name] != null).map((name) => [name, reply[name]]))
  const authorizations = reply.authorizationList as AuthorizationReply[] | undefined
  return {
    ...{ type: Number(type ?? 0), nonce: Number(nonce), gasLimit: gas, data: input, to: reply.to, value: reply.value },
    ...{ ...fees, ...given, chainId: reply.chainId ?? 0, signature: { r, s, v: v ?? yParity, yParity } },
    ...(authorizations && { authorizationList: authorizations.map(authorizationOf) }),
  } as TransactionLike
}
