/** Objects in an S3-compatible bucket. It needs atomic writes, strong consistency and presigned URLs that expire. */
import { createHash, randomUUID } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import * as s3 from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { undefinedIf } from '../shared/async.ts'
import { DomainError, insufficientStorage, isNotFound, notFound, unavailable } from '../shared/errors.ts'

/** Credentials come from the default provider chain of the AWS SDK. */
export interface S3BucketOptions {
  bucket: string
  prefix: string
  region: string
  /** URL of the S3 API. Default: AWS. */
  endpoint?: string | undefined
  /** True if URLs contain the bucket name in the path, not in the host name. */
  isPathStyle: boolean
  /** Timeout of one request with its retries, in milliseconds. */
  timeoutMs?: number
}

/** Size of an object in bytes, and times of the storage's clock in milliseconds. `now` is the time of the response. */
type ObjectStat = { length: number; changedAt: number; now: number }

/** A key without the prefix, and the time of its last change by the storage's clock, in milliseconds. */
export type ListedObject = { key: string; changedAt: number }

export type S3Bucket = ReturnType<typeof createS3Bucket>

const MAX_ATTEMPTS = 3
/** Lifetime of a presigned deletion after the check of the object, in seconds. */
const DELETION_SECONDS = 5
const STORAGE_FULL = /StorageFull|QuotaExceeded|InsufficientStorage|NoSpace|no space left|quota exceeded/i

const storeFailure = (message: string) => unavailable('The file store', new Error(message))

export const createS3Bucket = (options: S3BucketOptions) => {
  const { bucket, prefix, region, endpoint, isPathStyle, timeoutMs = 15_000 } = options
  // Each upload writes several blocks at a time.
  const agent = { maxSockets: 200 }
  const client = new s3.S3Client({
    region,
    forcePathStyle: isPathStyle,
    // Some S3-compatible storages do not support the newer checksums. Each block name is a checksum of the block.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: 3_000, httpsAgent: agent, httpAgent: agent },
    ...(endpoint !== undefined && { endpoint }),
  })
  // The ages of objects are computed with the clock of the storage.
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const { headers } = result.response as { headers?: Record<string, string> }
      Object.assign((result.output as { $metadata: object }).$metadata, { date: Date.parse(headers?.date ?? '') })
      return result
    },
    { step: 'deserialize', priority: 'high', name: 'storeDate' },
  )

  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })

  /** Sends a request with a timeout. Throws NOT_FOUND, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const request = async <T>(
    run: (abortSignal: AbortSignal) => Promise<T>,
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
      return await Promise.race([run(signal), aborted])
    } catch (error) {
      cancel?.throwIfAborted()
      throw deadline.aborted ? storeFailure(`no response within ${within} ms`) : toDomainError(error)
    }
  }

  /** Returns the time of the storage's clock. Throws UNAVAILABLE, for example if the bucket is missing. */
  const readClock = (within?: number, cancel?: AbortSignal) => {
    const head = new s3.HeadBucketCommand({ Bucket: bucket })
    return request(async (abortSignal) => timeOf(await client.send(head, { abortSignal })), { within, cancel }).catch(
      throwUnavailable,
    )
  }

  /** Returns size and times of an object, or undefined if the object does not exist. Throws UNAVAILABLE. */
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

    /** Writes an object. `sha256`: checksum to verify (base64). Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
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

    /** Reads an object. Retries interrupted (unlike the SDK) and invalid bodies. Throws NOT_FOUND, UNAVAILABLE. */
    get: (
      key: string,
      { within, isValid = () => true }: { within?: number; isValid?(bytes: Uint8Array): boolean } = {},
    ) =>
      request(
        async (abortSignal) => {
          for (let attempt = 1; ; attempt += 1) {
            const { Body } = await client.send(new s3.GetObjectCommand(at(key)), { abortSignal })
            try {
              addAbortSignal(abortSignal, Body as Readable)
              const bytes = await Body!.transformToByteArray()
              if (isValid(bytes)) return bytes
              throw storeFailure(`S3 returned wrong bytes for the object ${key}.`)
            } catch (error) {
              if (attempt === MAX_ATTEMPTS || abortSignal.aborted) throw error
            }
          }
        },
        { within },
      ),

    /** Returns the size of an object in bytes. Throws NOT_FOUND, UNAVAILABLE. */
    async length(key: string): Promise<number> {
      const found = await stat(key)
      // A HEAD response has no body, so it does not distinguish a missing object from a missing bucket.
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

    /** Deletes by a URL that expires soon, so a suspended process deletes nothing later. Returns false if expired. */
    removeChecked: (key: string, { now }: ObjectStat, cancel?: AbortSignal): Promise<boolean> =>
      request(
        async (signal) => {
          const expiry = { expiresIn: DELETION_SECONDS, signingDate: new Date(now) }
          const url = await getSignedUrl(client, new s3.DeleteObjectCommand(at(key)), expiry)
          const response = await fetch(url, { method: 'DELETE', signal, redirect: 'error' })
          const text = await response.text().catch(() => '')
          if (response.ok || response.status === 404) return response.ok
          if (response.status === 403 && /expired/i.test(text)) return false
          const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code'
          throw storeFailure(`S3 responded to a deletion with status ${response.status} ${code}.`)
        },
        { cancel },
      ),

    /** Deletes an object that no other process writes. Throws UNAVAILABLE. */
    async remove(key: string): Promise<void> {
      const remove = new s3.DeleteObjectCommand(at(key))
      await request((abortSignal) => client.send(remove, { abortSignal })).catch(undefinedIf(isNotFound))
    },

    /** Returns true if the bucket keeps versions of deleted objects, or undefined if the storage does not report it. */
    async keepsVersions(): Promise<boolean | undefined> {
      const command = new s3.GetBucketVersioningCommand({ Bucket: bucket })
      const found = await request((abortSignal) => client.send(command, { abortSignal })).catch(() => undefined)
      return found && found.Status === 'Enabled'
    },
  }
}

/** Matches the keys of objects that `tryBucket` writes. */
export const trialKey = /^trial-[0-9a-f-]{36}$/

/** Tests writing, listing, reading and deleting an object. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
export const tryBucket = async (bucket: S3Bucket): Promise<void> => {
  const key = `trial-${randomUUID()}`
  const bytes = Buffer.from('Annal tests whether it can write to this bucket.')
  await bucket.list().next()
  await bucket.put(key, bytes, { sha256: createHash('sha256').update(bytes).digest('base64') })
  try {
    await bucket.get(key, { isValid: (found) => bytes.equals(found) })
    const seen = await bucket.stat(key)
    if (!seen || !(await bucket.removeChecked(key, seen)))
      throw storeFailure('S3 treats new presigned links as expired.')
  } finally {
    await bucket.remove(key).catch(() => undefined)
  }
}

const timeOf = ({ $metadata }: { $metadata: object }): number => {
  const { date } = $metadata as { date: number }
  if (Number.isNaN(date)) throw new Error('The response of S3 has no date.')
  return date
}

/** Converts NOT_FOUND to UNAVAILABLE for a request that concerns no object. The bucket is missing then. */
const throwUnavailable = (error: unknown): never => {
  throw isNotFound(error) ? storeFailure('S3 does not have the bucket.') : error
}

/** Converts an error of the SDK. The cause contains no properties of that error, such as signatures and the request. */
const toDomainError = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error
  const { name, message, code, cause, $metadata } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode
  const inner = cause instanceof Error ? ((cause as { code?: string }).code ?? cause.name) : undefined
  const words = [status, name, code ?? inner, message].filter((word) => word && !/^Unknown(Error)?$/.test(String(word)))
  const redacted = new Error(`S3: ${words.join(' ').slice(0, 300)}`)
  if (status === 507 || STORAGE_FULL.test(redacted.message)) return insufficientStorage(redacted)
  const isObject = status === 404 && name !== 'NoSuchBucket'
  return isObject ? Object.assign(notFound('File'), { cause: redacted }) : unavailable('The file store', redacted)
}
