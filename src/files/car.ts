import { CarWriter } from '@ipld/car/writer'
import type { CID } from 'multiformats/cid'
import { linksOf } from './cids.ts'

type ReadBlock = (cid: CID) => Promise<Uint8Array>

/** The blocks of a DAG, depth first, each once. Raises what `read` raises. */
export async function* walk(root: CID, read: ReadBlock) {
  const seen = new Set<string>()
  const stack = [root]
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    const key = cid.toString()
    if (seen.has(key)) continue
    seen.add(key)
    const bytes = await read(cid)
    yield { cid, bytes }
    stack.push(...linksOf(cid, bytes).reverse())
  }
}

/**
 * A DAG as a CARv1 stream: `order=dfs; dups=n` of the trustless gateway. A missing root raises before the first byte;
 * a failure later breaks the stream off, so that a reader never takes a part for the whole.
 */
export async function* carOf(root: CID, read: ReadBlock): AsyncGenerator<Uint8Array> {
  const blocks = walk(root, read)
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
