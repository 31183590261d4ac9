import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { GraphQLError } from 'graphql'
import { type FileUpload, Upload } from 'graphql-upload-ts'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import { statuses } from '../http/error-status.ts'
import { type BodyLimits, mediaTypeOf, readForm, readText } from '../http/request-body.ts'
import type { IncomingFile, Intake } from '../modules/assets/uploads.ts'
import { DomainError } from '../shared/errors.ts'
import { isJsonObject, jsonError, readJson, readJsonObject } from '../shared/input.ts'
import { maskError } from './mask-error.ts'

/** Request data that plugins can use before the caller is authenticated. */
export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
  requestLog: Context['requestLog']
  /** Authenticates the caller and creates the context of the request. */
  findCaller(): Promise<Context>
  /** Returns a text body. Throws the errors of `readText`. */
  readText(): Promise<string>
}

export interface RequestReaders {
  createContext(req: IncomingMessage, res: ServerResponse): Promise<Context>
  logOf(res: ServerResponse): Context['requestLog']
  bodyLimits: BodyLimits
}

function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined
  return () => (result ??= work())
}

/**
 * Creates the data of a request. Each value is computed once. The data is passed along with the request, because a
 * `WeakMap` would keep it in memory until V8's next full garbage collection.
 */
export const newNodeContext = (
  { createContext, logOf, bodyLimits }: RequestReaders,
  req: IncomingMessage,
  res: ServerResponse,
): NodeContext => ({
  req,
  res,
  requestLog: logOf(res),
  findCaller: once(() => createContext(req, res)),
  readText: once(() => readText(req, bodyLimits.maxBytes)),
})

/**
 * Returns an uploaded file in the format of `graphql-upload-ts`. `hold` writes the file to disk. It is called when
 * the first stream of the file is created, so that permission can be checked before.
 */
export function fileUpload(
  { filename, mimetype }: Pick<IncomingFile, 'filename' | 'mimetype'>,
  hold: () => Promise<IncomingFile>,
): FileUpload {
  function createReadStream() {
    const held = hold()
    // The file's stream reports this error.
    held.catch(() => {})
    async function* read() {
      yield* (await held).createReadStream()
    }
    return Readable.from(read(), { highWaterMark: 1 })
  }
  // `capacitor` is the package's temporary file, which this service does not use.
  return { filename, mimetype, createReadStream } as unknown as FileUpload
}

/** Known parameters of a request. Other parameters are ignored: some clients add parameters for their own servers. */
const PARAMETERS = new Set(['query', 'documentId', 'operationName', 'variables', 'extensions'])
const JSON_PARAMETERS = new Set(['variables', 'extensions'])

/** Treats empty values as omitted: PHP encodes an empty map as a list, and forms send an empty field as empty text. */
function withoutEmpty(params: Record<string, unknown>): Record<string, unknown> {
  for (const name of ['operationName', 'variables', 'extensions']) {
    const value = params[name]
    if (value === '' || (Array.isArray(value) && value.length === 0)) delete params[name]
  }
  return params
}

/** Returns the parameters of a JSON body. Throws PARSE_ERROR, and VALIDATION_FAILED for a batch. */
export function readParams(text: string): Record<string, unknown> {
  const value = readJson(text)
  if (isJsonObject(value)) return withoutEmpty(value)
  if (!Array.isArray(value)) throw jsonError('expected an object.')
  throw new DomainError('VALIDATION_FAILED', 'Batches are not supported. Send each operation in its own request.')
}

/** Returns the parameters of a URL. Some of them are JSON. Throws PARSE_ERROR. */
function readSearchParams(url: string): Record<string, unknown> {
  const params: Record<string, unknown> = {}
  for (const [name, value] of new URL(url, 'http://localhost').searchParams) {
    if (PARAMETERS.has(name) && value) params[name] = JSON_PARAMETERS.has(name) ? readJson(value) : value
  }
  return withoutEmpty(params)
}

const MAX_FILES = 4

const badForm = (problem: string) => new DomainError('PARSE_ERROR', `Multipart form parse error - ${problem}`)

/** Replaces the null at a path such as `variables.input.assetFile` with `upload`. Throws PARSE_ERROR. */
function place(operations: Record<string, unknown>, path: unknown, upload: Upload) {
  const steps = typeof path === 'string' ? path.split('.') : []
  const last = steps.pop()
  let holder = operations
  for (const step of steps) holder = Object.hasOwn(holder, step) ? Object(holder[step]) : {}
  const isNull = steps[0] === 'variables' && Object.hasOwn(holder, last!) && holder[last!] === null
  if (!isNull) throw badForm('`map` contains a path that does not lead to null.')
  holder[last!] = upload
}

/**
 * Reads a multipart request. A file is read when a resolver creates a stream of it, after it has checked permission
 * and funds. `processRequest` of `graphql-upload-ts` would write every file to disk first.
 *
 * Throws PAYLOAD_TOO_LARGE, PARSE_ERROR, and VALIDATION_FAILED for a batch, before it reads a file.
 */
export function readUploadForm(req: IncomingMessage, limits: BodyLimits, intake: Pick<Intake, 'hold'>) {
  const params = Promise.withResolvers<Record<string, unknown>>()
  const broken = Promise.withResolvers<never>()
  for (const { promise } of [params, broken]) promise.catch(() => {})
  let operations: Record<string, unknown> | undefined
  let uploads: Map<string, Upload> | undefined

  function readMap(operations: Record<string, unknown>, value: string) {
    uploads = new Map()
    const entries = Object.entries(readJsonObject(value))
    if (entries.length === 0) throw badForm('`map` contains no file. Send a request without files as JSON.')
    if (entries.length > MAX_FILES)
      throw new DomainError('PAYLOAD_TOO_LARGE', `\`map\` has more than ${MAX_FILES} files.`)
    for (const [name, paths] of entries) {
      if (!Array.isArray(paths) || paths.length === 0) throw badForm('`map` must list the paths of each file.')
      const upload = new Upload()
      broken.promise.catch((error) => upload.reject(error))
      for (const path of paths) place(operations, path, upload)
      uploads.set(name, upload)
    }
    params.resolve(operations)
  }

  const form = readForm(req, {
    ...limits,
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
      if (!uploads) throw badForm('files must follow `map`.')
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
      throw badForm(uploads ? 'a file of `map` is missing.' : '`operations` or `map` is missing.')
    })
    .catch(stop)

  function stop(error: unknown) {
    params.reject(error)
    broken.reject(error)
  }

  return {
    /** The operation, with an `Upload` for each file. Throws PAYLOAD_TOO_LARGE, PARSE_ERROR, VALIDATION_FAILED. */
    params: params.promise,
    /** Stops reading. Call it at the end of the request. */
    cancel() {
      stop(new DomainError('PARSE_ERROR', 'No resolver read the file.'))
      form.cancel()
    },
  }
}

/** Sets the HTTP status of an error that occurred before execution. */
function transportError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error
  const { code, message } = error
  const extensions = { code, http: { status: statuses[code].status } }
  return new GraphQLError(message, { originalError: error, extensions })
}

/**
 * Reads GET parameters from the URL and POST bodies from the socket. Yoga's own parser copies every body through a
 * stream, which takes longer than the query, and rounds numbers that a double cannot represent.
 */
export const useRequestBody = (limits: BodyLimits): Plugin<Context & NodeContext, NodeContext> => {
  const intakes = new WeakMap<IncomingMessage, Intake>()
  /** Reads files until the response is sent or the client disconnects. */
  const readFiles = ({ req, res, uploads, actor }: Context & NodeContext) => {
    const intake = uploads.open(actor, Number(req.headers['content-length'] ?? 0))
    intakes.set(req, intake)
    const form = readUploadForm(req, limits, intake)
    res.once('close', () => {
      form.cancel()
      void intake.close()
    })
    return form.params
  }

  async function readBody(context: Context & NodeContext): Promise<Record<string, unknown>> {
    const { req, readText } = context
    const type = mediaTypeOf(req.headers['content-type'])
    if (type === 'multipart/form-data') return readFiles(context)
    if (type === 'application/json' || type === 'application/graphql+json') return readParams(await readText())
    if (type === 'application/graphql') return { query: await readText() }
    throw new GraphQLError('Send JSON, a GraphQL document, or a GraphQL multipart request.', {
      extensions: { code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: 415 } },
    })
  }

  return {
    onRequestParse({ request: { method }, serverContext, setRequestParser }) {
      if (method !== 'GET' && method !== 'POST') return
      setRequestParser(async () => {
        try {
          if (method === 'GET') return readSearchParams(serverContext.req.url ?? '')
          return await readBody(serverContext as unknown as Context & NodeContext)
        } catch (error) {
          throw maskError(transportError(error), serverContext.requestLog)
        }
      })
    },
    onParams({ params, setParams }) {
      setParams(Object.fromEntries(Object.entries(params).filter(([name]) => PARAMETERS.has(name))))
    },
    onResponse: ({ serverContext }) => intakes.get(serverContext.req)?.close(),
  }
}
