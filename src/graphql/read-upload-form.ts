/** Requests with files, as the GraphQL multipart request specification says: `operations`, then `map`, then the files. */
import type { IncomingMessage } from 'node:http'
import { type BodyReaders, type Intake, Upload } from '../domain/asset/uploads.ts'
import { DomainError } from '../domain/errors.ts'
import { readJsonObject } from '../domain/json-input.ts'
import { readParams } from './read-params.ts'

/** Files that one request brings. */
const MAX_FILES = 4

/** A multipart request that is being read. */
export interface UploadForm {
  /** The operation, with an `Upload` wherever a file belongs. Raises PAYLOAD_TOO_LARGE, PARSE_ERROR, VALIDATION_FAILED. */
  params: Promise<Record<string, unknown>>
  /** To be called when the request is over: what nobody asked for is not read. */
  cancel(): void
}

const badForm = (problem: string) => new DomainError('PARSE_ERROR', `Multipart form parse error - ${problem}`)

/** Puts `upload` in the place of the null at a path such as `variables.input.assetFile`. Raises PARSE_ERROR. */
function place(operations: Record<string, unknown>, path: unknown, upload: Upload) {
  const steps = typeof path === 'string' ? path.split('.') : []
  const last = steps.pop()
  let at: unknown = operations
  for (const step of steps) at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined
  const isThere = steps[0] === 'variables' && isObject(at) && Object.hasOwn(at, last!) && at[last!] === null
  if (!isThere) throw badForm('`map` names a place where there is no null.')
  ;(at as Record<string, unknown>)[last!] = upload
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

interface Announced {
  upload: Upload
  arrive(file: ReturnType<Intake['hold']>): void
}

/**
 * Files are taken to disk once a resolver asks for one: whoever may not send any, or cannot pay, is refused before. Raises
 * PAYLOAD_TOO_LARGE, PARSE_ERROR, and VALIDATION_FAILED for a batch, before anything is read.
 */
export function readUploadForm(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes }: BodyReaders<IncomingMessage>,
  intake: Pick<Intake, 'hold'>,
): UploadForm {
  const params = Promise.withResolvers<Record<string, unknown>>()
  const asked = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<never>()
  // Each is waited for by nobody when the other ends the request.
  for (const { promise } of [params, asked, broken]) promise.catch(() => {})
  let operations: Record<string, unknown> | undefined
  let announced: Map<string, Announced> | undefined

  function notify(): Announced {
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Intake['hold']>>>()
    promise.catch(() => {})
    const file = () => {
      asked.resolve()
      return Promise.race([promise, broken.promise])
    }
    return { upload: new Upload(file), arrive: resolve }
  }

  function readMap(operations: Record<string, unknown>, value: string) {
    announced = new Map()
    const entries = Object.entries(readJsonObject(value))
    if (entries.length === 0) throw badForm('`map` names no file; without one, send JSON.')
    if (entries.length > MAX_FILES)
      throw new DomainError('PAYLOAD_TOO_LARGE', `\`map\` has more than ${MAX_FILES} files.`)
    for (const [name, paths] of entries) {
      if (!Array.isArray(paths) || paths.length === 0) throw badForm('`map` holds a list of places for each file.')
      const file = notify()
      for (const path of paths) place(operations, path, file.upload)
      announced.set(name, file)
    }
    params.resolve(operations)
  }

  const form = readForm(req, {
    maxBytes,
    maxFileBytes,
    maxFiles: MAX_FILES,
    onField(name, value, isSound) {
      if (!isSound) throw badForm('a text is not valid UTF-8.')
      if (name === 'operations' && !operations) operations = readParams(value)
      else if (name === 'map' && !announced) {
        if (!operations) throw badForm('`map` follows `operations`.')
        readMap(operations, value)
      }
    },
    onFile(name, file) {
      if (!announced) throw badForm('files follow `map`.')
      const awaited = announced.get(name)
      if (!awaited) return undefined
      announced.delete(name)
      return asked.promise.then(async () => {
        const holding = intake.hold(file)
        awaited.arrive(holding)
        await holding
      })
    },
  })
  form.whole
    .then(() => {
      throw badForm(announced ? 'a file that `map` names is missing.' : '`operations` or `map` is missing.')
    })
    .catch((error) => {
      params.reject(error)
      broken.reject(error)
    })
  return {
    params: params.promise,
    cancel() {
      asked.reject(new DomainError('PARSE_ERROR', 'Nobody asked for the file.'))
      form.cancel()
    },
  }
}
