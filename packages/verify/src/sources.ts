/** Reads files from the file network. Nothing that it gives is trusted. */
import { createHash } from 'node:crypto'
import { CarBlockIterator } from '@ipld/car/iterator'
import { decode, type PBNode } from '@ipld/dag-pb'
import { type CID, varint } from 'multiformats'
import { isTimeout, readBounded, reasonOf } from './chain-node.ts'
import { isBlock, parseName } from './cids.ts'
import { SourceError } from './source-error.ts'
import { type Finding, unknown, wrong } from './verification.ts'

/** A source of trees and files. */
export interface FileSource {
  /** Returns bytes that are said to be the block; undefined when the source does not have it. Throws SourceError. */
  block(cid: string): Promise<Uint8Array | undefined>
  /** Returns a CAR that is said to hold the file, depth first; undefined when the source does not have it. Throws SourceError. */
  car(cid: string): Promise<AsyncIterable<Uint8Array> | undefined>
}

/** The SHA-256 of a file, 64 lowercase hexadecimal digits, or why there is none. */
export type FileHash = { sha256: string } | Finding

const RAW = 0x55
const DAG_PB = 0x70
/** Larger blocks do not travel on the file network. */
export const LARGEST_BLOCK_BYTES = 4 * 1024 * 1024
/** Some 250 GB; a file of few blocks that name each other often has more, and no end. */
const MOST_PARTS = 1_000_000

/** Reads the whole file from the source, checks each block, and hashes the bytes. Missing and wrong blocks are an unknown result. */
export async function hashFile(nid: string, source: FileSource): Promise<FileHash> {
  const root = parseName(nid)
  if (!root) return notOfAFile
  const hash = createHash('sha256')
  try {
    // A file of one block has no parts.
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

/** An identifier that names no file, or by a hash that is not asked for here. */
export const notOfAFile = wrong('The identifier is not one of a file.')
const absent = unknown('The file is not on the file network, or not public.')
async function* none(): AsyncGenerator<Uint8Array> {}

/** The SHA-256 that an identifier itself tells, of a file of one block; undefined of a larger one. */
export function sha256InName(nid: string): string | undefined {
  const cid = parseName(nid)
  return cid?.code === RAW ? Buffer.from(cid.multihash.digest).toString('hex') : undefined
}

/** Stops reading a file that cannot be verified. */
class Unproven extends Error {
  readonly finding: Finding
  constructor(finding: Finding) {
    super(finding.finding)
    this.finding = finding
  }
}

type ReadBlock = (cid: CID) => Promise<Uint8Array>

/** Blocks in the order of a CAR; one that stands there once and is needed twice is asked for by itself. */
async function openBlocks(car: AsyncIterable<Uint8Array>, source: FileSource): Promise<ReadBlock> {
  let waiting = 0
  // A block may claim any length, and all of it would be waited for.
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
    if (read > MOST_PARTS) throw new Unproven(unknown('The file has more parts than are read.'))
    let bytes: Uint8Array | undefined
    if (next?.cid.equals(cid)) {
      bytes = next.bytes
      next = await take()
    } else bytes = await source.block(cid.toString())
    if (!bytes) throw new Unproven(read === 1 ? absent : unknown(`The part ${cid} of the file is not there.`))
    if (!isBlock(cid, bytes))
      throw new Unproven(unknown(`Other bytes were given instead of the part ${cid} of the file.`))
    return bytes
  }
}

/** Reads a part of a file, and returns how many bytes it has. */
async function readPart(cid: CID, read: ReadBlock, use: (bytes: Uint8Array) => void): Promise<bigint> {
  const bytes = await read(cid)
  if (cid.code === RAW) {
    use(bytes)
    return BigInt(bytes.length)
  }
  const node = decodeNode(cid, bytes)
  const sizes: bigint[] = []
  for (const { Hash } of node.Links) sizes.push(await readPart(Hash, read, use))
  // Whatever else an inner node could hold, readers of other makers might take for a part of the file.
  if (!node.Data || !describeParts(sizes).equals(node.Data))
    throw new Unproven(unknown(`The part ${cid} is laid out in a way that is not known.`))
  return sizes.reduce((sum, size) => sum + size, 0n)
}

function decodeNode(cid: CID, bytes: Uint8Array): PBNode {
  if (cid.code !== DAG_PB) throw new Unproven(unknown(`The part ${cid} is of a kind that is not known.`))
  try {
    return decode(bytes)
  } catch {
    throw new Unproven(wrong(`The block ${cid} is not a part of a file.`))
  }
}

/** UnixFS of a file whose bytes lie in its parts: type (2), size of the file, size of each part. */
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

/** Until a response begins, and until a block is read. */
const BLOCK_DEADLINE_MS = 60_000
/** Until a whole file is read. */
const FILE_DEADLINE_MS = 3_600_000

/** The gateway does not have the block, no longer has it, must not give it, or did not find it in time. */
const NOT_THERE = new Set([404, 410, 451, 504])

/**
 * Reads from a gateway. `url` is its root; blocks are read at `/ipfs/<cid>`. After a timeout no more requests are sent. Throws an Error
 * when `url` is not a valid address.
 */
export function connectGateway(url: string): FileSource {
  const root = URL.canParse(url) ? new URL(url) : undefined
  if (!root || !/^https?:$/.test(root.protocol))
    throw new Error('The address of a gateway begins with http: or https:.')
  let timedOut: SourceError | undefined
  const gone = (error: unknown) => {
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
        throw gone(error)
      })
      .finally(() => clearTimeout(timer))
    if (response.ok) return response
    await response.body?.cancel().catch(() => undefined)
    if (NOT_THERE.has(response.status)) return undefined
    throw gone(new Error(`status ${response.status}`))
  }

  return {
    async block(cid) {
      const response = await open(cid, 'raw', BLOCK_DEADLINE_MS)
      return (
        response &&
        (await readBounded(response, LARGEST_BLOCK_BYTES).catch((error: unknown) => Promise.reject(gone(error))))
      )
    },
    async car(cid) {
      return (await open(cid, 'car', FILE_DEADLINE_MS))?.body ?? undefined
    },
  }
}
