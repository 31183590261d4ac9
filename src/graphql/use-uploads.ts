import { processRequest } from 'graphql-upload-ts'
import type { Plugin } from 'graphql-yoga'
import { uploadError } from './incoming-file.ts'
import type { NodeContext } from './yoga.ts'

export interface UploadOptions {
  maxFileBytes: number
}

const MAX_FIELD_BYTES = 1_000_000

/** Reads the GraphQL multipart request: files are streamed to disk, never held in memory. */
export const useUploads = ({ maxFileBytes }: UploadOptions): Plugin<object, NodeContext> => ({
  onRequestParse({ request, serverContext, setRequestParser }) {
    if (!request.headers.get('content-type')?.startsWith('multipart/form-data')) return
    const { req, res } = serverContext
    setRequestParser(async () => {
      try {
        return await processRequest(req, res, { maxFileSize: maxFileBytes, maxFiles: 1, maxFieldSize: MAX_FIELD_BYTES })
      } catch (error) {
        throw uploadError(error)
      }
    })
  },
})
