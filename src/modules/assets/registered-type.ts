/** Selection of the media type that is registered for a file. */
import mime from 'mime'
import { aliasedType, detectType, HEAD_BYTES, isRefinement } from './file-types.ts'
import type { IncomingFile } from './uploads.ts'

const OCTETS = 'application/octet-stream'
const TEXT = 'text/plain'

/** Placeholder types that clients send if they do not know the type of a file. */
const UNINFORMATIVE = new Set([
  OCTETS,
  ...['application/x-octet-stream', 'application/octetstream', 'application/binary', 'application/x-binary'],
  ...['application/unknown', 'application/x-unknown', 'application/x-unknown-content-type'],
  ...['application/download', 'application/x-download', 'application/force-download', 'application/x-force-download'],
  ...['binary/octet-stream', 'content/unknown', 'unknown/unknown', 'unknown/application', 'multipart/form-data'],
])

/** Returns true if a text is a valid media type. It is sent as a response header when the file is read. */
export const isMimeType = (text: string) => /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *;[ -~]*)?$/.test(text)

/** Returns true if a declared type does not describe the file: it is empty, a wildcard such as `image/*`, or a placeholder. */
export const isUninformative = (text: string): boolean =>
  text.trim() === '' || /^[\w.+-]*\*?\/\*$/.test(text) || UNINFORMATIVE.has(text.split(';', 1)[0]!.trim().toLowerCase())

/** Returns the declared type of a form part. Returns `application/octet-stream` if the part declares no media type. */
export const declaredTypeOf = ({ mimetype }: IncomingFile): string => (isMimeType(mimetype) ? mimetype : OCTETS)

async function headOf(file: IncomingFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const piece of file.createReadStream()) {
    parts.push(piece.slice(0, HEAD_BYTES))
    length += piece.length
    if (length >= HEAD_BYTES) break
  }
  return Buffer.concat(parts)
}

/** Returns true if the bytes contain control characters that do not occur in text files. */
const isBinary = (head: Uint8Array) => head.some((byte) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d].includes(byte))

/** Matches media types of files that are not text. */
const NOT_TEXT = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip)$)/

const typeOfName = (fileName: string): string | undefined => {
  const type = mime.getType(fileName) ?? undefined
  return type && (aliasedType(type) ?? type)
}

/**
 * Returns the media type to register for a file. An informative declared type is kept. Otherwise the type is detected from the content or
 * taken from the file name. `given`: the type in the input, which takes precedence over the type of the form part. Throws the errors of
 * reading the file.
 */
export async function registeredTypeOf(file: IncomingFile, given: string | undefined): Promise<string> {
  const isGiven = given !== undefined && !isUninformative(given)
  const declared = isGiven ? given : declaredTypeOf(file)
  const alias = aliasedType(declared)
  // `text/plain` is the default type of form parts, so it may not describe the file.
  const mayBeText = !isGiven && declared.toLowerCase().startsWith(TEXT)
  const isInformative = !isUninformative(declared) && alias === undefined && !mayBeText
  if (isInformative) return declared
  const head = await headOf(file)
  const detected = mayBeText && !isBinary(head) ? undefined : detectType(head)
  const named = typeOfName(file.filename)
  if (detected !== undefined) return named !== undefined && isRefinement(named, head) ? named : detected
  if (alias !== undefined) return alias
  if (!mayBeText) return named ?? OCTETS
  return named !== undefined && NOT_TEXT.test(named) ? named : declared
}
