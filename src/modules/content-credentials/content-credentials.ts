/** Reads and writes Content Credentials (C2PA manifests) with limited concurrency, and opens the signing identity. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { ContentCredentials } from '../../files/file-types.ts'
import { unavailable, validationFailed } from '../../shared/errors.ts'
import { createSemaphore, type Semaphore } from '../../shared/limiters.ts'
import type { Log } from '../../shared/log.ts'
import { ConfigError, FixableError } from '../../shared/operator-errors.ts'
import { readOrCreate } from '../../shared/private-files.ts'
import { startSandboxedProcess } from '../../shared/sandboxed-process.ts'
import type { ManifestOrder } from './manifest-process.ts'
import * as signing from './signing-identity.ts'

const { readCertificates, readSigningIdentity } = signing

/** Timeouts for writing and reading a file, in milliseconds. Jobs have 20 seconds. */
const [WRITE_TIMEOUT_MS, READ_TIMEOUT_MS] = [30_000, 15_000]
/** Time without requests to a time stamp authority after an error, in milliseconds. */
const AUTHORITY_PAUSE_MS = 600_000
/** Maximum size of a report, and of a file with its manifest, in bytes. Larger reports are not legitimate. */
const [MAX_REPORT_BYTES, MAX_FILE_BYTES] = [2_000_000, 60_000_000]

/** `key`: private key in PEM format. `certificates`: path of the certificates in PEM format. */
interface SignerConfig {
  key: string | undefined
  certificates: string | undefined
  /** True if a generated development certificate may be used instead. */
  mayBeDevelopment: boolean
}

/** Throws an Error that names the variable. */
function readNamedFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The file in ${variable} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const developmentFile = (dir: string) => join(dir, 'keys', 'content-credentials-development.pem')

/** Returns the configured or the existing development identity. Throws an Error for an invalid one. */
export function findSigningIdentity({ key, certificates, mayBeDevelopment }: SignerConfig, dir: string) {
  if (key !== undefined && certificates !== undefined)
    return readSigningIdentity(key, readNamedFile('C2PA_CERTIFICATES', certificates))
  const file = developmentFile(dir)
  if (!mayBeDevelopment || !existsSync(file)) return undefined
  const pem = readFileSync(file, 'utf8')
  try {
    return readSigningIdentity(pem, pem)
  } catch {
    // The original error names variables that are not set.
    const finding = `${file} is damaged: it contains no key with certificates.`
    throw new FixableError(finding, 'Delete the file. Annal then creates a new file.')
  }
}

/** Returns the result of `findSigningIdentity`. Creates the development identity if it does not exist. */
export function openSigningIdentity(config: SignerConfig, dir: string) {
  if (config.certificates === undefined && config.mayBeDevelopment) {
    readOrCreate(developmentFile(dir), () => Object.values(signing.makeDevelopmentChain(new Date())).join(''))
  }
  return findSigningIdentity(config, dir)
}

/** Throws an Error if the trust list contains no certificates. */
function readTrustList(path: string): { pem: string; name: string } {
  const pem = readNamedFile('C2PA_TRUST_LIST', path)
  const { length } = readCertificates(pem)
  if (length === 0) throw new Error('The file in C2PA_TRUST_LIST contains no PEM certificate.')
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 16)
  return { pem, name: `C2PA_TRUST_LIST: ${length} certificates, sha256 ${digest}…` }
}

interface Options {
  /** Data folder of the installation. */
  dir: string
  /** `trustList`: path of the trusted certificates in PEM format. */
  config: SignerConfig & { timestampUrl: string | undefined; trustList: string | undefined }
  timeoutMs?: number
  log?: Pick<Log, 'warn'>
}

/** Reads the files that C2PA variables name. Throws ConfigError, FixableError. */
export function checkContentCredentials({ config, dir }: Pick<Options, 'config' | 'dir'>): void {
  try {
    findSigningIdentity(config, dir)
    if (config.trustList !== undefined) readTrustList(config.trustList)
  } catch (error) {
    throw error instanceof FixableError ? error : new ConfigError([(error as Error).message])
  }
}

/** Creates the reader and writer of manifests. At most 20 files wait. The signing identity is opened on first use. */
export function createContentCredentials(options: Options): ContentCredentials {
  const { dir, config, timeoutMs = WRITE_TIMEOUT_MS, log } = options
  const { timestampUrl } = config
  const queue = { name: NAME, queue: 20, maxWait: 60_000, reject: () => unavailable(NAME) }
  // Each process uses a core and several hundred megabytes.
  const writing = createSemaphore({ ...queue, slots: 2 })
  const reading = createSemaphore({ ...queue, slots: 1 })
  const stampBytes = timestampUrl === undefined ? 0 : signing.STAMP_BYTES
  let opened: { identity: signing.SigningIdentity | undefined } | undefined
  /** Throws UNAVAILABLE if the certificate has expired. */
  const currentIdentity = () => {
    opened ??= { identity: openSigningIdentity(config, dir) }
    const { identity } = opened
    if (identity && identity.expiresAt.getTime() <= Date.now()) {
      throw unavailable('Signing Content Credentials', new Error('The certificate in C2PA_CERTIFICATES has expired.'))
    }
    return identity
  }
  let authorityPausedUntil = 0
  const isPaused = () => performance.now() < authorityPausedUntil
  const stamp = async (bytes: Uint8Array) => {
    if (timestampUrl === undefined || isPaused()) return undefined
    try {
      return await signing.requestTimeStamp(timestampUrl, bytes)
    } catch (error) {
      authorityPausedUntil = performance.now() + AUTHORITY_PAUSE_MS
      log?.warn({ reason: String(error) }, 'Time-stamping authority failed; signing files without a time stamp')
      return undefined
    }
  }

  return {
    signedBy() {
      const identity = currentIdentity()
      if (!identity) return undefined
      const best = `${identity.fingerprint} ${timestampUrl ?? ''}`
      return timestampUrl !== undefined && isPaused() ? [best, `${identity.fingerprint} unstamped`] : [best]
    },
    async *write(source, { format, ...request }) {
      const identity = currentIdentity()
      if (!identity) throw unavailable('Signing Content Credentials')
      const reserve = signing.reservedBytes(identity, stampBytes)
      const order = { format, write: { ...request, algorithm: identity.algorithm.name, reserve } }
      const sign = (claim: Uint8Array) => signing.signClaim(identity, claim, reserve, stamp)
      const run = () => runManifestProcess({ source, order, sign, timeoutMs, maxBytes: MAX_FILE_BYTES })
      yield* throughQueue(writing, run)
    },
    async read(source, format) {
      const trusted = config.trustList === undefined ? undefined : readTrustList(config.trustList)
      return reading(async () => {
        const order = { format, trustList: trusted?.pem }
        const limits = { timeoutMs: Math.min(timeoutMs, READ_TIMEOUT_MS), maxBytes: MAX_REPORT_BYTES }
        const report = await text(runManifestProcess({ source, order, ...limits }))
        return report === '' ? undefined : { report, trustList: trusted?.name ?? null }
      })
    },
  }
}

/** The generator occupies its place in the queue until all output is consumed or the consumer stops. */
async function* throughQueue<T>(semaphore: Semaphore, run: () => AsyncGenerator<T>) {
  const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  semaphore(() => {
    started.resolve()
    return ended.promise
  }).catch(started.reject)
  await started.promise
  try {
    yield* run()
  } finally {
    ended.resolve()
  }
}

const NAME = 'Reading and writing Content Credentials'
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
  sign?: (claim: Uint8Array) => Promise<Uint8Array>
  timeoutMs: number
  maxBytes: number
}

/**
 * Yields the output of the process, or nothing if the file has no manifest. Throws the errors of the source and of `sign`.
 * Throws VALIDATION_FAILED if the file cannot be processed, even after the first chunks. Throws UNAVAILABLE.
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
