/** A trace collector that stores the received OTLP/JSON. */
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { type AtEnd, listen } from './listen.ts'

export interface ReceivedSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Record<string, unknown>
  status: number
}

interface Wire {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'attributes' | 'status'> & { attributes: Attribute[]; status: { code?: number } })[]
    }[]
  }[]
}
type Attribute = { key: string; value: Record<string, unknown> }

const read = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

export async function startOtlpReceiver(atEnd: AtEnd) {
  const spans: ReceivedSpan[] = []
  const texts: string[] = []
  const resources: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
    if (request.url !== '/v1/traces' || request.method !== 'POST') return response.writeHead(404).end()
    texts.push(text)
    for (const { resource, scopeSpans } of (JSON.parse(text) as Wire).resourceSpans) {
      resources.push(read(resource.attributes))
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: read(span.attributes), status: span.status.code ?? 0 })
      }
    }
    return response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const port = await listen(server, atEnd)
  return { url: `http://127.0.0.1:${port}`, spans, resources, text: () => texts.join('\n') }
}
