/** Reads requests with files (GraphQL multipart request specification): `operations`, then `map`, then the files. */
import type { IncomingMessage } from 'node:http'
import { Upload } from 'graphql-upload-ts'
import type { BodyReaders, Intake } from '../modules/assets/uploads.ts'
import { DomainError } from '../shared/errors.ts'
import { readJsonObject } from '../shared/json-input.ts'
import { fileUpload } from './file-upload.ts'
import { readParams } from './read-params.ts'

/** Maximum number of files of a request. */
const MAX_FILES = 4

/** A multipart request that is being read. */
export interface UploadForm {
  /** The operation, with an `Upload` wherever a file belongs. Raises PAYLOAD_TOO_LARGE, PARSE_ERROR, VALIDATION_FAILED. */
  params: Promise<Record<string, unknown>>
  /** Stops reading. Call it at the end of the request. */
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

/**
 * Reads a multipart request. A file is read when a resolver creates a stream of it, after it has checked permission and funds.
 * `processRequest` of `graphql-upload-ts` writes every file to disk first (test/api/graphql/multipart.test.ts). Raises PAYLOAD_TOO_LARGE, PARSE_ERROR,
 * and VALIDATION_FAILED for a batch, before anything is read.
 */
export function readUploadForm(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes }: BodyReaders<IncomingMessage>,
  intake: Pick<Intake, 'hold'>,
): UploadForm {
  const params = Promise.withResolvers<Record<string, unknown>>()
  const broken = Promise.withResolvers<never>()
  for (const { promise } of [params, broken]) promise.catch(() => {})
  let operations: Record<string, unknown> | undefined
  let uploads: Map<string, Upload> | undefined

  function readMap(operations: Record<string, unknown>, value: string) {
    uploads = new Map()
    const entries = Object.entries(readJsonObject(value))
    if (entries.length === 0) throw badForm('`map` names no file; without one, send JSON.')
    if (entries.length > MAX_FILES)
      throw new DomainError('PAYLOAD_TOO_LARGE', `\`map\` has more than ${MAX_FILES} files.`)
    for (const [name, paths] of entries) {
      if (!Array.isArray(paths) || paths.length === 0) throw badForm('`map` holds a list of places for each file.')
      const upload = new Upload()
      broken.promise.catch((error) => upload.reject(error))
      for (const path of paths) place(operations, path, upload)
      uploads.set(name, upload)
    }
    params.resolve(operations)
  }

  const form = readForm(req, {
    maxBytes,
    maxFileBytes,
    maxFiles: MAX_FILES,
    onField(name, value) {
      if (value === undefined) throw badForm('a text is not valid UTF-8.')
      if (name === 'operations' && !operations) operations = readParams(value)
      else if (name === 'map' && !uploads) {
        if (!operations) throw badForm('`map` follows `operations`.')
        readMap(operations, value)
      }
    },
    onFile(name, file) {
      if (!uploads) throw badForm('files follow `map`.')
      const upload = uploads.get(name)
      if (!upload) return undefined
      uploads.delete(name)
      const wanted = Promise.withResolvers<void>()
      const held = Promise.race([wanted.promise, broken.promise]).then(() => intake.hold(file))
      upload.resolve(
        fileUpload(file, () => {
          wanted.resolve()
          return Promise.race([held, broken.promise])
        }),
      )
      return held.then(() => undefined)
    },
  })
  form.whole
    .then(() => {
      throw badForm(uploads ? 'a file that `map` names is missing.' : '`operations` or `map` is missing.')
    })
    .catch(stop)

  function stop(error: unknown) {
    params.reject(error)
    broken.reject(error)
  }

  return {
    params: params.promise,
    cancel() {
      stop(new DomainError('PARSE_ERROR', 'No resolver read the file.'))
      form.cancel()
    },
  }
}
