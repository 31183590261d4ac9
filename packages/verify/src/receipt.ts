/** Receipts of transactions: the logs that a block's header commits to. */
import { AbiCoder, dataSlice, decodeRlp, getAddress, getBytes, hexlify, id, toUtf8String } from 'ethers'
import { encodeRlp, rlpNumber } from './rlp.ts'

/** An event, as it stands in a receipt. Hexadecimal, 0x-prefixed. */
export interface Log {
  address: string
  topics: string[]
  data: string
}

/** A receipt as nodes tell of it. */
export interface ReceiptReply {
  type?: string
  status?: string
  root?: string
  cumulativeGasUsed: string
  logsBloom: string
  logs: Log[]
  /** Of a deposit on a chain of the OP stack; before its upgrade Canyon there is a nonce without a version, which does not count. */
  depositNonce?: string
  depositReceiptVersion?: string
}

/** Largest transaction type (EIP-2718). */
const LAST_TYPE = 0x7f

/** Encodes a receipt from a node's reply, legacy or typed (EIP-2718). Throws when the reply is not a receipt. */
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
  if (kind.length > 1 || kind[0]! > LAST_TYPE) throw new Error('The type of the receipt is not a type.')
  return Buffer.concat([kind, fields])
}

/** Reads the logs of a receipt. Returns undefined when the bytes are not a receipt of a known layout. */
export function decodeLogs(bytes: Uint8Array): Log[] | undefined {
  try {
    // A type is one byte below a list's first one.
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

/** A commit as the registry's event tells it (ERC-7053). */
export interface CommitEvent {
  /** Who wrote it, with EIP-55 checksum. */
  recorder: string
  /** As it stands in the log; undefined when it is no text. */
  text: string | undefined
}

const COMMIT_TOPIC = id('Commit(address,string,string)')

/** A topic is 32 bytes. */
const TOPIC_DIGITS = 66

/** Reads the commit of an asset from a log. Returns undefined when the log is something else. */
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
