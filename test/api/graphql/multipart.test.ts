/**
 * Compares our reader of GraphQL multipart requests with `processRequest` of `graphql-upload-ts`. The package writes every file to disk
 * before a resolver asks for it, so it cannot check permission first.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { processRequest, Upload } from 'graphql-upload-ts'
import { expect, it } from 'vitest'
import { readUploadForm } from '../../../src/graphql/request-body.ts'
import { createUploadFolder } from '../../../src/http/upload-folder.ts'
import { createUploads } from '../../../src/modules/assets/uploads.ts'
import { DomainError } from '../../../src/shared/errors.ts'
import { noopMeter } from '../../../src/telemetry/telemetry-types.ts'
import { atEnd } from '../../support/at-end.ts'
import { formType, part, partHead } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { listen } from '../../support/listen.ts'
import { unlimitedCounter } from '../../support/unlimited-counter.ts'

const MAX_FILE_BYTES = 1_000
const MAX_BYTES = 1_000
const dir = await mkdtemp(join(tmpdir(), 'annal-multipart-'))
atEnd(() => rm(dir, { recursive: true }))
const uploadsIn = (dir: string) =>
  createUploads({ folder: createUploadFolder({ dir }), counter: unlimitedCounter, maxBytes: 1e9, meter: noopMeter })
const uploads = uploadsIn(dir)

/** Parses a request. Returns the operation, with each file replaced by its description. */
type Read = (req: IncomingMessage, res: ServerResponse) => Promise<unknown>

async function withFiles(value: unknown): Promise<unknown> {
  if (value instanceof Upload) {
    const { filename, mimetype, createReadStream } = await value.promise
    return `${filename} (${mimetype}): ${await text(createReadStream())}`
  }
  if (Array.isArray(value)) return Promise.all(value.map(withFiles))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(async ([name, each]) => [name, await withFiles(each)])
  return Object.fromEntries(await Promise.all(entries))
}

const bodyLimits = { maxBytes: MAX_BYTES, maxFileBytes: MAX_FILE_BYTES }
const ours: Read = async (req) => {
  const intake = uploads.open({ kind: 'system' }, 0)
  const form = readUploadForm(req, bodyLimits, intake)
  try {
    return await withFiles(await form.params)
  } finally {
    form.cancel()
    await intake.close()
  }
}

const limits = { maxFieldSize: MAX_BYTES, maxFileSize: MAX_FILE_BYTES, maxFiles: 4 }
const reference: Read = async (req, res) => withFiles(await processRequest(req, res, limits))

function statusOf(error: unknown): number {
  if (error instanceof DomainError) return error.code === 'PAYLOAD_TOO_LARGE' ? 413 : 400
  return (error as { status?: number }).status ?? 400
}

async function serve(read: Read): Promise<string> {
  const server = createServer((req, res) => {
    read(req, res).then(
      (reported) => res.end(JSON.stringify(reported)),
      (error) => res.end(JSON.stringify({ refused: statusOf(error) })),
    )
  })
  return `http://127.0.0.1:${await listen(server, atEnd)}`
}
const [oursUrl, referenceUrl] = [await serve(ours), await serve(reference)]

const END = '--an-end-of-parts--\r\n'
const file = (name: string, content = 'content', filename = 'a.png', type?: string) =>
  `${partHead(name, filename, type)}${content}\r\n`
const operations = (variables: unknown) => part('operations', JSON.stringify({ query: '{ me { id } }', variables }))
const map = (value: unknown) => part('map', JSON.stringify(value))

const form = (variables: unknown, paths: unknown, ...files: string[]) =>
  operations(variables) + map(paths) + files.join('') + END
const [twoPaths, filePath] = [{ a: ['variables.files.0'], b: ['variables.files.1'] }, { 0: ['variables.file'] }]
const none = { file: null }

const bodies: Record<string, string> = {
  'a file': form(none, filePath, file('0')),
  'an empty file': form(none, filePath, file('0', '')),
  'a file whose name is not ASCII': form(none, filePath, file('0', 'content', 'größe 圖.png')),
  'a file of another type': form(none, filePath, file('0', '{}', 'a.json', 'application/json')),
  'a file that looks like the end of a part': form(none, filePath, file('0', 'a\r\n--an-end-of-part\r\n\r\nb')),
  'a file that is nearly too large': form(none, filePath, file('0', 'x'.repeat(MAX_FILE_BYTES - 1))),
  'a file that is too large': form(none, filePath, file('0', 'x'.repeat(MAX_FILE_BYTES + 1))),
  'a list of files': form({ files: [null, null] }, twoPaths, file('a', '1'), file('b', '2')),
  'files in another order than in the map': form({ files: [null, null] }, twoPaths, file('b', '2'), file('a', '1')),
  'a file for two variables': form({ a: null, b: { c: null } }, { 0: ['variables.a', 'variables.b.c'] }, file('0')),
  'a file that is not in the map': form(none, filePath, file('other'), file('0')),
  'too many files': form(
    { files: Array(5).fill(null) },
    Object.fromEntries(Array.from({ length: 5 }, (_, at) => [at, [`variables.files.${at}`]])),
  ),
  'other variables': form({ file: null, text: 'größe', list: [1, { a: null }] }, filePath, file('0')),
  'a missing file': form(none, filePath),
  'a body truncated inside the file': `${operations(none)}${map(filePath)}${partHead('0', 'a.png')}cont`,
  'a body truncated before the file': operations(none) + map(filePath),
  'a map before the operations': map(filePath) + operations(none) + file('0') + END,
  'a file before the map': operations(none) + file('0') + map(filePath) + END,
  'no operations': map(filePath) + file('0') + END,
  'no map': operations(none) + END,
  'operations that are not JSON': part('operations', '{') + map(filePath) + file('0') + END,
  'operations that are not an object': part('operations', '1') + map(filePath) + file('0') + END,
  'operations that are null': part('operations', 'null') + map(filePath) + file('0') + END,
  'a map that is not JSON': operations(none) + part('map', '{') + file('0') + END,
  'a map that is a list': form(none, [['variables.file']], file('0')),
  'a map that is null': form(none, null, file('0')),
  'a map whose entry is not a list': form(none, { 0: 'variables.file' }, file('0')),
  'a map whose path is not a string': form(none, { 0: [1] }, file('0')),
  'a map to a path that does not exist': form(none, { 0: ['variables.other.deep'] }, file('0')),
  'a map to a path that already has a value': form({ file: 'text' }, filePath, file('0')),
  'a map to a path in the prototype': form(none, { 0: ['variables.__proto__.file'] }, file('0')),
  'a field that is too large': form({ file: null, text: 'x'.repeat(MAX_BYTES) }, filePath, file('0')),
}

const reported = async (url: string, body: string) =>
  JSON.parse((await send(url, { raw: Buffer.from(body), headers: { 'content-type': formType } })).text)

it.each(Object.entries(bodies))(
  'reads a GraphQL multipart request with %s in the same way as graphql-upload-ts',
  async (_, body) => {
    expect(await reported(oursUrl, body)).toEqual(await reported(referenceUrl, body))
  },
)

it.each([
  [
    'a batch of operations',
    part('operations', JSON.stringify([{ query: '{ me { id } }', variables: none }])) +
      map({ 0: ['0.variables.file'] }),
  ],
  [
    'a file outside the variables',
    part('operations', JSON.stringify({ query: '{ me { id } }', extensions: none })) + map({ 0: ['extensions.file'] }),
  ],
  ['an empty map', operations(none) + map({})],
  ['a file without a path in the map', operations(none) + map({ 0: [] })],
])("Annal's multipart reader rejects %s, unlike graphql-upload-ts", async (_, fields) => {
  const body = fields + file('0') + END
  expect([await reported(oursUrl, body), await reported(referenceUrl, body)]).toEqual([
    { refused: 400 },
    expect.not.objectContaining({ refused: 400 }),
  ])
})
