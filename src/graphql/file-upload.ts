import { Readable } from 'node:stream'
import type { FileUpload } from 'graphql-upload-ts'
import type { Pieces } from '../files/file-types.ts'
import type { IncomingFile } from '../modules/assets/uploads.ts'

/**
 * Presents an uploaded file as `graphql-upload-ts` does. `hold` writes the file to disk. It is called when a stream of the file is first created,
 * so that permission is checked before.
 */
export function fileUpload(
  { filename, mimetype }: Pick<IncomingFile, 'filename' | 'mimetype'>,
  hold: () => Promise<IncomingFile>,
): FileUpload {
  function createReadStream() {
    const held = hold()
    // The stream reports the error.
    held.catch(() => {})
    let pieces: Pieces | undefined
    async function* read() {
      pieces = (await held).createReadStream()
      yield* pieces
    }
    const stream = Readable.from(read(), { highWaterMark: 1 })
    return Object.assign(stream, { release: (piece: Uint8Array) => pieces?.release?.(piece) })
  }
  // `capacitor` is the temporary file of the package, which this service does not use.
  return { filename, mimetype, createReadStream } as unknown as FileUpload
}
