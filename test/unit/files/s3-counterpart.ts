/**
 * The part of S3 that the content store uses, in memory, with a clock that tests set and faults that they bring. That signatures are right
 * is tried on a real server (`npm run test:ecosystem -- s3`); here only that links with a signature expire.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Stored {
  bytes: Buffer
  changedAt: number
}

export interface S3Counterpart {
  url: string
  env: Record<string, string>
  objects: Map<string, Stored>
  now: number
  keepsVersions: boolean
  page: number
  requests: { method: string; key: string }[]
  intercept: (method: string, key: string, res: ServerResponse) => Promise<boolean> | boolean
  stop(): Promise<void>
}

const BUCKET = 'files'

export const refuse = (res: ServerResponse, status: number, code: string): true => {
  res.writeHead(status, { 'Content-Type': 'application/xml' })
  res.end(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}.</Message></Error>`)
  return true
}

const readAll = async (req: IncomingMessage) => {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part)
  return Buffer.concat(parts)
}

const atSecond = (time: number) => Math.floor(time / 1_000) * 1_000

const endOf = (query: URLSearchParams) => {
  const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '')
  if (!date) return undefined
  const [year, month, day, hour, minute, second] = date.slice(1).map(Number)
  return Date.UTC(year!, month! - 1, day, hour, minute, second) + Number(query.get('X-Amz-Expires')) * 1_000
}

export const startS3Counterpart = async (): Promise<S3Counterpart> => {
  process.env.AWS_ACCESS_KEY_ID ??= 'somebody'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'a secret of tests'
  const objects = new Map<string, Stored>()
  const now = () => counterpart.now

  const list = (query: URLSearchParams, res: ServerResponse) => {
    const after = query.get('continuation-token') ?? ''
    const prefix = query.get('prefix') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, counterpart.page)
    const isCut = page.length < keys.length
    const contents = page.map((key) => {
      const { bytes, changedAt } = objects.get(key)!
      const time = new Date(changedAt).toISOString()
      return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><Size>${bytes.length}</Size></Contents>`
    })
    const token = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    res.setHeader('Content-Type', 'application/xml')
    res.end(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`,
    )
  }

  const put = async (req: IncomingMessage, res: ServerResponse, key: string) => {
    const bytes = await readAll(req)
    const sum = req.headers['x-amz-checksum-sha256']
    if (sum !== undefined && sum !== createHash('sha256').update(bytes).digest('base64'))
      return refuse(res, 400, 'BadDigest')
    objects.set(key, { bytes, changedAt: atSecond(now()) })
    return res.end()
  }

  const remove = (res: ServerResponse, key: string) => {
    objects.delete(key)
    res.writeHead(204).end()
  }

  const give = (res: ServerResponse, key: string, isHead: boolean) => {
    const found = objects.get(key)
    if (!found) return isHead ? res.writeHead(404).end() : refuse(res, 404, 'NoSuchKey')
    res.setHeader('Last-Modified', new Date(found.changedAt).toUTCString())
    res.setHeader('Content-Length', found.bytes.length)
    return res.end(isHead ? undefined : found.bytes)
  }

  const server = createServer(async (req, res) => {
    const { pathname, searchParams: query } = new URL(req.url!, 'http://s3')
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/')
    const key = rest.join('/')
    const method = req.method!
    counterpart.requests.push({ method, key })
    try {
      if (await counterpart.intercept(method, key, res)) return
      res.sendDate = false
      res.setHeader('Date', new Date(now()).toUTCString())
      if (bucket !== BUCKET)
        return void (method === 'HEAD' ? res.writeHead(404).end() : refuse(res, 404, 'NoSuchBucket'))
      const end = endOf(query)
      if (end !== undefined && end < now()) return void refuse(res, 403, 'AccessDenied: Request has expired')
      if (method === 'PUT') await put(req, res, key)
      else if (method === 'DELETE') remove(res, key)
      else if (key !== '') give(res, key, method === 'HEAD')
      else if (method === 'HEAD') res.end()
      else if (query.has('versioning'))
        res.end(
          `<VersioningConfiguration>${counterpart.keepsVersions ? '<Status>Enabled</Status>' : ''}</VersioningConfiguration>`,
        )
      else list(query, res)
    } catch {
      res.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const counterpart: S3Counterpart = {
    url,
    env: { S3_BUCKET: BUCKET, S3_ENDPOINT: url },
    objects,
    now: Date.now(),
    keepsVersions: false,
    page: 1_000,
    requests: [],
    intercept: () => false,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return counterpart
}
