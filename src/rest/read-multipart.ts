import type { IncomingMessage } from 'node:http'
import type { BodyReaders, IncomingFile, Intake } from '../domain/asset/uploads.ts'
import { validationFailed } from '../domain/errors.ts'
import { createFields, type Fields } from './fields.ts'
import { NOT_UTF8 } from './form-text.ts'

/** Which files a route takes, and where they go. */
export interface MultipartOptions extends BodyReaders<IncomingMessage> {
  /** Names of the fields in which a file is taken; others with a file are refused where there is none, else ignored. */
  files: readonly string[]
  /** Names of its other fields, which are texts also where they come as files. */
  texts: readonly string[]
  /** Takes files to disk. */
  intake: Intake
}

/** Files of the fields that are taken go to disk as they come, fields may stand before or after them, and memory stays flat. */
export async function readMultipart(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes, files: taken, texts, intake }: MultipartOptions,
): Promise<Fields> {
  const values: Record<string, unknown> = Object.create(null)
  const files: Record<string, IncomingFile> = Object.create(null)
  const seen = new Set<string>()
  const { whole } = readForm(req, {
    maxBytes,
    maxFileBytes,
    maxFiles: taken.length,
    isText: (name) => texts.includes(name),
    onField(name, value) {
      values[name] = value ?? NOT_UTF8
    },
    onFile(name, file) {
      if (taken.includes(name) && !seen.has(name)) {
        seen.add(name)
        return intake.hold(file).then((held) => {
          files[name] = held
        })
      }
      // What a browser sends for an input where nobody chose a file.
      if (file.filename === '' && file.mimetype === 'application/octet-stream') return undefined
      if (taken.length === 0) throw validationFailed({ [name]: ['No file is taken here.'] })
      return undefined
    },
  })
  await whole
  return createFields(values, { files, isForm: true })
}
