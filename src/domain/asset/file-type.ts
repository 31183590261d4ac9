/** What a file is, where its sender does not say: many programs send every file as octets, some as text, which is also what a part without a type is. */
import mime from 'mime'
import { FORMAT_BYTES, formatOf } from './file-format.ts'
import type { IncomingFile } from './uploads.ts'

const OCTETS = 'application/octet-stream'
const TEXT = 'text/plain'

/** It becomes a header when the file is read. */
export const isMimeType = (text: string) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[ -~]*)?$/.test(text)

async function headOf(file: IncomingFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const piece of file.open()) {
    parts.push(piece.slice(0, FORMAT_BYTES))
    length += piece.length
    if (length >= FORMAT_BYTES) break
  }
  return Buffer.concat(parts)
}

/** Whether a file begins with bytes that no text has. */
const isBinary = (head: Uint8Array) => head.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte))

/** Many formats begin so; of these a name says more. */
const families = new Set(['video/mp4', 'image/tiff'])

/** Of what is text as well, the sender knows best which it is. */
const isNoText = (type: string) => /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(pdf|zip)$)/.test(type)

/** What a part says of itself, if that is a MIME type. */
export const saidTypeOf = ({ mimeType }: IncomingFile): string => (isMimeType(mimeType) ? mimeType : OCTETS)

/**
 * A MIME type: what the part says of itself, unless that says nothing; else what the file begins as, or what its name says where it begins as many
 * formats do, or as none that is known. Raises what reading the file raises.
 */
export async function typeOf(file: IncomingFile): Promise<string> {
  const said = saidTypeOf(file)
  if (said !== OCTETS && said !== TEXT) return said
  const head = await headOf(file)
  const seen = isBinary(head) ? formatOf(head) : undefined
  const named = mime.getType(file.filename) ?? seen ?? said
  if (seen !== undefined) return families.has(seen) && isNoText(named) ? named : seen
  return said === OCTETS || isNoText(named) ? named : said
}
