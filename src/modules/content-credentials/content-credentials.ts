/** Reads and writes Content Credentials (C2PA manifests) with a limited concurrency, and opens the signing identity. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentCredentials } from '../../files/file-types.ts'
import { unavailable } from '../../shared/errors.ts'
import { createSemaphore, type Semaphore } from '../../shared/limiters.ts'
import type { Log } from '../../shared/log.ts'
import { ConfigError, FixableError } from '../../shared/operator-errors.ts'
import { readOrCreate } from '../../shared/private-files.ts'
import { NAME, runManifestProcess } from './run-manifest-process.ts'
import {
  askForStamp,
  makeDevelopmentChain,
  readCertificates,
  readSigningIdentity,
  reservedBytes,
  type SigningIdentity,
  STAMP_BYTES,
  signClaim,
} from './signing-identity.ts'

/** Timeouts for writing and reading a file, in milliseconds. A job that takes more than 20 seconds is given to another process. */
const [PATIENCE_MS, READ_PATIENCE_MS] = [30_000, 15_000]
/** Maximum concurrent writes and reads. Each uses a core and several hundred megabytes. Background reads do not delay writes. */
const [WRITTEN_AT_ONCE, READ_AT_ONCE] = [2, 1]
/** Time for which a failed time stamp authority is not asked again, in milliseconds. Each attempt may take ten seconds. */
const AUTHORITY_RESTS_MS = 600_000
/** Maximum size of a report, and of a file with its manifest, in bytes. Larger reports are not legitimate. */
const [MOST_REPORT_BYTES, MOST_FILE_BYTES] = [2_000_000, 60_000_000]

interface SignerConfig {
  /** Private key in PEM format. */
  key: string | undefined
  /** Path of the key's certificates in PEM format. */
  certificates: string | undefined
  /** True if a generated development certificate may be used instead. */
  mayBeDevelopment: boolean
}

/** Reads a configured file. Throws an Error that names the variable. */
function readNamedFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The file in ${variable} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const developmentFile = (dir: string) => join(dir, 'keys', 'content-credentials-development.pem')

function readDevelopmentIdentity(file: string): SigningIdentity {
  const pem = readFileSync(file, 'utf8')
  try {
    return readSigningIdentity(pem, pem)
  } catch {
    // The original error names variables that are not set, so it is replaced.
    const finding = `${file} is damaged: it contains no key with certificates.`
    throw new FixableError(finding, 'Delete the file. A new one is created.')
  }
}

/** Returns the configured signing identity, or the development identity below `dir` if it is permitted and exists. Throws an Error for an invalid one. */
export function findSigningIdentity({ key, certificates, mayBeDevelopment }: SignerConfig, dir: string) {
  if (key !== undefined && certificates !== undefined)
    return readSigningIdentity(key, readNamedFile('C2PA_CERTIFICATES', certificates))
  const file = developmentFile(dir)
  return mayBeDevelopment && existsSync(file) ? readDevelopmentIdentity(file) : undefined
}

/** Returns the signing identity like `findSigningIdentity`. Creates the development identity if it does not exist. */
export function openSigningIdentity(config: SignerConfig, dir: string) {
  if (config.certificates === undefined && config.mayBeDevelopment) {
    readOrCreate(developmentFile(dir), () => Object.values(makeDevelopmentChain(new Date())).join(''))
  }
  return findSigningIdentity(config, dir)
}

/** Returns the trust list for checking other signers, and its name. Throws an Error if it contains no certificates. */
export function readTrustList(path: string): { pem: string; name: string } {
  const pem = readNamedFile('C2PA_TRUST_LIST', path)
  const { length } = readCertificates(pem)
  if (length === 0) throw new Error('The file in C2PA_TRUST_LIST contains no PEM certificate.')
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 16)
  return { pem, name: `C2PA_TRUST_LIST: ${length} certificates, sha256 ${digest}…` }
}

interface Options {
  /** Data folder of the installation. */
  dir: string
  config: SignerConfig & {
    timestampUrl: string | undefined
    /** Path of a file with trusted certificates in PEM format. */
    trustList: string | undefined
  }
  /** Timeout per file, in milliseconds. */
  patience?: number
  log?: Pick<Log, 'warn'>
}

/** Reads the files that C2PA variables name. Throws ConfigError, and FixableError for a damaged development certificate. */
export function checkContentCredentials({ config, dir }: Pick<Options, 'config' | 'dir'>): void {
  try {
    findSigningIdentity(config, dir)
    if (config.trustList !== undefined) readTrustList(config.trustList)
  } catch (error) {
    throw error instanceof FixableError ? error : new ConfigError([(error as Error).message])
  }
}

/** Creates the reader and writer of manifests. At most 20 files wait. The signing identity is opened on first use. */
export function createContentCredentials({ dir, config, patience = PATIENCE_MS, log }: Options): ContentCredentials {
  const { timestampUrl } = config
  const queue = { name: NAME, queue: 20, maxWait: 60_000, reject: () => unavailable(NAME) }
  const writing = createSemaphore({ ...queue, places: WRITTEN_AT_ONCE })
  const reading = createSemaphore({ ...queue, places: READ_AT_ONCE })
  const stampBytes = timestampUrl === undefined ? 0 : STAMP_BYTES
  let opened: { identity: SigningIdentity | undefined } | undefined
  const identityNow = () => {
    opened ??= { identity: openSigningIdentity(config, dir) }
    const { identity } = opened
    if (identity && identity.expiresAt.getTime() <= Date.now()) {
      throw unavailable('Signing Content Credentials', new Error('The certificate in C2PA_CERTIFICATES has expired.'))
    }
    return identity
  }
  let authorityRestsUntil = 0
  const isResting = () => performance.now() < authorityRestsUntil
  /** Returns a time stamp token, or undefined if the authority gives none. The file is then signed without one. */
  const stamp = async (bytes: Uint8Array) => {
    if (timestampUrl === undefined || isResting()) return undefined
    try {
      return await askForStamp(timestampUrl, bytes)
    } catch (error) {
      authorityRestsUntil = performance.now() + AUTHORITY_RESTS_MS
      log?.warn({ reason: String(error) }, 'Time-stamping authority failed; signing files without a time stamp')
      return undefined
    }
  }

  return {
    signedBy() {
      const identity = identityNow()
      if (!identity) return undefined
      const best = `${identity.fingerprint} ${timestampUrl ?? ''}`
      return timestampUrl !== undefined && isResting() ? [best, `${identity.fingerprint} unstamped`] : [best]
    },
    async *write(source, { format, ...request }) {
      const identity = identityNow()
      if (!identity) throw unavailable('Signing Content Credentials')
      const reserve = reservedBytes(identity, stampBytes)
      const run = () =>
        runManifestProcess({
          source,
          order: { format, write: { ...request, algorithm: identity.algorithm.name, reserve } },
          sign: (claim) => signClaim(identity, claim, reserve, stamp),
          patience,
          mostBytes: MOST_FILE_BYTES,
        })
      yield* throughQueue(writing, run)
    },
    async read(source, format) {
      const trusted = config.trustList === undefined ? undefined : readTrustList(config.trustList)
      return reading(async () => {
        const order = { format, trustList: trusted?.pem }
        const limits = { patience: Math.min(patience, READ_PATIENCE_MS), mostBytes: MOST_REPORT_BYTES }
        const chunks: Buffer[] = []
        for await (const chunk of runManifestProcess({ source, order, ...limits })) chunks.push(chunk)
        if (chunks.length === 0) return undefined
        return { report: Buffer.concat(chunks).toString(), trustList: trusted?.name ?? null }
      })
    },
  }
}

/** Runs a generator in the queue. The slot is held until all output is consumed or the consumer stops. */
async function* throughQueue<T>(semaphore: Semaphore, run: () => AsyncGenerator<T>) {
  const left = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const place = semaphore(async () => {
    entered.resolve()
    await left.promise
  })
  place.catch(entered.reject)
  await entered.promise
  try {
    yield* run()
  } finally {
    left.resolve()
  }
}
