/** Parses mails: headers, and the parts of a multipart/alternative. */
export type ParsedMail = { headers: Record<string, string[]>; subject: string; to: string; text: string; html: string }

type Entity = { headers: Record<string, string[]>; body: string }

function readEntity(source: string): Entity {
  const end = source.indexOf('\r\n\r\n')
  const headers: Entity['headers'] = {}
  for (const line of source
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    headers[name] = [...(headers[name] ?? []), line.slice(colon + 1).trim()]
  }
  return { headers, body: source.slice(end + 4) }
}

export const fromQuotedPrintable = (text: string) =>
  Buffer.from(
    text
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

const decodeWords = (header: string) =>
  header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_, encoding: string, text: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString()
        : fromQuotedPrintable(text.replaceAll('_', ' ')),
    )

function readBody({ headers, body }: Entity): string {
  const encoding = headers['content-transfer-encoding']?.[0]?.toLowerCase()
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? fromQuotedPrintable(body) : body
}

export function parseMail(source: string): ParsedMail {
  const { headers, body } = readEntity(source)
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type']?.[0] ?? '')?.[1]
  if (!boundary) throw new Error('Not a multipart message')
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => readEntity(part.replace(/^\r\n/, '')))
  const read = (type: string) => {
    const part = parts.find((each) => each.headers['content-type']?.[0]?.startsWith(type))
    return part ? readBody(part).replaceAll('\r\n', '\n').trim() : ''
  }
  return {
    headers,
    subject: decodeWords(headers.subject?.[0] ?? ''),
    to: decodeWords(headers.to?.[0] ?? ''),
    text: read('text/plain'),
    html: read('text/html'),
  }
}
