/** Collects garbage again and again, as a gateway of its own: what no file in `pins` is named after, and is older than the grace. */
import { readdir } from 'node:fs/promises'
import { createContentStore } from '../../src/files/content-store.ts'

const [dir = '', pins = '', grace = ''] = process.argv.slice(2)
const store = createContentStore({ dir })
async function* pinned() {
  yield* await readdir(pins)
}

for (;;) {
  const removed = await store.collectGarbage(pinned(), Number(grace))
  process.stdout.write(`${removed}\n`)
}
