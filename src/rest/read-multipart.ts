import { createReadStream, createWriteStream, mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream } from '@fastify/busboy'
import { DomainError } from '../domain/errors.ts'
import { createFields, type UploadedFile } from './fields.ts'
import type { BodyOptions, ReadBody } from './read-body.ts'

const MAX_FIELDS = 100
const MAX_FILES = 4

type Parser = InstanceType<typeof Busboy>

/** Files go to disk as they come, fields may stand before or after them, and memory stays flat. */
export async function readMultipart(
  req: IncomingMessage,
  { dir, maxBytes, maxFileBytes }: BodyOptions,
): Promise<ReadBody> {
  // Most forms carry no file: the folder is made with the first one.
  let folder: string | undefined
  const newPath = (index: number) => {
    mkdirSync(dir, { recursive: true })
    folder ??= mkdtempSync(join(dir, 'upload-'))
    return join(folder, String(index))
  }
  const dispose = async () => {
    if (folder) await rm(folder, { recursive: true, force: true })
  }
  try {
    const { values, files } = await receive(req, newPath, maxBytes, maxFileBytes)
    return { fields: createFields(values, { files, isForm: true }), dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** `pipeline` would do, but makes an AbortController and an error for each body, which costs more than a small form. */
const send = (req: IncomingMessage, parser: Parser) =>
  new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => {
      reject(error)
      req.unpipe(parser)
      parser.destroy(error)
    }
    parser.once('finish', resolve)
    // Stays: taking the parser apart emits the error once more.
    parser.on('error', fail)
    req.once('error', fail)
    req.once('close', () => {
      if (!req.complete) fail(new Error('the body ended too early'))
    })
    req.pipe(parser)
  })

async function receive(
  req: IncomingMessage,
  newPath: (index: number) => string,
  maxBytes: number,
  maxFileBytes: number,
) {
  const values: Record<string, unknown> = Object.create(null)
  const files: Record<string, UploadedFile> = Object.create(null)
  const writing: Promise<void>[] = []
  let refusal: DomainError | undefined
  const refuse = (error: DomainError) => {
    refusal ??= error
  }
  const limit = (what: string) => new DomainError('PAYLOAD_TOO_LARGE', `The body has too much of one kind: ${what}.`)

  let busboy: Parser
  try {
    busboy = new Busboy({
      headers: req.headers as never,
      limits: {
        fieldSize: maxBytes,
        fields: MAX_FIELDS,
        files: MAX_FILES,
        fileSize: maxFileBytes,
        headerPairs: 50,
      },
    })
  } catch (error) {
    throw new DomainError('PARSE_ERROR', `Multipart form parse error - ${(error as Error).message}`, { cause: error })
  }
  busboy.on('field', (name, value, _nameCut, cut) => {
    if (cut) refuse(limit(`the field ${name}`))
    values[name] = value
  })
  busboy.on('file', (name: string, stream: BusboyFileStream, filename, _encoding, mimeType) => {
    const path = newPath(writing.length)
    stream.on('limit', () =>
      refuse(new DomainError('PAYLOAD_TOO_LARGE', `A file is over the limit of ${maxFileBytes} bytes.`)),
    )
    files[name] = { filename: filename ?? '', mimeType, open: () => createReadStream(path) }
    const written = pipeline(stream, createWriteStream(path))
    // Awaited below; until then nobody else must learn of its failure.
    written.catch(() => {})
    writing.push(written)
  })
  busboy.on('filesLimit', () => refuse(limit('files')))
  busboy.on('fieldsLimit', () => refuse(limit('fields')))

  let received = 0
  req.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  try {
    await send(req, busboy)
    await Promise.all(writing)
  } catch (error) {
    await Promise.allSettled(writing)
    // An empty body is an empty object, also one whose length nobody announced.
    if (received === 0 && req.complete) return { values, files }
    throw new DomainError('PARSE_ERROR', `Multipart form parse error - ${(error as Error).message}`, { cause: error })
  }
  if (refusal) throw refusal
  return { values, files }
}
