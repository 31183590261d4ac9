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

/** Of what is text as well, the sender knows best which it is. */
const isNoText = (type: string) => /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(pdf|zip)$)/.test(type)

/** What a part says of itself, if that is a MIME type. */
export const saidTypeOf = ({ mimeType }: IncomingFile): string => (isMimeType(mimeType) ? mimeType : OCTETS)

/**
 * A MIME type: what the part says of itself, unless that says nothing; else what the file begins as, or else what its name says. Raises
 * what reading the file raises.
 */
export async function typeOf(file: IncomingFile): Promise<string> {
  const said = saidTypeOf(file)
  if (said !== OCTETS && said !== TEXT) return said
  const seen = formatOf(await headOf(file))
  if (seen !== undefined) return seen
  const named = mime.getType(file.filename) ?? said
  return said === OCTETS || isNoText(named) ? named : said
}
