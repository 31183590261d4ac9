/** Which type a file has whose sender says none, or one that says nothing. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectOk } from '../support/expect-error.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })

/** Registers bytes in a form as programs write it; without `type` its part has none. */
async function register(filename: string, bytes: Uint8Array, type?: string) {
  const lines = [`--x`, `Content-Disposition: form-data; name="asset_file"; ${filename}`]
  const head = [...lines, ...(type === undefined ? [] : [`Content-Type: ${type}`]), '', ''].join('\r\n')
  const answer = await fetch(`${app.url}/api/v3/assets/`, {
    method: 'POST',
    headers: { Authorization: `token ${user.token}`, 'Content-Type': 'multipart/form-data; boundary=x' },
    body: new Uint8Array(Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')])),
  })
  expect(answer.status).toBe(201)
  const { id } = (await answer.json()) as { id: string }
  return expectOk(await user.rest('GET', `assets/${id}/`))
}
const typeOf = async (name: string, bytes: Uint8Array, type?: string) =>
  (await register(`filename="${name}"`, bytes, type)).asset_file_mime_type
const picture = async () =>
  new Uint8Array(await (await newPicture({ width: 8, height: 8, format: 'png' })).arrayBuffer())
const base64 = (text: string) => Buffer.from(text).toString('base64')
const noise = () => new Uint8Array(randomBytes(40).fill(1, 0, 4))

it('a name has its quotation marks, which browsers write as %22', async () => {
  const answer = await user.rest('POST', 'assets/', {
    multipart: { asset_file: new File([randomBytes(9)], 'a "good" name %41.txt', { type: 'text/plain' }) },
  })
  const { id } = expectOk(answer)
  expect(expectOk(await user.rest('GET', `assets/${id}/`)).asset_file_name).toBe('a "good" name %41.txt')
})

it.each([
  [
    '写真.png',
    'as .NET writes it',
    `filename="=?utf-8?B?${base64('写真.png')}?="; filename*=utf-8''%E5%86%99%E7%9C%9F.png`,
  ],
  ['ÿ?ÿ.png', 'in which there are slashes', `filename="=?UTF-8?b?${base64('ÿ?ÿ.png')}?="`],
  ['b.png', 'with a path, encoded', `filename="=?utf-8?B?${base64('../é/b.png')}?="`],
  ['b.png', 'with a path of Windows', 'filename="C:\\\\fakepath\\\\b.png"'],
  ['file', 'that is a path alone', 'filename="photos/.."'],
  ['=?utf-8?Q?a?=.png', 'that only looks like it', 'filename="=?utf-8?Q?a?=.png"'],
])('a file is called %s by a name %s', async (name, _, filename) => {
  expect((await register(filename, noise())).asset_file_name).toBe(name)
})

it.each([
  ['nothing', undefined],
  ['text', 'text/plain'],
  ['octets', 'application/octet-stream'],
])('a picture that is sent as %s is one, whatever its name says', async (_, type) => {
  expect(await typeOf('any.bin', await picture(), type)).toBe('image/png')
})

it.each([
  ['by its name, where its beginning does not tell', 'doc.pdf', undefined, 'application/pdf'],
  ['by its name, where it comes as octets', 'page.html', 'application/octet-stream', 'text/html'],
  ['text where that is said, whatever kind of text its name says', 'page.html', 'text/plain', 'text/plain'],
  ['octets where nothing tells', 'any', 'application/octet-stream', 'application/octet-stream'],
  [
    'text where it only begins with letters of a format',
    'notes.txt',
    'text/plain',
    'text/plain',
    'ID3 is a tag, and more',
  ],
  ['what its name says of a family of formats', 'raw.dng', undefined, 'image/x-adobe-dng', 'II*\0 and the rest of it'],
  ['what is said', 'any.png', 'model/gltf-binary', 'model/gltf-binary'],
])('another file is told %s', async (_, name, type, expected, bytes?: string) => {
  const file = bytes === undefined ? noise() : new Uint8Array(Buffer.from(`${bytes} ${randomBytes(9).toString('hex')}`))
  expect(await typeOf(name, file, type)).toBe(expected)
})
