/** The media type of a file without a declared type, or with an unspecific one. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })

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

it('a file name keeps its quotation marks, which browsers encode as %22', async () => {
  const answer = await user.rest('POST', 'assets/', {
    multipart: { asset_file: new File([randomBytes(9)], 'a "good" name %41.txt', { type: 'text/plain' }) },
  })
  const { id } = expectOk(answer)
  expect(expectOk(await user.rest('GET', `assets/${id}/`)).asset_file_name).toBe('a "good" name %41.txt')
})

it.each([
  [
    '写真.png',
    'that is encoded like in .NET',
    `filename="=?utf-8?B?${base64('写真.png')}?="; filename*=utf-8''%E5%86%99%E7%9C%9F.png`,
  ],
  ['ÿ?ÿ.png', 'whose Base64 encoding contains slashes', `filename="=?UTF-8?b?${base64('ÿ?ÿ.png')}?="`],
  ['b.png', 'that is encoded and contains a path', `filename="=?utf-8?B?${base64('../é/b.png')}?="`],
  ['b.png', 'with a Windows path', 'filename="C:\\\\fakepath\\\\b.png"'],
  ['file', 'that is only a path', 'filename="photos/.."'],
  ['=?utf-8?Q?a?=.png', 'that only looks encoded', 'filename="=?utf-8?Q?a?=.png"'],
])('stores the file name %s of an upload with a file name %s', async (name, _, filename) => {
  expect((await register(filename, noise())).asset_file_name).toBe(name)
})

it.each([
  ['nothing', undefined],
  ['text', 'text/plain'],
  ['application/octet-stream', 'application/octet-stream'],
])('detects the type of a picture sent as %s, regardless of its file name', async (_, type) => {
  expect(await typeOf('any.bin', await picture(), type)).toBe('image/png')
})

const OCTETS = 'application/octet-stream'
it.each([
  ['type of the file extension if the content is unknown', 'doc.pdf', undefined, 'application/pdf'],
  ['type of the file extension if sent as application/octet-stream', 'page.html', OCTETS, 'text/html'],
  ['text/plain if sent as text/plain, despite its file extension', 'page.html', 'text/plain', 'text/plain'],
  ['application/octet-stream if content and extension are unknown', 'any', OCTETS, OCTETS],
  ['text/plain for the start of another format', 'notes.txt', 'text/plain', 'text/plain', 'ID3 is a tag, and more'],
  ['type of the file extension within a family', 'raw.dng', undefined, 'image/x-adobe-dng', 'II*\0 and the rest of it'],
  ['the sent type', 'any.png', 'model/gltf-binary', 'model/gltf-binary'],
])('stores the type of a file that is not a picture: %s', async (_, name, type, expected, bytes?: string) => {
  const file = bytes === undefined ? noise() : new Uint8Array(Buffer.from(`${bytes} ${randomBytes(9).toString('hex')}`))
  expect(await typeOf(name, file, type)).toBe(expected)
})

function newFilm(...brands: string[]): Uint8Array {
  const [major, ...compatible] = brands
  const box = Buffer.from(`\0\0\0\0ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1')
  box.writeUInt32BE(box.length)
  return new Uint8Array(Buffer.concat([box, Buffer.from('\0\0\0\x10mdat', 'latin1'), randomBytes(8)]))
}

it.each([
  ['image/avif', ['mif1', 'avif', 'miaf', 'MA1B']],
  ['image/avif', ['avis', 'msf1', 'miaf']],
  ['image/heic', ['mif1', 'heic']],
  ['image/heic', ['heix', 'mif1']],
  ['image/heic-sequence', ['hevc', 'mif1', 'heic']],
  ['image/heif', ['mif1', 'miaf']],
  ['image/heif-sequence', ['msf1']],
  ['audio/mp4', ['M4A ', 'isom']],
  ['audio/mp4', ['isom', 'M4A ']],
  ['video/mp4', ['M4V ', 'M4A ', 'mp42']],
  ['video/mp4', ['iso6', 'dash']],
  ['video/mp4', ['isom', '3gp4']],
  ['video/3gpp', ['3gp5', 'isom']],
  ['video/3gpp2', ['3g2a', 'isom']],
  ['video/quicktime', ['qt  ']],
  ['video/quicktime', ['niko', 'qt  ']],
  ['image/x-canon-cr3', ['crx ', 'isom']],
])('registers the type %s for a file with the brands %j', async (type, brands) => {
  for (const declared of ['application/octet-stream', 'image/jpg']) {
    expect(await typeOf('any', newFilm(...brands), declared)).toBe(type)
  }
})

const bytesOf = (start: string) => new Uint8Array(Buffer.concat([Buffer.from(start, 'latin1'), randomBytes(9)]))
it.each([
  ['', 'image/png'],
  ['image/jpg', 'image/png'],
  ['Image/PJPEG', 'image/png'],
  ['*/*', 'image/png'],
  ['application/octet-stream; charset=binary', 'image/png'],
  ['image/gif', 'image/gif'],
])('replaces the declared type %s by the detected type', async (declared, type) => {
  expect(await typeOf('any.bin', await picture(), declared)).toBe(type)
})

it.each([
  ['image/jpg', 'text/css', 'image/png'],
  ['application/octet-stream', 'binary/octet-stream', 'image/png'],
  ['', 'image/x-png', 'image/png'],
  ['image/*', 'text/css', 'text/css'],
  ['text/plain', 'text/css', 'text/plain'],
])('registers the file type given as %s, of a file declared as %s, as %s', async (given, declared, type) => {
  const newFile = async () => new File([await picture()], 'any.bin', { type: declared })
  const multipart = { asset_file: await newFile(), asset_file_mime_type: given }
  expect(expectOk(await user.rest('POST', 'assets/', { multipart })).asset_file_mime_type).toBe(type)
  const query = `mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { assetFileMimeType } } }`
  const input = { assetFile: await newFile(), assetFileMimeType: given }
  expect(expectOk(await user.graphql(query, { input })).registerAsset.asset.assetFileMimeType).toBe(type)
})

it.each([
  ['audio/x-wav', 'audio/wav'],
  ['audio/mp3', 'audio/mpeg'],
  ['video/avi', 'video/x-msvideo'],
  ['image/jpg', 'image/jpeg'],
  ['application/x-pdf', 'application/pdf'],
])('registers the type alias %s as %s if the content has no known type', async (declared, type) => {
  expect(await typeOf('any.bin', noise(), declared)).toBe(type)
})

it.each([
  ['RIFF\0\0\0\0WAVE', 'any', 'audio/wav'],
  ['RIFF\0\0\0\0AVI ', 'any', 'video/x-msvideo'],
  ['\xff\xfb\x90\0', 'any', 'audio/mpeg'],
  ['\xff\xf1\x50\0', 'any', 'audio/aac'],
  ['fLaC\0\0\0\x22', 'any', 'audio/flac'],
  [`OggS\0\x02${'\0'.repeat(20)}\x01\x13OpusHead`, 'any', 'audio/ogg'],
  ['\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'any', 'video/webm'],
  ['\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska', 'any', 'video/x-matroska'],
  ['%PDF-1.7\n', 'any', 'application/pdf'],
  ['PK\x03\x04', 'any', 'application/zip'],
  ['PK\x03\x04', 'any.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['\0\0\0\x10ftypisom\0\0\0\0', 'any.m4a', 'audio/mp4'],
  ['\0\0\0\x10ftypisom\0\0\0\0', 'any.jpg', 'video/mp4'],
])('detects the content %j of the file %s as %s', async (start, name, type) => {
  expect(await typeOf(name, bytesOf(start), 'application/octet-stream')).toBe(type)
})

it('the thumbnail, the signed copy and the display of a file use the same file type', async () => {
  const avif = Buffer.from(await (await newPicture({ width: 40, height: 30, format: 'avif' })).arrayBuffer())
  expect(avif.toString('latin1', 16, avif.readUInt32BE(0))).toContain('avif')
  avif.write('mif1', 8, 'latin1')
  const asset_file = new File([new Uint8Array(avif)], 'still.bin', { type: 'binary/octet-stream' })
  const { id, uuid, asset_file_mime_type } = await user.register({ asset_file, public_access: 'true' })
  expect(asset_file_mime_type).toBe('image/avif')
  await app.jobs.thumbnail({ assetId: uuid })
  const { data } = (await user.graphql(`{ asset(id: "${id}") { thumbnailUrl } }`)).body
  expect((await fetch(data.asset.thumbnailUrl)).headers.get('content-type')).toBe('image/webp')
  const file = await app.rest('GET', `/ipfs/${id}`)
  expect(file.headers.get('content-type')).toBe('image/avif')
  expect(file.headers.get('content-disposition')).toMatch(/^inline/)
  const copy = await app.rest('GET', `assets/${id}/c2pa/`)
  expect([copy.status, copy.headers.get('content-type')]).toEqual([200, 'image/avif'])
})

it('serves a camera raw file as a download, without a thumbnail or signed copy', async () => {
  const asset_file = new File([new Uint8Array(newFilm('crx ', 'isom'))], 'photo.cr3')
  const { id, uuid } = await user.register({ asset_file, public_access: 'true' })
  await app.jobs.thumbnail({ assetId: uuid })
  expect((await app.rest('GET', `/ipfs/${id}`)).headers.get('content-disposition')).toMatch(/^attachment/)
  const copy = await app.rest('GET', `assets/${id}/c2pa/`)
  expect([copy.status, copy.body.error.message]).toEqual([400, expect.stringContaining('JPEG, PNG, WebP, GIF')])
})

it('reads the manifests of MP3 and WAV files', async () => {
  for (const [start, type] of [
    ['ID3\x03\0\0\0\0\0\0', 'audio/mpeg'],
    ['RIFF\0\0\0\0WAVE', 'audio/wav'],
  ] as const) {
    const { uuid } = await user.register({ asset_file: new File([new Uint8Array(bytesOf(start))], 'sound', { type }) })
    const jobs = await app.sql(`select 1 from jobs.job where name = 'manifest' and data ->> 'assetId' = $1`, [uuid])
    expect(jobs).toHaveLength(1)
  }
})
