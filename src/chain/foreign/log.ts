/**
 * What a log says of a commit that somebody else may have made. Its writer wants whatever they want: nothing here raises, what is kept is
 * bounded, and bytes that are no text become some.
 */
import { getAddress } from 'ethers'
import type { LogReply } from '../replies.ts'

/** A commit as a log tells it, by the hash of its asset's identifier. */
export interface LoggedCommit {
  topic: string
  /** With EIP-55 checksum. */
  recorder: string
  /** The beginning of what it says. */
  data: string
  /** Bytes of all that it says. */
  dataBytes: number
  transactionHash: string
  blockNumber: number
  blockHash: string
  logIndex: number
}

/** Bytes that are kept of what a commit says: ours have some 1,400. */
const KEPT_BYTES = 4_096
const WORD_DIGITS = 64
const isWord = (text: string | undefined): text is string => text !== undefined && /^0x[\da-f]{64}$/i.test(text)

/** The number in a word of ABI-encoded data; 0 where there is none, or one that no data can be as long as. */
const numberAt = (digits: string, byte: number): number => {
  const word = digits.slice(byte * 2, byte * 2 + WORD_DIGITS)
  return /^0{56}[\da-f]{8}$/i.test(word) ? Number.parseInt(word, 16) : 0
}

/** PostgreSQL keeps no null characters in text. */
const readText = (digits: string) => Buffer.from(digits, 'hex').toString().replaceAll('\0', '\uFFFD')

/** The text that a log's data holds, as far as it is kept, and how many bytes all of it has. Data that holds none is an empty one. */
function readData(data: string): { data: string; dataBytes: number } {
  const digits = data.slice(2)
  const start = numberAt(digits, 0)
  const claimed = numberAt(digits, start)
  const from = (start + 32) * 2
  const dataBytes = Math.max(Math.min(claimed, Math.floor((digits.length - from) / 2)), 0)
  return { data: readText(digits.slice(from, from + Math.min(dataBytes, KEPT_BYTES) * 2)), dataBytes }
}

/** The commit that a log of the registry tells; undefined where it is none as ERC-7053 has them. */
export function readCommitLog({ topics, data, ...place }: LogReply): LoggedCommit | undefined {
  const [, recorder, topic] = topics
  if (topics.length !== 3 || !isWord(recorder) || !isWord(topic) || place.blockNumber === null) return undefined
  return {
    topic: topic.toLowerCase(),
    recorder: getAddress(`0x${recorder.slice(-40).toLowerCase()}`),
    ...readData(data),
    transactionHash: place.transactionHash,
    blockNumber: Number(place.blockNumber),
    blockHash: place.blockHash,
    logIndex: Number(place.logIndex),
  }
}
