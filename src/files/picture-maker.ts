/** Makes thumbnails of untrusted pictures. Each picture is read in its own process: see `picture-process.ts`. */
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { readAtMost } from '../shared/async.ts'
import { DomainError, unavailable } from '../shared/errors.ts'
import { startSandboxedProcess } from '../shared/sandboxed-process.ts'
import type { Pieces } from './file-types.ts'

const NAME = 'Reading pictures'
/** TypeScript in the repository, JavaScript in the built package. */
const PROGRAM = fileURLToPath(new URL(`picture-process${extname(import.meta.url)}`, import.meta.url))
/** Node.js flags of the process. It can read files, such as its libraries, but not write files or start processes. */
const FLAGS = ['--permission', '--allow-addons', '--allow-fs-read=*', '--no-warnings']
/** Maximum size of the output for one picture, in bytes. */
const MAX_OUTPUT_BYTES = 30_000_000
/** Exit code and signal of `picture-process.ts` for unsupported pictures and for pictures that exceed its limits. */
const [UNREADABLE, LIMIT_EXCEEDED] = [2, 'SIGXCPU']

export type PictureMaker = ReturnType<typeof createPictureMaker>

/** Callers limit concurrency. `timeoutMs`: timeout of one picture, in milliseconds. */
export const createPictureMaker = ({ timeoutMs: timeout = 15_000 } = {}) => ({
  /**
   * Returns WebP pictures that fit into squares with these sides, largest first. Returns undefined if the source is not
   * a raster picture or exceeds the limits. Throws UNAVAILABLE.
   */
  async make(source: Pieces, sides: readonly number[]): Promise<Uint8Array[] | undefined> {
    const options = { name: NAME, program: PROGRAM, flags: FLAGS, args: sides.map(String), timeout }
    const { child, exit } = await startSandboxedProcess(options)
    let failure: { error: unknown } | undefined
    const input = Readable.from(source)
    // The pipeline is not awaited, because a source that hangs would never settle.
    pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
      // The child process stopped reading, and its exit code gives the reason. Other errors come from the source.
      if (['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')) return
      failure = { error }
      child.kill('SIGKILL')
    })
    try {
      const [output, [code]] = await Promise.all([readAtMost(child.stdout, MAX_OUTPUT_BYTES), exit])
      if (failure) throw failure.error
      if (code === UNREADABLE || child.signalCode === LIMIT_EXCEEDED) return undefined
      if (code !== 0) throw new Error(`The picture process ended with ${code ?? child.signalCode}.`)
      return (JSON.parse(output.toString()) as string[]).map((picture) => Buffer.from(picture, 'base64'))
    } catch (error) {
      // The process could not be started, or its output is invalid.
      throw failure ? failure.error : error instanceof DomainError ? error : unavailable(NAME, error)
    } finally {
      child.kill('SIGKILL')
      input.destroy()
    }
  },
})
