/** Content Credentials (C2PA): who signs here, and manifests read and written, few at once. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentCredentials } from '../../files/file-types.ts'
import { unavailable } from '../../shared/errors.ts'
import type { Log } from '../../shared/log.ts'
import { FixableError } from '../../shared/operator-errors.ts'
import { readOrCreate } from '../../shared/private-files.ts'
import { createSemaphore, type Semaphore } from '../../shared/semaphore.ts'
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

/** From the first byte to the last: 50 MB take six seconds of a core that nobody else wants. Milliseconds. */
const PATIENCE_MS = 30_000
/** Each takes a core and some hundred megabytes for a moment. Those that are read, by jobs, keep nobody waiting who wants one. */
const WRITTEN_AT_ONCE = 2
const READ_AT_ONCE = 1
/** How long an authority that gave no time stamp is not asked again: each question may take ten seconds. Milliseconds. */
const AUTHORITY_RESTS_MS = 600_000
/** Jobs are given to another process when they take longer than 20 seconds. Milliseconds. */
const READ_PATIENCE_MS = 15_000
/** Of a report, in bytes: a manifest that tells more is none that anybody made to be read. */
const MOST_REPORT_BYTES = 2_000_000
/** Of a file with its manifest. */
const MOST_FILE_BYTES = 60_000_000

/** Who signs, as it is configured. */
export interface SignerConfig {
  /** A private key in PEM. */
  key: string | undefined
  /** Path of its certificates in PEM. */
  certificates: string | undefined
  /** Whether a chain of our own may stand in for them. */
  mayBeDevelopment: boolean
}

/** Reads a file that the configuration names. Raises an Error that names the variable. */
function readNamedFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The file that ${variable} names cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const developmentFile = (dir: string) => join(dir, 'keys', 'content-credentials-development.pem')

function readDevelopmentIdentity(file: string): SigningIdentity {
  const pem = readFileSync(file, 'utf8')
  try {
    return readSigningIdentity(pem, pem)
  } catch {
    // What it says names variables, of which none is set.
    throw new FixableError(`${file} is damaged: it holds no key with its certificates.`, 'Delete it; another is made.')
  }
}

/**
 * Who signs: what is configured, or the development chain below `dir`; undefined where neither is to be used, or none is made yet.
 * Raises an Error that says what is wrong.
 */
export function findSigningIdentity({ key, certificates, mayBeDevelopment }: SignerConfig, dir: string) {
  if (key !== undefined && certificates !== undefined) {
    return readSigningIdentity(key, readNamedFile('C2PA_CERTIFICATES', certificates))
  }
  const file = developmentFile(dir)
  return mayBeDevelopment && existsSync(file) ? readDevelopmentIdentity(file) : undefined
}

/** The same, with a development chain that is made where there is none. */
export function openSigningIdentity(config: SignerConfig, dir: string) {
  if (config.certificates === undefined && config.mayBeDevelopment) {
    readOrCreate(developmentFile(dir), () => {
      const made = makeDevelopmentChain(new Date())
      return made.key + made.chain
    })
  }
  return findSigningIdentity(config, dir)
}

/** The certificates that signers of others are judged by, and how they are called. Raises an Error when there are none. */
export function readTrustList(path: string): { pem: string; name: string } {
  const pem = readNamedFile('C2PA_TRUST_LIST', path)
  const { length } = readCertificates(pem)
  if (length === 0) throw new Error('The file that C2PA_TRUST_LIST names holds no certificate in PEM.')
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 16)
  return { pem, name: `C2PA_TRUST_LIST: ${length} certificates, sha256 ${digest}…` }
}

interface Options {
  /** The installation's folder. */
  dir: string
  config: SignerConfig & {
    timestampUrl: string | undefined
    /** Path of certificates in PEM that are trusted. */
    trustList: string | undefined
  }
  /** Milliseconds for one file. */
  patience?: number
  log?: Pick<Log, 'warn'>
}

/** Creates the reader and writer of manifests. At most 20 files wait. The signing identity is opened at the first use. */
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
  /** Undefined: the authority gives none, which stops nothing. */
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

/** The place in the queue is held until all was taken, or nobody takes any more. */
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
