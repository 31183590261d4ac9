/** Runs the process that reads and writes manifests: see `manifest-process.ts`. */
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { validationFailed } from '../../shared/errors.ts'
import { startSandboxedProcess } from '../../shared/sandboxed-process.ts'
import type { ManifestOrder } from './manifest-process.ts'

/** Name of the operation in error messages. */
export const NAME = 'Reading and writing Content Credentials'
/** Path of the program: TypeScript in the repository, JavaScript in a built package. */
const PROGRAM = fileURLToPath(new URL(`manifest-process${extname(import.meta.url)}`, import.meta.url))
/** The process may only read files. Memory limits stop decompression bombs. */
const FLAGS = [
  ...['--permission', '--allow-fs-read=*', '--no-warnings'],
  ...['--wasm-max-mem-pages=16384', '--max-old-space-size=512'],
]

const unreadable = (reason: string) => validationFailed({ file: [`The file cannot be processed: ${reason}`] })

interface ManifestRun {
  source: AsyncIterable<Uint8Array>
  order: ManifestOrder
  /** Signs the claim. Called once if a manifest is written. */
  sign?: (claim: Uint8Array) => Promise<Uint8Array>
  timeoutMs: number
  /** Maximum size of the output, in bytes. */
  maxBytes: number
}

/**
 * Yields the output of the process in chunks, or nothing if the file has no manifest. Throws VALIDATION_FAILED if the
 * file cannot be processed, even after the first chunks. Throws UNAVAILABLE if no process can be started. Throws the
 * errors of the source and of `sign`.
 */
export async function* runManifestProcess({ source, order, sign, timeoutMs: timeout, maxBytes }: ManifestRun) {
  const options = { name: NAME, program: PROGRAM, flags: FLAGS, hasIpc: true, timeout }
  const { child, exit } = await startSandboxedProcess(options)
  let failure: { error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    child.kill('SIGKILL')
  }
  child.on('message', async ({ claim }: { claim: string }) => {
    try {
      const signature = await sign!(new Uint8Array(Buffer.from(claim, 'base64')))
      child.send({ signature: Buffer.from(signature).toString('base64') }, () => {})
    } catch (error) {
      fail(error)
    }
  })
  child.send(order, () => {})
  const input = Readable.from(source)
  // The pipeline is not awaited, because a source that hangs would never settle.
  pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
    // The process stopped reading, and its exit code gives the reason. Other errors come from the source.
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')) fail(error)
  })
  try {
    let length = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw unreadable('the result is too large.')
      yield chunk
    }
    const [code, signal] = await exit
    if (failure) throw failure.error
    // A process that runs out of memory terminates itself.
    if (code === null) throw unreadable(signal === 'SIGKILL' ? 'it takes too long.' : 'it needs too much memory.')
    // A file can crash the library. The exit code is then arbitrary.
    if (code !== 0) throw unreadable('it is damaged, or its type is not the declared one.')
  } finally {
    child.kill('SIGKILL')
    input.destroy()
  }
}
