/** Makes small pictures of what strangers sent, in a process of its own for each: see `picture-process.ts`. */
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { readAtMost } from '../../shared/async.ts'
import { DomainError, unavailable } from '../../shared/errors.ts'
import { startSandboxedProcess } from '../../shared/sandboxed-process.ts'
import type { PictureMaker } from '../file-types.ts'
import { TOO_MUCH, UNREADABLE } from './picture-endings.ts'

const NAME = 'Reading pictures'
/** Beside this file and, where the package was built, as JavaScript like it. */
const PROGRAM = fileURLToPath(new URL(`picture-process${extname(import.meta.url)}`, import.meta.url))
/** It may read files, for its libraries are some; it may neither write any, nor start processes. */
const FLAGS = ['--permission', '--allow-addons', '--allow-fs-read=*', '--no-warnings']
/** From the first byte to the last. Milliseconds. */
const PATIENCE_MS = 15_000
/** Of all results of one picture together. */
const MAX_BYTES = 20_000_000

/** The results, each after its length. */
function* parts(output: Buffer) {
  for (let at = 0; at < output.length; ) {
    const end = at + 4 + output.readUInt32BE(at)
    yield output.subarray(at + 4, end)
    at = end
  }
}

async function run(
  source: AsyncIterable<Uint8Array>,
  sides: readonly number[],
  timeout: number,
): Promise<Uint8Array[] | undefined> {
  const { child, exit } = await startSandboxedProcess({
    name: NAME,
    program: PROGRAM,
    flags: FLAGS,
    args: sides.map(String),
    timeout,
  })
  let failure: { error: unknown } | undefined
  const input = Readable.from(source)
  // Not waited for: a source that hangs would never let go.
  pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
    // It stopped reading, and says why by its exit code; anything else is the source's trouble.
    if (['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')) return
    failure = { error }
    child.kill('SIGKILL')
  })
  try {
    const [output, [code]] = await Promise.all([readAtMost(child.stdout, MAX_BYTES), exit])
    if (failure) throw failure.error
    if (code === UNREADABLE || child.signalCode === TOO_MUCH) return undefined
    if (code !== 0) throw unavailable(NAME, new Error(`The process ended with ${code ?? child.signalCode}.`))
    return [...parts(output)]
  } catch (error) {
    // The machine could not start one, or it wrote what it never should.
    throw failure ? failure.error : error instanceof DomainError ? error : unavailable(NAME, error)
  } finally {
    child.kill('SIGKILL')
    input.destroy()
  }
}

/** Makes pictures; how many at once is for who asks to say. `patience`: milliseconds for one picture. */
export const createPictureMaker = ({ patience = PATIENCE_MS } = {}): PictureMaker => ({
  make: (source, sides) => run(source, sides, patience),
})
