/** Receipts of transactions: the logs that a block's header commits to. */
import { AbiCoder, dataSlice, decodeRlp, encodeRlp, getAddress, getBytes, hexlify, id, toUtf8String } from 'ethers'
import { rlpNumber } from './rlp.ts'

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

/** The bytes of a receipt as nodes tell of it, of the old kind or typed (EIP-2718). */
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
  const fields = getBytes(encodeRlp([outcome, rlpNumber(cumulativeGasUsed), logsBloom, events, ...deposit]))
  return Number(type) === 0 ? fields : Uint8Array.of(Number(type), ...fields)
}

/** The logs of a receipt; undefined when the bytes are none. */
export function decodeLogs(bytes: Uint8Array): Log[] | undefined {
  try {
    // A type is one byte below a list's first one.
    const fields = decodeRlp(bytes[0]! < 0xc0 ? bytes.subarray(1) : bytes)
    const logs = fields[3]
    return (logs as [string, string[], string][]).map(([address, topics, data]) => ({ address, topics, data }))
  } catch {
    return undefined
  }
}

/** A commit as the registry's event tells it (ERC-7053). */
export interface CommitEvent {
  /** Who wrote it, with EIP-55 checksum. */
  recorder: string
  /** As it stands in the log; undefined when it is no text. */
  text: string | undefined
}

const COMMIT_TOPIC = id('Commit(address,string,string)')

/** The commit of an asset that a log is, or undefined when it is something else. */
export function readCommit({ address, topics, data }: Log, registry: string, nid: string): CommitEvent | undefined {
  const [topic, recorder, asset] = topics
  if (address.toLowerCase() !== registry.toLowerCase() || topic !== COMMIT_TOPIC || asset !== id(nid)) return undefined
  return { recorder: getAddress(dataSlice(recorder!, 12)), text: readText(data) }
}

function readText(data: string): string | undefined {
  try {
    const [bytes] = AbiCoder.defaultAbiCoder().decode(['bytes'], data)
    return toUtf8String(bytes as string)
  } catch {
    return undefined
  }
}
