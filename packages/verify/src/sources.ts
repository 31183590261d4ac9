/** Reads files from IPFS. Its data is untrusted. */
import { createHash } from 'node:crypto'
import { CarBlockIterator } from '@ipld/car/iterator'
import { decode, type PBNode } from '@ipld/dag-pb'
import { type CID, varint } from 'multiformats'
import { isTimeout, readBounded, reasonOf } from './chain-node.ts'
import { isBlock, parseName } from './cids.ts'
import { InputError, SourceError } from './source-error.ts'
import { type Finding, unknown, wrong } from './verification.ts'

/** A source of trees and files. */
export interface FileSource {
  /** Returns the bytes of a block, unverified. Undefined if the source does not have it. Throws SourceError. */
  block(cid: string): Promise<Uint8Array | undefined>
  /** Returns a CAR of the file, depth first and unverified. Undefined if the source does not have it. Throws SourceError. */
  car(cid: string): Promise<AsyncIterable<Uint8Array> | undefined>
}

/** The SHA-256 of a file as 64 lowercase hex digits, or the reason why it is missing. */
export type FileHash = { sha256: string } | Finding

const RAW = 0x55
const DAG_PB = 0x70
/** Maximum block size in bytes. IPFS nodes do not exchange larger blocks. */
export const LARGEST_BLOCK_BYTES = 4 * 1024 * 1024
/** Maximum number of blocks per file, about 250 GB. A few blocks that link to each other could describe an endless file. */
const MOST_PARTS = 1_000_000

/** Reads a file, checks each block, and returns the SHA-256. Missing and wrong blocks give an unknown result. */
export async function hashFile(nid: string, source: FileSource): Promise<FileHash> {
  const root = parseName(nid)
  if (!root) return notOfAFile
  const hash = createHash('sha256')
  try {
    // A file of one block is fetched as a block, not as a CAR.
    const car = root.code === RAW ? none() : await source.car(nid)
    if (!car) return absent
    await readPart(root, await openBlocks(car, source), (bytes) => void hash.update(bytes))
  } catch (error) {
    if (error instanceof Unproven) return error.finding
    if (error instanceof SourceError) return unknown(error.message)
    throw error
  }
  return { sha256: hash.digest('hex') }
}

/** Result for a CID that is not a file's, or has an unsupported hash function. */
export const notOfAFile = wrong('The identifier is not the CID of a file.')
const absent = unknown('The file is not on the file network, or not public.')
async function* none(): AsyncGenerator<Uint8Array> {}

/** Returns the SHA-256 in the CID of a file of one block. Returns undefined for larger files. */
export function sha256InName(nid: string): string | undefined {
  const cid = parseName(nid)
  return cid?.code === RAW ? Buffer.from(cid.multihash.digest).toString('hex') : undefined
}

/** Error that stops reading a file that cannot be verified. */
class Unproven extends Error {
  readonly finding: Finding
  constructor(finding: Finding) {
    super(finding.finding)
    this.finding = finding
  }
}

type ReadBlock = (cid: CID) => Promise<Uint8Array>

/** Returns a reader of blocks in the order of the CAR. A block that the CAR contains once but the file needs again is requested separately. */
async function openBlocks(car: AsyncIterable<Uint8Array>, source: FileSource): Promise<ReadBlock> {
  let waiting = 0
  // A block can claim any length, and the iterator would wait for all of it.
  async function* bounded(): AsyncGenerator<Uint8Array> {
    for await (const part of car) {
      waiting += part.length
      if (waiting > 2 * LARGEST_BLOCK_BYTES) return
      yield part
    }
  }
  const blocks = (await CarBlockIterator.fromIterable(bounded()).catch(() => undefined))?.[Symbol.asyncIterator]()
  const take = async () => {
    const block = (await blocks?.next().catch(() => undefined))?.value
    waiting = 0
    return block
  }
  let next = await take()
  let read = 0
  return async (cid) => {
    read += 1
    if (read > MOST_PARTS) throw new Unproven(unknown('The file has too many parts.'))
    let bytes: Uint8Array | undefined
    if (next?.cid.equals(cid)) {
      bytes = next.bytes
      next = await take()
    } else bytes = await source.block(cid.toString())
    if (!bytes) throw new Unproven(read === 1 ? absent : unknown(`The part ${cid} of the file is missing.`))
    if (!isBlock(cid, bytes)) throw new Unproven(unknown(`The part ${cid} of the file does not match its CID.`))
    return bytes
  }
}

/** Reads a part of a file. Returns its size in bytes. */
async function readPart(cid: CID, read: ReadBlock, use: (bytes: Uint8Array) => void): Promise<bigint> {
  const bytes = await read(cid)
  if (cid.code === RAW) {
    use(bytes)
    return BigInt(bytes.length)
  }
  const node = decodeNode(cid, bytes)
  const sizes: bigint[] = []
  for (const { Hash } of node.Links) sizes.push(await readPart(Hash, read, use))
  // Reject other data in inner nodes, because other IPFS software might read it as file content.
  if (!node.Data || !describeParts(sizes).equals(node.Data))
    throw new Unproven(unknown(`The part ${cid} has an unknown layout.`))
  return sizes.reduce((sum, size) => sum + size, 0n)
}

function decodeNode(cid: CID, bytes: Uint8Array): PBNode {
  if (cid.code !== DAG_PB) throw new Unproven(unknown(`The part ${cid} has an unknown codec.`))
  try {
    return decode(bytes)
  } catch {
    throw new Unproven(wrong(`The block ${cid} is not a part of a file.`))
  }
}

/** Returns the UnixFS data of an inner node: type (2), file size, and size of each part. */
const describeParts = (sizes: readonly bigint[]): Buffer =>
  Buffer.concat([
    Uint8Array.of(0x08, 2),
    numberField(
      0x18,
      sizes.reduce((sum, size) => sum + size, 0n),
    ),
    ...sizes.map((size) => numberField(0x20, size)),
  ])

function numberField(tag: number, size: bigint): Uint8Array {
  const value = Number(size)
  const field = new Uint8Array(1 + varint.encodingLength(value))
  field[0] = tag
  varint.encodeTo(value, field, 1)
  return field
}

/** Timeout for a response to start and for a block, in milliseconds. */
const BLOCK_DEADLINE_MS = 60_000
/** Timeout for a whole file, in milliseconds. */
const FILE_DEADLINE_MS = 3_600_000

/** HTTP statuses that mean that the block is not available. */
const NOT_THERE = new Set([404, 410, 451, 504])

/**
 * Reads from a gateway. `url` is its root; blocks are read at `/ipfs/<cid>`. After a timeout no more requests are sent. Throws an Error
 * when `url` is not a valid address.
 */
export function connectGateway(url: string): FileSource {
  const root = URL.canParse(url) ? new URL(url) : undefined
  if (!root || !/^https?:$/.test(root.protocol))
    throw new InputError('The URL of a gateway must start with http: or https:.')
  let timedOut: SourceError | undefined
  const unreachable = (error: unknown) => {
    const failure = new SourceError(`The gateway ${root.host} does not answer: ${reasonOf(error)}.`, { cause: error })
    if (isTimeout(error)) timedOut = failure
    return failure
  }

  async function open(cid: string, format: 'raw' | 'car', deadline: number): Promise<Response | undefined> {
    if (timedOut) throw timedOut
    const target = `${url.replace(/\/+$/, '')}/ipfs/${encodeURIComponent(cid)}?format=${format}`
    const headers = { accept: `application/vnd.ipld.${format}` }
    const opening = new AbortController()
    const signal = AbortSignal.any([opening.signal, AbortSignal.timeout(deadline)])
    const timer = setTimeout(() => opening.abort(new DOMException('', 'TimeoutError')), BLOCK_DEADLINE_MS)
    const response = await fetch(target, { headers, signal })
      .catch((error: unknown) => {
        throw unreachable(error)
      })
      .finally(() => clearTimeout(timer))
    if (response.ok) return response
    await response.body?.cancel().catch(() => undefined)
    if (NOT_THERE.has(response.status)) return undefined
    throw unreachable(new Error(`status ${response.status}`))
  }

  return {
    async block(cid) {
      const response = await open(cid, 'raw', BLOCK_DEADLINE_MS)
      return (
        response &&
        (await readBounded(response, LARGEST_BLOCK_BYTES).catch((error: unknown) => Promise.reject(unreachable(error))))
      )
    },
    async car(cid) {
      return (await open(cid, 'car', FILE_DEADLINE_MS))?.body ?? undefined
    },
  }
}
