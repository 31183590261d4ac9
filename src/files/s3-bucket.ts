/**
 * Objects in one bucket of an S3-compatible storage, below a prefix. Needs of it what all of them have: objects that are there whole or
 * not, reading and listing that see what was written (https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel),
 * and that links with a signature expire.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import * as s3 from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { DomainError, insufficientStorage, notFound, unavailable } from '../shared/errors.ts'
import { tooSlow } from './timeout.ts'

/** Which bucket it is, and how patient its callers are. Credentials are had as the tools of AWS have them. */
export interface S3BucketOptions {
  bucket: string
  /** What the keys of all objects begin with. */
  prefix: string
  region: string
  /** Where the storage is; AWS when missing. */
  endpoint?: string | undefined
  /** Whether the bucket stands in the path of its addresses instead of before the name of the host. */
  isPathStyle: boolean
  /** Milliseconds that it may take for one object. */
  patience?: number
}

/** An object that is there. Times are the storage's own, in milliseconds. */
export interface SeenObject {
  /** Bytes. */
  length: number
  changedAt: number
  /** When it was looked at. */
  now: number
}

/** An object of a list. */
export interface ListedObject {
  /** Without the prefix. */
  key: string
  /** By the storage's clock, in milliseconds. */
  changedAt: number
}

/** Objects in a bucket; what `createS3Bucket` makes. */
export type S3Bucket = ReturnType<typeof createS3Bucket>

/** Uploads write several blocks at a time, and many come together. */
const MOST_CONNECTIONS = 200
const CONNECT_MS = 3_000
const MOST_TRIES = 3
/** Seconds from the look at an object to the end of the permission to remove it. */
export const REMOVAL_SECONDS = 5
/** How the codes are called by which storages say that they are full, or that all is used that was granted. */
const NO_ROOM = /StorageFull|QuotaExceeded|InsufficientStorage|NoSpace|no space left|quota exceeded/i
const MOST_OF_MESSAGE = 300

/** Opens nothing yet: whether the storage is there shows with the first question. */
export const createS3Bucket = ({
  bucket,
  prefix,
  region,
  endpoint,
  isPathStyle,
  patience = 15_000,
}: S3BucketOptions) => {
  const client = new s3.S3Client({
    region,
    forcePathStyle: isPathStyle,
    // Not every storage knows the newer checksums. Blocks bring their own.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: MOST_TRIES,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      httpsAgent: { maxSockets: MOST_CONNECTIONS },
      httpAgent: { maxSockets: MOST_CONNECTIONS },
    },
    ...(endpoint !== undefined && { endpoint }),
  })
  // Ages are reckoned by the storage's clock alone.
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

  /** One question, tries included. Raises NOT_FOUND, INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const ask = async <T>(
    question: (abortSignal: AbortSignal) => Promise<T>,
    { cancel, within = patience }: { cancel?: AbortSignal | undefined; within?: number } = {},
  ): Promise<T> => {
    const deadline = AbortSignal.timeout(within)
    const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
    // Credentials are looked for without heeding it, and bodies are read.
    const given = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    given.catch(() => undefined)
    try {
      signal.throwIfAborted()
      return await Promise.race([question(signal), given])
    } catch (error) {
      cancel?.throwIfAborted()
      throw deadline.aborted ? unavailable('The file store', tooSlow(within)) : refusal(error)
    }
  }

  /** The storage's time. Raises UNAVAILABLE, also when the bucket is missing. */
  const readClock = (within = patience, cancel?: AbortSignal) =>
    ask(
      async (abortSignal) => timeOf(await client.send(new s3.HeadBucketCommand({ Bucket: bucket }), { abortSignal })),
      {
        within,
        cancel,
      },
    ).catch((error: unknown) => {
      throw isMissing(error) ? unavailable('The file store', new Error('S3 does not have the bucket.')) : error
    })

  /** An answer without a body says of a missing object and of a missing bucket the same. */
  const ifMissing = async (error: unknown): Promise<undefined> => {
    if (!isMissing(error)) throw error
    await readClock()
    return undefined
  }

  /** The SDK asks again for an answer; for one that breaks off in the middle it does not. Raises what the SDK raises. */
  const readWhole = async (object: ReturnType<typeof at>, abortSignal: AbortSignal): Promise<Uint8Array> => {
    for (let tries = 1; ; tries += 1) {
      const { Body } = await client.send(new s3.GetObjectCommand(object), { abortSignal })
      const giveUp = () => (Body as Readable).destroy()
      abortSignal.addEventListener('abort', giveUp, { once: true })
      try {
        return await Body!.transformToByteArray()
      } catch (error) {
        if (tries === MOST_TRIES || abortSignal.aborted) throw error
      } finally {
        abortSignal.removeEventListener('abort', giveUp)
      }
    }
  }

  /** Undefined when it is not there. Raises UNAVAILABLE. */
  const look = (key: string, cancel?: AbortSignal): Promise<SeenObject | undefined> =>
    ask(
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
    look,

    /**
     * Writes an object whole or not at all, durably once this returns; when, by the storage's clock, in milliseconds. The storage refuses
     * bytes that have another `sha256` than this, base64. Raises INSUFFICIENT_STORAGE, UNAVAILABLE.
     */
    put: (
      key: string,
      bytes: Uint8Array,
      { sha256, cancel }: { sha256?: string; cancel?: AbortSignal | undefined } = {},
    ) =>
      ask(
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

    /** Raises NOT_FOUND, UNAVAILABLE. */
    get: (key: string, within = patience): Promise<Uint8Array> =>
      ask((abortSignal) => readWhole(at(key), abortSignal), { within }),

    /** Bytes. Raises NOT_FOUND, UNAVAILABLE. */
    async length(key: string): Promise<number> {
      const found = (await look(key)) ?? (await readClock().then(() => undefined))
      if (!found) throw notFound('File')
      return found.length
    },

    /** All objects below the prefix, a page at a time. Raises UNAVAILABLE. */
    async *list(cancel?: AbortSignal): AsyncGenerator<ListedObject[]> {
      for (let token: string | undefined; ; ) {
        const list = new s3.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token })
        const page = await ask((abortSignal) => client.send(list, { abortSignal }), { cancel }).catch(raiseAway)
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
     * Removes an object by a permission that ends `REMOVAL_SECONDS` after it was looked at, by the storage's clock: no process that stood still
     * removes what was written anew since. False when the permission had ended. Raises UNAVAILABLE.
     */
    async removeSeen(key: string, { now }: SeenObject, cancel?: AbortSignal): Promise<boolean> {
      const url = await getSignedUrl(client, new s3.DeleteObjectCommand(at(key)), {
        expiresIn: REMOVAL_SECONDS,
        signingDate: new Date(now),
      }).catch((error: unknown) => {
        throw refusal(error)
      })
      const deadline = AbortSignal.timeout(patience)
      const signal = cancel ? AbortSignal.any([cancel, deadline]) : deadline
      const answer = await fetch(url, { method: 'DELETE', signal, redirect: 'error' }).catch((error: unknown) => {
        throw unavailable('The file store', deadline.aborted ? tooSlow(patience) : toldOf(error))
      })
      const text = await answer.text().catch(() => '')
      if (answer.ok || answer.status === 404) return answer.ok
      if (answer.status === 403 && /expired/i.test(text)) return false
      const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code'
      throw unavailable('The file store', new Error(`S3 answered ${answer.status} ${code} to a removal.`))
    },

    /** Removes an object that nobody else writes. Raises UNAVAILABLE. */
    async remove(key: string): Promise<void> {
      await ask((abortSignal) => client.send(new s3.DeleteObjectCommand(at(key)), { abortSignal })).catch(ifMissing)
    },

    /** Whether the bucket keeps what is removed as earlier versions; undefined when the storage does not tell. */
    keepsVersions: (): Promise<boolean | undefined> =>
      ask(async (abortSignal) => {
        const { Status } = await client.send(new s3.GetBucketVersioningCommand({ Bucket: bucket }), { abortSignal })
        return Status === 'Enabled'
      }).catch(() => undefined),
  }
}

/** Keys of the objects by which it is tried whether objects can be written. */
export const trialKey = /^trial-[0-9a-f-]{36}$/

/** Writes, lists, reads and removes an object, each by the way that files take. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
export const tryBucket = async (bucket: S3Bucket): Promise<void> => {
  const key = `trial-${randomUUID()}`
  const bytes = Buffer.from('Annal tries whether it can write here.')
  await bucket.list().next()
  await bucket.put(key, bytes, { sha256: createHash('sha256').update(bytes).digest('base64') })
  try {
    if (!bytes.equals(await bucket.get(key))) throw unavailable('The file store', new Error('S3 gave other bytes.'))
    const seen = await bucket.look(key)
    if (!seen || !(await bucket.removeSeen(key, seen)))
      throw unavailable('The file store', new Error('S3 takes links with a signature for expired at once.'))
  } finally {
    await bucket.remove(key).catch(() => undefined)
  }
}

/** The storage's clock, of an answer. */
const timeOf = ({ $metadata }: { $metadata: object }): number => {
  const { date } = $metadata as { date: number }
  if (Number.isNaN(date)) throw new Error('S3 answered without a date.')
  return date
}

const isMissing = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND'

/** For questions that are about no object. */
const raiseAway = (error: unknown): never => {
  throw isMissing(error) ? unavailable('The file store', (error as DomainError).cause) : error
}

/** What a failure was, without what its object has besides: signatures, and the request. */
const toldOf = (error: unknown): Error => {
  const { name, message, code, cause, $metadata } = error as Error & {
    code?: string
    $metadata?: { httpStatusCode?: number }
  }
  const inner = cause instanceof Error ? ((cause as { code?: string }).code ?? cause.name) : undefined
  const words = [$metadata?.httpStatusCode, name, code ?? inner, message].filter(
    (word) => word !== undefined && word !== '' && !/^Unknown(Error)?$/.test(String(word)),
  )
  return new Error(`S3: ${words.join(' ').slice(0, MOST_OF_MESSAGE)}`)
}

/** What the storage said, in our words. */
const refusal = (error: unknown): DomainError => {
  if (error instanceof DomainError) return error
  const told = toldOf(error)
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status === 507 || NO_ROOM.test(told.message)) return insufficientStorage(told)
  const isObject = status === 404 && name !== 'NoSuchBucket'
  return isObject ? Object.assign(notFound('File'), { cause: told }) : unavailable('The file store', told)
}
