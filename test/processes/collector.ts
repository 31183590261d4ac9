/** Collects garbage repeatedly, like a second gateway. Blocks are kept if a file in `pins` has their CID as its name, or during the grace period. */
import { readdir } from 'node:fs/promises'
import { createContentStore } from '../../src/files/content-store.ts'

const [dir = '', pins = '', grace = ''] = process.argv.slice(2)
const store = createContentStore({ dir })
async function* pinned() {
  yield* await readdir(pins)
}

for (;;) process.stdout.write(`${await store.collectGarbage(pinned(), Number(grace))}\n`)
