/**
 * Objects below a prefix in a bucket of an S3-compatible storage. The storage needs atomic writes, strong consistency
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel), and presigned URLs that expire.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import * as s3 from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { DomainError, insufficientStorage, notFound, unavailable } from '../shared/errors.ts'
import { timeoutError } from './kubo-store.ts'

/** The bucket. Credentials come from the default provider chain of the AWS SDK. */
export interface S3BucketOptions {
  bucket: string
  /** Prefix of all keys. */
  prefix: string
  region: string
  /** URL of the storage. Default: AWS. */
  endpoint?: string | undefined
  /** True if URLs have the bucket in their path instead of their host name. */
  isPathStyle: boolean
  /** Timeout of one request with its retries, in milliseconds. */
  timeoutMs?: number
}

/** Size and times of an object. Times are those of the storage, in milliseconds. */
export interface ObjectStat {
  /** Size in bytes. */
  length: number
  changedAt: number
  /** Time of the response, by the clock of the storage. */
  now: number
}

export interface ListedObject {
  /** Key without the prefix. */
  key: string
  /** Time of the storage, in milliseconds. */
  changedAt: number
}

export type S3Bucket = ReturnType<typeof createS3Bucket>

/** Maximum number of connections. Each upload writes several blocks at a time. */
const MAX_CONNECTIONS = 200
const CONNECT_MS = 3_000
const MAX_ATTEMPTS = 3
/** Lifetime of a presigned deletion after the check of the object, in seconds. */
export const REMOVAL_SECONDS = 5
/** Error codes of storages that are full or over quota. */
const NO_ROOM = /StorageFull|QuotaExceeded|InsufficientStorage|NoSpace|no space left|quota exceeded/i
const MAX_MESSAGE_LENGTH = 300

/** Creates the client of a bucket. It connects with the first request. */
export const createS3Bucket = ({
  bucket,
  prefix,
  region,
  endpoint,
  isPathStyle,
  timeoutMs = 15_000,
}: S3BucketOptions) => {
  const client = new s3.S3Client({
    region,
    forcePathStyle: isPathStyle,
    // Some storages do not support the newer checksums. Blocks have their own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      httpsAgent: { maxSockets: MAX_CONNECTIONS },
      httpAgent: { maxSockets: MAX_CONNECTIONS },
    },
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
    { cancel, within = timeoutMs }: { cancel?: AbortSignal | undefined; within?: number } = {},
  ): Promise<T> => {
    const deadline = AbortSignal.timeout(within)
    const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
    // The SDK ignores the signal while it reads credentials and bodies.
    const given = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    given.catch(() => undefined)
    try {
      signal.throwIfAborted()
      return await Promise.race([question(signal), given])
    } catch (error) {
      cancel?.throwIfAborted()
      throw deadline.aborted ? unavailable('The file store', timeoutError(within)) : toDomainError(error)
    }
  }

  /** Returns the time of the storage. Throws UNAVAILABLE, also if the bucket is missing. */
  const readClock = (within = timeoutMs, cancel?: AbortSignal) =>
    request(
      async (abortSignal) => timeOf(await client.send(new s3.HeadBucketCommand({ Bucket: bucket }), { abortSignal })),
      {
        within,
        cancel,
      },
    ).catch((error: unknown) => {
      throw isMissing(error) ? unavailable('The file store', new Error('S3 does not have the bucket.')) : error
    })

  /** Distinguishes a missing object from a missing bucket: responses without a body are the same. */
  const ifMissing = async (error: unknown): Promise<undefined> => {
    if (!isMissing(error)) throw error
    await readClock()
    return undefined
  }

  /** Reads an object. The SDK does not retry a response that is interrupted in its body. */
  const readWhole = async (object: ReturnType<typeof at>, abortSignal: AbortSignal): Promise<Uint8Array> => {
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
  const stat = (key: string, cancel?: AbortSignal): Promise<ObjectStat | undefined> =>
    request(
      async (abortSignal) => {
        const found = await client.send(new s3.HeadObjectCommand(at(key)), { abortSignal })
        return { length: found.ContentLength ?? 0, changedAt: found.LastModified?.getTime() ?? 0, now: timeOf(found) }
      },
      { cancel },
    ).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })

  return {
    readClock,
    stat,

    /**
     * Writes an object. Returns the time of the storage, in milliseconds. The storage rejects bytes with another `sha256` (base64). Throws
     * INSUFFICIENT_STORAGE, UNAVAILABLE.
     */
    put: (
      key: string,
      bytes: Uint8Array,
      { sha256, cancel }: { sha256?: string; cancel?: AbortSignal | undefined } = {},
    ) =>
      request(
        async (abortSignal) => {
          const put = new s3.PutObjectCommand({
            ...at(key),
            Body: bytes,
            ContentLength: bytes.byteLength,
            ContentType: 'application/octet-stream',
            ...(sha256 !== undefined && { ChecksumSHA256: sha256 }),
          })
          return timeOf(await client.send(put, { abortSignal }))
        },
        { cancel },
      ).catch((error: unknown) => {
        throw isMissing(error) ? unavailable('The file store', (error as DomainError).cause) : error
      }),

    /** Throws NOT_FOUND, UNAVAILABLE. */
    get: (key: string, within = timeoutMs): Promise<Uint8Array> =>
      request((abortSignal) => readWhole(at(key), abortSignal), { within }),

    /** Returns the size of an object in bytes. Throws NOT_FOUND, UNAVAILABLE. */
    async length(key: string): Promise<number> {
      const found = (await stat(key)) ?? (await readClock().then(() => undefined))
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
        yield (page.Contents ?? []).flatMap(({ Key, LastModified }) =>
          Key === undefined || LastModified === undefined
            ? []
            : [{ key: Key.slice(prefix.length), changedAt: LastModified.getTime() }],
        )
        if (!page.IsTruncated || page.NextContinuationToken === undefined) return
        token = page.NextContinuationToken
      }
    },

    /**
     * Deletes an object with a presigned URL that expires `REMOVAL_SECONDS` after the check of the object. So a suspended process cannot delete an object
     * that was written again later. Returns false if the URL had expired. Throws UNAVAILABLE.
     */
    async removeChecked(key: string, { now }: ObjectStat, cancel?: AbortSignal): Promise<boolean> {
      const url = await getSignedUrl(client, new s3.DeleteObjectCommand(at(key)), {
        expiresIn: REMOVAL_SECONDS,
        signingDate: new Date(now),
      }).catch((error: unknown) => {
        throw toDomainError(error)
      })
      const deadline = AbortSignal.timeout(timeoutMs)
      const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
      const answer = await fetch(url, { method: 'DELETE', signal, redirect: 'error' }).catch((error: unknown) => {
        throw unavailable('The file store', deadline.aborted ? timeoutError(timeoutMs) : redactedError(error))
      })
      const text = await answer.text().catch(() => '')
      if (answer.ok || answer.status === 404) return answer.ok
      if (answer.status === 403 && /expired/i.test(text)) return false
      const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code'
      throw unavailable('The file store', new Error(`S3 answered ${answer.status} ${code} to a removal.`))
    },

    /** Deletes an object that no other process writes. Throws UNAVAILABLE. */
    async remove(key: string): Promise<void> {
      await request((abortSignal) => client.send(new s3.DeleteObjectCommand(at(key)), { abortSignal })).catch(ifMissing)
    },

    /** Returns true if the bucket keeps versions of deleted objects. Returns undefined if the storage does not report it. */
    keepsVersions: (): Promise<boolean | undefined> =>
      request(async (abortSignal) => {
        const { Status } = await client.send(new s3.GetBucketVersioningCommand({ Bucket: bucket }), { abortSignal })
        return Status === 'Enabled'
      }).catch(() => undefined),
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
    if (!bytes.equals(await bucket.get(key))) throw unavailable('The file store', new Error('S3 gave other bytes.'))
    const seen = await bucket.stat(key)
    if (!seen || !(await bucket.removeChecked(key, seen)))
      throw unavailable('The file store', new Error('S3 takes links with a signature for expired at once.'))
  } finally {
    await bucket.remove(key).catch(() => undefined)
  }
}

/** Returns the time of the storage from a response. */
const timeOf = ({ $metadata }: { $metadata: object }): number => {
  const { date } = $metadata as { date: number }
  if (Number.isNaN(date)) throw new Error('S3 answered without a date.')
  return date
}

const isMissing = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND'

/** Maps NOT_FOUND to UNAVAILABLE, for requests about no object. */
const throwUnavailable = (error: unknown): never => {
  throw isMissing(error) ? unavailable('The file store', (error as DomainError).cause) : error
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
