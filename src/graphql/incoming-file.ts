import type { FileUpload } from 'graphql-upload-ts'
import type { IncomingFile } from '../domain/asset/asset-service.ts'
import { DomainError } from '../domain/errors.ts'

/** An upload's trouble in our words. The library tells it by HTTP statuses. */
export function uploadError(error: unknown): unknown {
  const { status, message } = error as { status?: number; message: string }
  if (status === 413) return new DomainError('PAYLOAD_TOO_LARGE', message, { cause: error })
  if (status !== undefined && status < 500) return new DomainError('PARSE_ERROR', message, { cause: error })
  return error
}

const inOurWords = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw uploadError(error)
  }
}

/** A file of a multipart request as the domain takes it. Raises PARSE_ERROR when the request announced it and did not send it. */
export async function incomingFile(upload: Promise<FileUpload>): Promise<IncomingFile> {
  const { filename, mimetype, createReadStream } = await inOurWords(upload)
  return {
    filename,
    mimeType: mimetype,
    async *open() {
      try {
        yield* createReadStream() as AsyncIterable<Uint8Array>
      } catch (error) {
        throw uploadError(error)
      }
    },
  }
}
