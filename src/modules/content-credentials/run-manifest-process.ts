/** Runs the process that reads and writes manifests: see `manifest-process.ts`. */
import type { ChildProcess } from 'node:child_process'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { validationFailed } from '../../shared/errors.ts'
import { startSandboxedProcess } from '../../shared/sandboxed-process.ts'
import { type ManifestOrder, NOTHING } from './manifest-order.ts'

/** What is asked for, in words for a refusal. */
export const NAME = 'Reading and writing Content Credentials'
/** Beside this file and, where the package was built, as JavaScript like it. */
const PROGRAM = fileURLToPath(new URL(`manifest-process${extname(import.meta.url)}`, import.meta.url))
/** Pages of 64 KB of the library's memory: 1 GB. What asks for more, as a bomb does, fails. */
const MOST_PAGES = 16_384
/** Megabytes of texts, such as a report before it is cut short. */
const MOST_HEAP_MB = 512
/** It may read files, for its library is one; it may neither write any, nor start processes. */
const FLAGS = [
  ...['--permission', '--allow-fs-read=*', '--no-warnings'],
  ...[`--wasm-max-mem-pages=${MOST_PAGES}`, `--max-old-space-size=${MOST_HEAP_MB}`],
]

const unreadable = (why: string) => validationFailed({ file: [`Its content cannot be dealt with: ${why}`] })

/** What one run needs. */
export interface ManifestRun {
  source: AsyncIterable<Uint8Array>
  order: ManifestOrder
  /** Asked once, when something is written. */
  sign?: (claim: Uint8Array) => Promise<Uint8Array>
  /** Milliseconds. */
  patience: number
  /** Bytes that come out at most. */
  mostBytes: number
}

/** Answers the one question that the process has. */
function answer(child: ChildProcess, sign: ManifestRun['sign'], fail: (error: unknown) => void) {
  child.on('message', async ({ claim }: { claim: string }) => {
    try {
      if (!sign) throw new Error('The process asked for a signature, and nothing is to be written.')
      const signature = await sign(new Uint8Array(Buffer.from(claim, 'base64')))
      child.send({ signature: Buffer.from(signature).toString('base64') }, () => {})
    } catch (error) {
      fail(error)
    }
  })
}

/**
 * What the process writes, as it comes; nothing when the file holds no manifest. Raises VALIDATION_FAILED when it cannot be dealt
 * with, after bytes came, too; UNAVAILABLE when no process can be started; and what the source and `sign` raise.
 */
export async function* runManifestProcess({ source, order, sign, patience, mostBytes }: ManifestRun) {
  const { child, exit } = await startSandboxedProcess({
    name: NAME,
    program: PROGRAM,
    flags: FLAGS,
    hasIpc: true,
    timeout: patience,
  })
  let failure: { error: unknown } | undefined
  const fail = (error: unknown) => {
    failure ??= { error }
    child.kill('SIGKILL')
  }
  answer(child, sign, fail)
  child.send(order, () => {})
  const input = Readable.from(source)
  // Not waited for: a source that hangs would never let go.
  pipeline(input, child.stdin).catch((error: NodeJS.ErrnoException) => {
    // It stopped reading, and says why by its exit code; anything else is the source's trouble.
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '')) fail(error)
  })
  try {
    let length = 0
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > mostBytes) throw unreadable('too much comes of it.')
      yield chunk
    }
    const [code, signal] = await exit
    if (failure) throw failure.error
    // Whoever runs out of memory ends itself.
    if (code === null) throw unreadable(signal === 'SIGKILL' ? 'it takes too long.' : 'it takes too much memory.')
    // Where the reader itself comes to grief it ends by a code that nobody chose; and it does so over the file.
    if (code !== 0 && code !== NOTHING) throw unreadable('it is damaged, or of another kind than it seems.')
  } finally {
    child.kill('SIGKILL')
    input.destroy()
  }
}
