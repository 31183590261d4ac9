/** A registration as a form, which `fetch` cannot make of a file that may change under its hands: it ends the process then. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { ImportRow } from './files.ts'

/** The file is not the one that was looked at, or cannot be read any more. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError'
  constructor(cause?: unknown) {
    super('The file changed, or went away, after it was looked at. Give the same command again.', { cause })
  }
}

/** As browsers write names. */
const quoted = (name: string) => `"${name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`

/** The content; its last bytes only when all of it is what was looked at. Raises ChangedError. */
async function* readUnchanged({ file, size, sha256 }: ImportRow): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let left = size
  try {
    for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
      left -= part.length
      hash.update(part)
      if (left < 0 || (left === 0 && hash.copy().digest('hex') !== sha256)) throw new ChangedError()
      yield part
    }
  } catch (error) {
    throw error instanceof ChangedError ? error : new ChangedError(error)
  }
  if (left > 0) throw new ChangedError()
}

const streamOf = (parts: AsyncGenerator<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await parts.return(undefined)),
  })

/** A request's body and headers. What is read of the body raises ChangedError, and then no whole form was sent. */
export function formOf(row: ImportRow, fields: Record<string, string>) {
  const boundary = `annal-${randomUUID()}`
  const start = `--${boundary}\r\ncontent-disposition: form-data; name=`
  const texts = Object.entries(fields).map(([name, value]) => `${start}${quoted(name)}\r\n\r\n${value}\r\n`)
  const before = Buffer.from(
    `${texts.join('')}${start}"asset_file"; filename=${quoted(row.fileName)}\r\ncontent-type: ${row.type}\r\n\r\n`,
  )
  const after = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* parts() {
    yield before
    yield* readUnchanged(row)
    yield after
  }
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(before.length + row.size + after.length),
  }
  return { body: streamOf(parts()), headers, duplex: 'half' } as const
}
