import { CarWriter } from '@ipld/car/writer'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { identity } from 'multiformats/hashes/identity'
import { linksOf } from './cids.ts'
import type { CarSelection } from './file-types.ts'

type ReadBlock = (cid: CID) => Promise<Uint8Array>

/** A block of a DAG on the way. */
interface Step {
  cid: CID
  /** Where what it holds begins in the file; counted only where a range is asked for. */
  offset: number
}

const everything: CarSelection = { scope: 'all', duplicates: false }

/** The blocks of a DAG that are selected, depth first. Raises what `read` raises. */
export async function* walk(root: CID, read: ReadBlock, selection: CarSelection = everything) {
  const { scope, range, duplicates } = selection
  const sent = new Set<string>()
  const stack: Step[] = [{ cid: root, offset: 0 }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { cid } = step
    const isSent = sent.has(cid.toString())
    // All that hangs on it was sent, too; of a range only what lies in it, which may be another part here.
    if (isSent && (!range || cid.code !== dagPb.code)) continue
    // Such an identifier holds its bytes itself.
    if (cid.multihash.code === identity.code) continue
    const bytes = await read(cid)
    if (!isSent) yield { cid, bytes }
    if (!duplicates) sent.add(cid.toString())
    if (scope === 'block') return
    for (const child of childrenOf(step, bytes, range).reverse()) stack.push(child)
  }
}

/** The blocks that a block links to, in order: of a range only those that hold some of it. */
const childrenOf = ({ cid, offset }: Step, bytes: Uint8Array, range: CarSelection['range']): Step[] => {
  const links = linksOf(cid, bytes)
  const sizes = range && sizesOf(cid, bytes)
  if (!range || sizes?.children.length !== links.length) return links.map((link) => ({ cid: link, offset }))
  let start = offset + sizes.own
  const found: Step[] = []
  for (const [index, link] of links.entries()) {
    const end = start + sizes.children[index]!
    if (start < range.offset + range.length && end > range.offset) found.push({ cid: link, offset: start })
    start = end
  }
  return found
}

/** How many bytes of the file a block holds itself, and each of those below it; undefined when it does not tell. */
const sizesOf = (cid: CID, bytes: Uint8Array) => {
  if (cid.code !== dagPb.code) return undefined
  try {
    const { data, blockSizes } = UnixFS.unmarshal(dagPb.decode(bytes).Data ?? new Uint8Array())
    return { own: data?.length ?? 0, children: blockSizes.map(Number) }
  } catch {
    return undefined
  }
}

/**
 * A DAG as a CARv1 stream, `order=dfs` of the trustless gateway. A missing root raises before the first byte;
 * a failure later breaks the stream off, so that a reader never takes a part for the whole.
 */
export async function* carOf(root: CID, read: ReadBlock, selection?: CarSelection): AsyncGenerator<Uint8Array> {
  const blocks = walk(root, read, selection)
  const first = await blocks.next()
  const { writer, out } = CarWriter.create([root])
  // A put settles only when its bytes were read from `out`, so writing runs beside the reading below. It must close
  // the writer in any case: `out` would wait for ever otherwise.
  const writing = (async () => {
    try {
      if (!first.done) await writer.put(first.value)
      for await (const block of blocks) await writer.put(block)
    } finally {
      await writer.close()
    }
  })()
  // It is awaited after `out` ended; until then a failure must not count as unhandled.
  writing.catch(() => undefined)
  yield* out
  await writing
}

/** The blocks below a block, at every depth and each once, without reading leaves. Raises what `read` raises. */
export async function* namesBelow(root: CID, read: ReadBlock): AsyncGenerator<CID> {
  const seen = new Set([root.toString()])
  const stack = [root]
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    if (cid.code !== dagPb.code) continue
    for (const link of linksOf(cid, await read(cid))) {
      if (seen.has(link.toString())) continue
      seen.add(link.toString())
      yield link
      stack.push(link)
    }
  }
}
