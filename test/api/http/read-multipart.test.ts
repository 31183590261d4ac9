import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { readMultipart } from '../../../src/http/rest/fields.ts'
import { createUploadFolder } from '../../../src/http/upload-folder.ts'
import { createUploads } from '../../../src/modules/assets/uploads.ts'
import { DomainError } from '../../../src/shared/errors.ts'
import { noopMeter } from '../../../src/telemetry/telemetry-types.ts'
import { atEnd } from '../../support/at-end.ts'
import { type Message, send } from '../../support/http-client.ts'
import { listen } from '../../support/listen.ts'
import { unlimitedCounter } from '../../support/unlimited-counter.ts'

const MAX_FILE_BYTES = 1_000
const MAX_BYTES = 500
const dir = await mkdtemp(join(tmpdir(), 'annal-multipart-'))

const uploads = createUploads({
  folder: createUploadFolder({ dir }),
  counter: unlimitedCounter,
  maxBytes: 1e9,
  meter: noopMeter,
})

const server = createServer(async (req, res) => {
  const intake = uploads.open({ kind: 'system' }, 0)
  try {
    const fields = await readMultipart(req, {
      maxBytes: MAX_BYTES,
      maxFileBytes: MAX_FILE_BYTES,
      files: ['file', 'other'],
      texts: ['caption'],
      intake,
    })
    const { filename, mimetype, createReadStream } = await fields.upload('file').promise
    const content = await text(createReadStream())
    res.end(JSON.stringify({ caption: fields.text('caption'), name: filename, type: mimetype, content }))
  } catch (error) {
    req.resume()
    res.end(JSON.stringify(error instanceof DomainError ? error.code : String(error)))
  } finally {
    await intake.close()
  }
})
atEnd(() => rm(dir, { recursive: true }))
const url = `http://127.0.0.1:${await listen(server, atEnd)}`
const reported = async (message: Message) => JSON.parse((await send(url, message)).text)

function tell(fields: [string, string | File][]) {
  const multipart = new FormData()
  for (const [name, value] of fields) multipart.append(name, value)
  return reported({ multipart })
}

const fileOf = (bytes: number) => new File(['x'.repeat(bytes)], 'a.txt', { type: 'text/plain' })

it('reads a file of the maximum size and the form fields around the file', async () => {
  expect(
    await tell([
      ['file', fileOf(MAX_FILE_BYTES)],
      ['caption', 'after'],
    ]),
  ).toEqual({ caption: 'after', name: 'a.txt', type: 'text/plain', content: 'x'.repeat(MAX_FILE_BYTES) })
  expect(await readdir(dir)).toEqual([])
})

it.each<[string, [string, string | File][]]>([
  ['a file one byte over the limit', [['file', fileOf(MAX_FILE_BYTES + 1)]]],
  [
    'a field over its limit',
    [
      ['caption', 'x'.repeat(MAX_BYTES + 1)],
      ['file', fileOf(1)],
    ],
  ],
  ['a field over its limit that is sent as a file', [['caption', fileOf(MAX_BYTES + 1)]]],
  ['too many fields', Array.from({ length: 101 }, (_, i) => [`field${i}`, 'x'])],
  ['too many files', Array.from({ length: 11 }, (_, i) => [`file${i}`, fileOf(1)])],
])('rejects a multipart body with %s and leaves nothing on disk', async (_, fields) => {
  expect(await tell(fields)).toBe('PAYLOAD_TOO_LARGE')
  expect(await readdir(dir)).toEqual([])
})
