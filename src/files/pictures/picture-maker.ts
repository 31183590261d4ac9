/** Makes thumbnails of untrusted pictures. Each picture is read in its own process: see `picture-process.ts`. */
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
/** In the built package this file is JavaScript, and so is the process's file. */
const PROGRAM = fileURLToPath(new URL(`picture-process${extname(import.meta.url)}`, import.meta.url))
/** Permissions of the process: it can read files, such as its libraries, but not write files or start processes. */
const FLAGS = ['--permission', '--allow-addons', '--allow-fs-read=*', '--no-warnings']
/** Maximum total size of the results of one picture, in bytes. */
const MAX_BYTES = 20_000_000

/** Splits the output into its results. Each follows its length. */
function* parts(output: Buffer) {
  for (let at = 0; at < output.length; ) {
    const end = at + 4 + output.readUInt32BE(at)
    yield output.subarray(at + 4, end)
    at = end
  }
}

/** Creates the maker of thumbnails. Callers limit concurrency. `timeoutMs`: timeout of one picture, in milliseconds. */
export const createPictureMaker = ({ timeoutMs: timeout = 15_000 } = {}): PictureMaker => ({
  async make(source, sides) {
    const options = { name: NAME, program: PROGRAM, flags: FLAGS, args: sides.map(String), timeout }
    const { child, exit } = await startSandboxedProcess(options)
    let failure: { error: unknown } | undefined
    const input = Readable.from(source)
    // Do not wait for the source, because it may hang.
    pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
      // If the process stops reading, its exit code is the reason. All other errors are those of the source.
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
      // The process could not be started, or its output is invalid.
      throw failure ? failure.error : error instanceof DomainError ? error : unavailable(NAME, error)
    } finally {
      child.kill('SIGKILL')
      input.destroy()
    }
  },
})
