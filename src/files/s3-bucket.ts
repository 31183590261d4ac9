/** Objects in a bucket of an S3-compatible storage with atomic writes, strong consistency, and presigned URLs that expire. */
import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import * as s3 from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { undefinedIf } from '../shared/async.ts'
import { DomainError, insufficientStorage, isNotFound, notFound, unavailable } from '../shared/errors.ts'

/** The bucket. Credentials come from the default provider chain of the AWS SDK. */
export interface S3BucketOptions {
  bucket: string
  prefix: string
  region: string
  /** URL of the storage. Default: AWS. */
  endpoint?: string | undefined
  /** True if URLs have the bucket in their path instead of their host name. */
  isPathStyle: boolean
  /** Timeout of one request with its retries, in milliseconds. */
  timeoutMs?: number
}

/** Size in bytes and times of an object. `now` is the time of the response. Times are those of the storage, in milliseconds. */
export type ObjectStat = { length: number; changedAt: number; now: number }

/** A key without the prefix, and its time of the storage in milliseconds. */
export type ListedObject = { key: string; changedAt: number }

export type S3Bucket = ReturnType<typeof createS3Bucket>

/** Maximum number of connections. Each upload writes several blocks at a time. */
const MAX_CONNECTIONS = 200
const MAX_ATTEMPTS = 3
/** Lifetime of a presigned deletion after the check of the object, in seconds. */
const REMOVAL_SECONDS = 5
const NO_ROOM = /StorageFull|QuotaExceeded|InsufficientStorage|NoSpace|no space left|quota exceeded/i
const MAX_MESSAGE_LENGTH = 300

const storeFailure = (message: string) => unavailable('The file store', new Error(message))
const timeoutFailure = (milliseconds: number) => storeFailure(`no answer within ${milliseconds} ms`)

export const createS3Bucket = (options: S3BucketOptions) => {
  const { bucket, prefix, region, endpoint, isPathStyle, timeoutMs = 15_000 } = options
  const agent = { maxSockets: MAX_CONNECTIONS }
  const client = new s3.S3Client({
    region,
    forcePathStyle: isPathStyle,
    // Some storages do not support the newer checksums. Blocks have their own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: 3_000, httpsAgent: agent, httpAgent: agent },
    ...(endpoint !== undefined && { endpoint }),
  })
  // Ages are computed with the clock of the storage.
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args)
      const { headers } = answer.response as { headers?: Record<string, string> }
      Object.assign((answer.output as { $metadata: object }).$metadata, { date: Date.parse(headers?.date ?? '') })
      return answer
    },
    { step: 'deserialize', priority: 'high', name: 'rememberDate' },
  )

  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })

  /** Sends a request with a timeout. Throws NOT_FOUND, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const request = async <T>(
    question: (abortSignal: AbortSignal) => Promise<T>,
    { cancel, within = timeoutMs }: { cancel?: AbortSignal | undefined; within?: number | undefined } = {},
  ): Promise<T> => {
    const deadline = AbortSignal.timeout(within)
    const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
    // The SDK ignores the signal while it reads credentials and bodies.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    aborted.catch(() => undefined)
    try {
      signal.throwIfAborted()
      return await Promise.race([question(signal), aborted])
    } catch (error) {
      cancel?.throwIfAborted()
      throw deadline.aborted ? timeoutFailure(within) : toDomainError(error)
    }
  }

  /** Returns the time of the storage. Throws UNAVAILABLE, also if the bucket is missing. */
  const readClock = (within?: number, cancel?: AbortSignal) =>
    request(
      async (abortSignal) => timeOf(await client.send(new s3.HeadBucketCommand({ Bucket: bucket }), { abortSignal })),
      {
        ...{ within, cancel },
      },
    ).catch((error: unknown) => {
      throw isNotFound(error) ? storeFailure('S3 does not have the bucket.') : error
    })

  /** Reads an object. The SDK does not retry a response that is interrupted in its body. */
  const readWhole = async (object: ReturnType<typeof at>, abortSignal: AbortSignal) => {
    for (let tries = 1; ; tries += 1) {
      const { Body } = await client.send(new s3.GetObjectCommand(object), { abortSignal })
      const abort = () => (Body as Readable).destroy()
      abortSignal.addEventListener('abort', abort, { once: true })
      try {
        return await Body!.transformToByteArray()
      } catch (error) {
        if (tries === MAX_ATTEMPTS || abortSignal.aborted) throw error
      } finally {
        abortSignal.removeEventListener('abort', abort)
      }
    }
  }

  /** Returns size and times of an object, or undefined. Throws UNAVAILABLE. */
  const stat = (key: string, cancel?: AbortSignal): Promise<ObjectStat | undefined> => {
    const look = async (abortSignal: AbortSignal) => {
      const found = await client.send(new s3.HeadObjectCommand(at(key)), { abortSignal })
      return { length: found.ContentLength ?? 0, changedAt: found.LastModified?.getTime() ?? 0, now: timeOf(found) }
    }
    return request(look, { cancel }).catch(undefinedIf(isNotFound))
  }

  return {
    readClock,
    stat,

    /** Writes an object. Returns the time of the storage, in milliseconds. `sha256` is checked, in base64. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
    put(key: string, bytes: Uint8Array, options: { sha256?: string; cancel?: AbortSignal | undefined } = {}) {
      const put = new s3.PutObjectCommand({
        ...at(key),
        Body: bytes,
        ContentLength: bytes.byteLength,
        ContentType: 'application/octet-stream',
        ...(options.sha256 !== undefined && { ChecksumSHA256: options.sha256 }),
      })
      return request(async (abortSignal) => timeOf(await client.send(put, { abortSignal })), options).catch(
        throwUnavailable,
      )
    },

    /** Throws NOT_FOUND, UNAVAILABLE. */
    get: (key: string, within?: number): Promise<Uint8Array> =>
      request((abortSignal) => readWhole(at(key), abortSignal), { within }),

    /** Returns the size of an object in bytes. Throws NOT_FOUND, UNAVAILABLE. */
    async length(key: string): Promise<number> {
      const found = await stat(key)
      // Responses without a body do not distinguish a missing object from a missing bucket.
      if (!found) await readClock()
      if (!found) throw notFound('File')
      return found.length
    },

    /** Yields all objects below the prefix in pages. Throws UNAVAILABLE. */
    async *list(cancel?: AbortSignal): AsyncGenerator<ListedObject[]> {
      for (let token: string | undefined; ; ) {
        const list = new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token })
        const page = await request((abortSignal) => client.send(list, { abortSignal }), { cancel }).catch(
          throwUnavailable,
        )
        yield (page.Contents ?? []).flatMap(({ Key: key, LastModified: changed }) =>
          key && changed ? [{ key: key.slice(prefix.length), changedAt: changed.getTime() }] : [],
        )
        token = page.NextContinuationToken
        if (!page.IsTruncated || token === undefined) return
      }
    },

    /** Deletes an object with a presigned URL that expires soon, so that a suspended process deletes nothing later. Returns false if it expired. */
    async removeChecked(key: string, { now }: ObjectStat, cancel?: AbortSignal): Promise<boolean> {
      const expiry = { expiresIn: REMOVAL_SECONDS, signingDate: new Date(now) }
      const url = await getSignedUrl(client, new s3.DeleteObjectCommand(at(key)), expiry).catch((error: unknown) => {
        throw toDomainError(error)
      })
      const deadline = AbortSignal.timeout(timeoutMs)
      const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
      const answer = await fetch(url, { method: 'DELETE', signal, redirect: 'error' }).catch((error: unknown) => {
        throw deadline.aborted ? timeoutFailure(timeoutMs) : unavailable('The file store', redactedError(error))
      })
      const text = await answer.text().catch(() => '')
      if (answer.ok || answer.status === 404) return answer.ok
      if (answer.status === 403 && /expired/i.test(text)) return false
      const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code'
      throw storeFailure(`S3 answered ${answer.status} ${code} to a removal.`)
    },

    /** Deletes an object that no other process writes. Throws UNAVAILABLE. */
    remove: async (key: string): Promise<void> =>
      void (await request((abortSignal) => client.send(new s3.DeleteObjectCommand(at(key)), { abortSignal })).catch(
        undefinedIf(isNotFound),
      )),

    /** Returns true if the bucket keeps versions of deleted objects. Returns undefined if the storage does not report it. */
    async keepsVersions(): Promise<boolean | undefined> {
      const ask = new s3.GetBucketVersioningCommand({ Bucket: bucket })
      const found = await request((abortSignal) => client.send(ask, { abortSignal })).catch(() => undefined)
      return found && found.Status === 'Enabled'
    },
  }
}

/** Matches the keys of objects that `tryBucket` writes. */
export const trialKey = /^trial-[0-9a-f-]{36}$/

/** Tests writing, listing, reading and deleting an object. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
export const tryBucket = async (bucket: S3Bucket): Promise<void> => {
  const key = `trial-${randomUUID()}`
  const bytes = Buffer.from('Annal tries whether it can write here.')
  await bucket.list().next()
  await bucket.put(key, bytes, { sha256: createHash('sha256').update(bytes).digest('base64') })
  try {
    if (!bytes.equals(await bucket.get(key))) throw storeFailure('S3 gave other bytes.')
    const seen = await bucket.stat(key)
    if (!seen || !(await bucket.removeChecked(key, seen)))
      throw storeFailure('S3 treats new presigned links as expired.')
  } finally {
    await bucket.remove(key).catch(() => undefined)
  }
}

const timeOf = ({ $metadata }: { $metadata: object }): number => {
  const { date } = $metadata as { date: number }
  if (Number.isNaN(date)) throw new Error('S3 answered without a date.')
  return date
}

/** Maps NOT_FOUND to UNAVAILABLE, for requests about no object. */
const throwUnavailable = (error: unknown): never => {
  throw isNotFound(error) ? unavailable('The file store', error.cause) : error
}

/** Returns the error without its other properties, such as signatures and the request. */
const redactedError = (error: unknown): Error => {
  const { name, message, code, cause, $metadata } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  const inner = cause instanceof Error ? ((cause as { code?: string }).code ?? cause.name) : undefined
  const words = [$metadata?.httpStatusCode, name, code ?? inner, message].filter(
    (word) => word !== undefined && word !== '' && !/^Unknown(Error)?$/.test(String(word)),
  )
  return new Error(`S3: ${words.join(' ').slice(0, MAX_MESSAGE_LENGTH)}`)
}

const toDomainError = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error
  const redacted = redactedError(error)
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status === 507 || NO_ROOM.test(redacted.message)) return insufficientStorage(redacted)
  const isObject = status === 404 && name !== 'NoSuchBucket'
  return isObject ? Object.assign(notFound('File'), { cause: redacted }) : unavailable('The file store', redacted)
}
