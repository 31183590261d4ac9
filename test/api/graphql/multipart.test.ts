/**
 * Compares our reader of GraphQL multipart requests with `processRequest` of `graphql-upload-ts`. The package writes every file to disk
 * before a resolver asks for it, so it cannot check permission first.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { processRequest, Upload } from 'graphql-upload-ts'
import { describe, expect, it } from 'vitest'
import { readUploadForm } from '../../../src/graphql/request-body.ts'
import { readForm, readText } from '../../../src/http/request-body.ts'
import { createUploadFolder } from '../../../src/http/upload-folder.ts'
import { createUploads } from '../../../src/modules/assets/uploads.ts'
import { DomainError } from '../../../src/shared/errors.ts'
import { noopMeter } from '../../../src/telemetry/telemetry-types.ts'
import { atEnd } from '../../support/at-end.ts'
import { eventually } from '../../support/eventually.ts'
import { formType, part, partHead } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { listen } from '../../support/listen.ts'
import { unlimitedCounter } from '../../support/unlimited-counter.ts'

const MAX_FILE_BYTES = 1_000
const MAX_BYTES = 1_000
const dir = await mkdtemp(join(tmpdir(), 'annal-multipart-'))
atEnd(() => rm(dir, { recursive: true }))
const uploadsIn = (dir: string) =>
  createUploads({
    folder: createUploadFolder({ dir }),
    counter: unlimitedCounter,
    maxBytes: 1e9,
    meter: noopMeter,
  })
const uploads = uploadsIn(dir)

/** Parses a request. Returns the operation, with each file replaced by its description. */
type Read = (req: IncomingMessage, res: ServerResponse) => Promise<unknown>

/** Replaces each file with a description. */
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

const readers = { readText, readForm, maxBytes: MAX_BYTES, maxFileBytes: MAX_FILE_BYTES, maxFields: 100 }
const ours: Read = async (req) => {
  const intake = uploads.open({ kind: 'system' }, 0)
  const form = readUploadForm(req, readers, intake)
  try {
    return await withFiles(await form.params)
  } finally {
    form.cancel()
    await intake.close()
  }
}

const limits = { maxFieldSize: MAX_BYTES, maxFileSize: MAX_FILE_BYTES, maxFiles: 4 }
const reference: Read = async (req, res) => withFiles(await processRequest(req, res, limits))

/** Returns the HTTP status of an error from a reader. */
function statusOf(error: unknown): number {
  if (error instanceof DomainError) return error.code === 'PAYLOAD_TOO_LARGE' ? 413 : 400
  return (error as { status?: number }).status ?? 400
}

async function serve(read: Read): Promise<string> {
  const server = createServer((req, res) => {
    read(req, res).then(
      (told) => res.end(JSON.stringify(told)),
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
const one = operations({ file: null }) + map({ 0: ['variables.file'] })

const bodies: Record<string, string> = {
  'a file': one + file('0') + END,
  'an empty file': one + file('0', '') + END,
  'a file whose name is not ASCII': one + file('0', 'content', 'größe 圖.png') + END,
  'a file of another type': one + file('0', '{}', 'a.json', 'application/json') + END,
  'a file whose content looks like the end of a part': one + file('0', 'a\r\n--an-end-of-part\r\n\r\nb') + END,
  'a file that is nearly too large': one + file('0', 'x'.repeat(MAX_FILE_BYTES - 1)) + END,
  'a file that is too large': one + file('0', 'x'.repeat(MAX_FILE_BYTES + 1)) + END,
  'a list of files':
    operations({ files: [null, null] }) +
    map({ a: ['variables.files.0'], b: ['variables.files.1'] }) +
    file('a', '1') +
    file('b', '2') +
    END,
  'files in a different order than in the map':
    operations({ files: [null, null] }) +
    map({ a: ['variables.files.0'], b: ['variables.files.1'] }) +
    file('b', '2') +
    file('a', '1') +
    END,
  'a file for two variables':
    operations({ a: null, b: { c: null } }) + map({ 0: ['variables.a', 'variables.b.c'] }) + file('0') + END,
  'a file that is not in the map': one + file('other') + file('0') + END,
  'too many files':
    operations({ files: Array(5).fill(null) }) +
    map(Object.fromEntries(Array.from({ length: 5 }, (_, at) => [at, [`variables.files.${at}`]]))) +
    END,
  'other variables in addition to the file':
    operations({ file: null, text: 'größe', list: [1, { a: null }] }) +
    map({ 0: ['variables.file'] }) +
    file('0') +
    END,
  'a missing file': one + END,
  'a body truncated inside the file': `${one}${partHead('0', 'a.png')}cont`,
  'a body truncated before the file': one,
  'a map before the operations': map({ 0: ['variables.file'] }) + operations({ file: null }) + file('0') + END,
  'a file before the map': operations({ file: null }) + file('0') + map({ 0: ['variables.file'] }) + END,
  'no operations': map({ 0: ['variables.file'] }) + file('0') + END,
  'no map': operations({ file: null }) + END,
  'operations that are not JSON': part('operations', '{') + map({ 0: ['variables.file'] }) + file('0') + END,
  'operations that are not an object': part('operations', '1') + map({ 0: ['variables.file'] }) + file('0') + END,
  'operations that are null': part('operations', 'null') + map({ 0: ['variables.file'] }) + file('0') + END,
  'a map that is not JSON': operations({ file: null }) + part('map', '{') + file('0') + END,
  'a map that is a list': operations({ file: null }) + map([['variables.file']]) + file('0') + END,
  'a map that is null': operations({ file: null }) + map(null) + file('0') + END,
  'a map whose entry is not a list': operations({ file: null }) + map({ 0: 'variables.file' }) + file('0') + END,
  'a map whose path is not a string': operations({ file: null }) + map({ 0: [1] }) + file('0') + END,
  'a map to a path that does not exist':
    operations({ file: null }) + map({ 0: ['variables.other.deep'] }) + file('0') + END,
  'a map to a path that already has a value':
    operations({ file: 'text' }) + map({ 0: ['variables.file'] }) + file('0') + END,
  'a map to a path in the prototype':
    operations({ file: null }) + map({ 0: ['variables.__proto__.file'] }) + file('0') + END,
  'a field that is too large':
    operations({ file: null, text: 'x'.repeat(MAX_BYTES) }) + map({ 0: ['variables.file'] }) + file('0') + END,
}

const told = async (url: string, body: string) =>
  JSON.parse((await send(url, { raw: Buffer.from(body), headers: { 'content-type': formType } })).text)

describe('a GraphQL multipart request', () => {
  it.each(Object.entries(bodies))('with %s is read like graphql-upload-ts reads it', async (_, body) => {
    expect(await told(oursUrl, body)).toEqual(await told(referenceUrl, body))
  })
})

describe('before a resolver opens a file', () => {
  /** Returns the files on disk at the time when a resolver knows the name of its file. */
  async function onDisk(read: (req: IncomingMessage, res: ServerResponse) => Promise<Upload>) {
    const [folder, before] = [await mkdtemp(join(dir, 'early-')), process.env.TMPDIR]
    process.env.TMPDIR = folder
    const url = await serve(async (req, res) => {
      const { filename, createReadStream } = await (await read(req, res)).promise
      const early =
        read === oursEarly
          ? await readdir(folder)
          : await eventually(
              () => readdir(folder),
              (all) => all.length > 0,
            )
      await text(createReadStream())
      return { filename, files: early.length }
    })
    const answer = await told(url, one + file('0') + END)
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    return answer
  }
  const fileOf = (params: unknown) => (params as { variables: { file: Upload } }).variables.file
  const oursEarly = async (req: IncomingMessage, res: ServerResponse) => {
    const intake = uploadsIn(process.env.TMPDIR!).open({ kind: 'system' }, 0)
    res.once('close', () => void intake.close())
    return fileOf(await readUploadForm(req, readers, intake).params)
  }

  it("Annal's reader has written nothing to disk", async () => {
    expect(await onDisk(oursEarly)).toEqual({ filename: 'a.png', files: 0 })
  })

  it('graphql-upload-ts has written the file to disk', async () => {
    expect(await onDisk(async (req, res) => fileOf(await processRequest(req, res, limits)))).toEqual({
      filename: 'a.png',
      files: 1,
    })
  })
})

describe("Annal's multipart reader, unlike graphql-upload-ts,", () => {
  it.each(
    Object.entries({
      'a batch of operations':
        part('operations', JSON.stringify([{ query: '{ me { id } }', variables: { file: null } }])) +
        map({ 0: ['0.variables.file'] }) +
        file('0') +
        END,
      'a file outside the variables':
        part('operations', JSON.stringify({ query: '{ me { id } }', extensions: { file: null } })) +
        map({ 0: ['extensions.file'] }) +
        file('0') +
        END,
      'an empty map': operations({ file: null }) + map({}) + END,
      'a file without a path in the map': operations({ file: null }) + map({ 0: [] }) + file('0') + END,
    }),
  )('rejects %s', async (_, body) => {
    expect([await told(oursUrl, body), await told(referenceUrl, body)]).toEqual([
      { refused: 400 },
      expect.not.objectContaining({ refused: 400 }),
    ])
  })
})
