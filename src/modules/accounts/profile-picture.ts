/** Pictures on profiles: what is taken, and what is kept of it. */
import { createHash } from 'node:crypto'
import type { PictureMaker } from '../../files/file-types.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { newUuid } from '../../shared/ids.ts'
import { thumbnailTypeNames } from '../assets/file-types.ts'
import type { IncomingFile } from '../assets/uploads.ts'

/** Bytes of a picture as it is sent; what is kept is smaller. */
const MAX_PICTURE_BYTES = 10_000_000

/** By the input's field: which picture it is, and the longer sides, in pixels, of the picture that is kept and its thumbnail. */
const pictureFields = {
  profilePicture: { kind: 'PROFILE', sides: [1024, 256] },
  profileBackground: { kind: 'BACKGROUND', sides: [2048, 512] },
} as const

/** A field of the input that takes a picture. */
export type PictureField = keyof typeof pictureFields

/** Null takes a picture away; one that is left out stays. */
export type PicturesGiven = { [Field in PictureField]?: (() => Promise<IncomingFile>) | null | undefined }

/** The bytes of a picture that was sent, not looked into yet. */
interface ReceivedPicture {
  field: PictureField
  bytes: Buffer
}

/** The pictures of a request: those that were sent, and the fields whose picture is to go. */
export interface ReceivedPictures {
  received: ReceivedPicture[]
  removed: PictureField[]
}

/** Raises PAYLOAD_TOO_LARGE, VALIDATION_FAILED, and what reading the file raises. */
async function receive(field: PictureField, file: IncomingFile): Promise<ReceivedPicture> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.createReadStream()) {
    size += chunk.length
    if (size > MAX_PICTURE_BYTES) {
      throw new DomainError('PAYLOAD_TOO_LARGE', `A picture is over the limit of ${MAX_PICTURE_BYTES} bytes.`)
    }
    chunks.push(chunk)
  }
  if (size === 0) throw validationFailed({ [field]: ['The submitted file is empty.'] })
  return { field, bytes: Buffer.concat(chunks) }
}

/** Reads the files that were given. Raises PAYLOAD_TOO_LARGE, VALIDATION_FAILED, and what reading them raises. */
export async function receivePictures(given: PicturesGiven): Promise<ReceivedPictures> {
  const fields = Object.keys(pictureFields) as PictureField[]
  // Together: a form may have its files in any order, and each is sent after the one before it was read.
  const received = await Promise.all(
    fields.map(async (field) => {
      const file = await given[field]?.()
      return file && receive(field, file)
    }),
  )
  return {
    received: received.filter((picture) => picture !== undefined),
    removed: fields.filter((field) => given[field] === null),
  }
}

/** Tells pictures apart without holding on to them. */
export const identityOf = ({ received, removed }: ReceivedPictures) => ({
  ...Object.fromEntries(received.map(({ field, bytes }) => [field, createHash('sha256').update(bytes).digest('hex')])),
  ...Object.fromEntries(removed.map((field) => [field, null])),
})

/** What a statement needs to change them. Raises VALIDATION_FAILED, UNAVAILABLE. */
export async function pictureValues({ received, removed }: ReceivedPictures, maker: PictureMaker) {
  const made: { id: string; kind: string; picture: Uint8Array; thumbnail: Uint8Array }[] = []
  for (const { field, bytes } of received) {
    const { kind, sides } = pictureFields[field]
    const [picture, thumbnail] = (await maker.make(oneOf(bytes), sides)) ?? []
    if (!picture || !thumbnail) {
      throw validationFailed({ [field]: [`Upload a valid image: ${thumbnailTypeNames}.`] })
    }
    made.push({ id: newUuid(), kind, picture, thumbnail })
  }
  return {
    ids: made.map(({ id }) => id),
    kinds: made.map(({ kind }) => kind),
    pictures: made.map(({ picture }) => picture),
    thumbnails: made.map(({ thumbnail }) => thumbnail),
    removedKinds: removed.map((field) => pictureFields[field].kind),
  }
}

async function* oneOf(bytes: Uint8Array) {
  yield bytes
}
