/** Builds files with malicious manifests. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ManifestDefinition } from '../../src/files/file-types.ts'
import { createContentCredentials } from '../../src/modules/content-credentials/content-credentials.ts'

type Assertions = ManifestDefinition['assertions']

const PATIENCE_MS = 240_000
const FILLING = 'annal'

const config = { key: undefined, certificates: undefined, mayBeDevelopment: true }

/** Signs files with arbitrary content. `dir`: the folder of the development certificates. */
export function createForger(dir = join(tmpdir(), `forger-${process.pid}`)) {
  const writer = createContentCredentials({
    dir,
    config: { ...config, timestampUrl: undefined, trustList: undefined },
    timeoutMs: PATIENCE_MS,
  })
  return async (file: Uint8Array, format: string, assertions: Assertions, title = 'A title'): Promise<Buffer> => {
    const definition = { claim_generator_info: [{ name: 'Forger', version: '1' }], title, assertions }
    const request = { format, first: definition, firstIsOrigin: false, following: definition }
    const source = (async function* () {
      yield file
    })()
    const parts: Uint8Array[] = []
    for await (const part of writer.write(source, request)) parts.push(part)
    return Buffer.concat(parts)
  }
}

/** Returns an assertion with this many bytes of text, as a placeholder. `kind`: CBOR by default. */
export const filled = (label: string, bytes: number, kind?: 'Json'): Assertions[number] => ({
  label,
  data: { text: FILLING.repeat(Math.ceil(bytes / FILLING.length)) },
  ...(kind && { kind }),
})

export function boxesIn(file: Buffer, ...types: string[]): number[] {
  const found: number[] = []
  for (const type of types) {
    for (let at = file.indexOf(type); at >= 0; at = file.indexOf(type, at + 1)) if (at >= 4) found.push(at - 4)
  }
  return found.toSorted((a, b) => a - b)
}

/** Returns a copy of the file in which one box has a wrong length. */
export function withLength(file: Buffer, at: number, length: number): Buffer {
  const copy = Buffer.from(file)
  copy.writeUInt32BE(length, at)
  return copy
}

export const cborBombs = {
  nested: (bytes: number) => Buffer.alloc(bytes, 0x81),
  nestedMaps: (bytes: number) => Buffer.alloc(bytes, Buffer.from([0xa1, 0x01])),
  nestedTags: (bytes: number) => Buffer.alloc(bytes, 0xc1),
  endless: (bytes: number) => Buffer.alloc(bytes, 0x9f),
  longList: (bytes: number) => headed('9bffffffffffffffff', bytes),
  longText: (bytes: number) => headed('7b7fffffffffffffff', bytes),
  longBytes: (bytes: number) => headed('5b00000000ffffffff', bytes),
  longMap: (bytes: number) => headed('bbffffffffffffffff', bytes),
}
const headed = (hex: string, bytes: number) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(bytes - 9)])

/** Replaces the content of the assertion from `filled` with `bomb`. Requires a contiguous manifest: WebP or MP4. */
export function bombed(file: Buffer, bomb: (bytes: number) => Buffer): Buffer {
  const at = file.lastIndexOf('cbor', file.indexOf(FILLING.repeat(3)))
  const copy = Buffer.from(file)
  bomb(copy.readUInt32BE(at - 4) - 8).copy(copy, at + 4)
  return copy
}

/** XMP in a JPEG that refers to a remote manifest (C2PA, 11.5). */
export function withRemoteManifest(jpeg: Buffer, url: string): Buffer {
  const xmp = `http://ns.adobe.com/xap/1.0/\0<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dcterms="http://purl.org/dc/terms/" dcterms:provenance="${url}"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`
  const content = Buffer.from(xmp, 'latin1')
  const header = Buffer.from([0xff, 0xe1, 0, 0])
  header.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), header, content, jpeg.subarray(2)])
}
