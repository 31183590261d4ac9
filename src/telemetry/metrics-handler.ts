/**
 * `/metrics`, for callers at the operators' own port and for callers with the token. For all others the path does not exist. The route needs no
 * database and counts against no limit.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { RequestWatch } from './telemetry-types.ts'

/** Who may see the metrics. */
export interface MetricsAccess {
  /** Asked for as `Authorization: Bearer <token>` at every port, where it is set. */
  token: string | undefined
  /** The operators' own, where there is one: whoever reaches it needs no token unless there is one. */
  port: number | undefined
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Takes the same time whatever is sent. */
const isSame = (sent: string, token: string) => timingSafeEqual(sha256(sent), sha256(token))

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'
const BEARER = /^bearer\s+(\S+)\s*$/i

/** Where there is a token, nobody gets in without it; where there is none, only the operators' port does. */
function judge({ token, port }: MetricsAccess, req: IncomingMessage): 'let in' | 'ask for the token' | 'hide' {
  if (token === undefined) return port !== undefined && req.socket.localPort === port ? 'let in' : 'hide'
  const sent = BEARER.exec(req.headers.authorization ?? '')?.[1]
  return sent !== undefined && isSame(sent, token) ? 'let in' : 'ask for the token'
}

/** Adds `/metrics`. Where it is hidden, it is answered as an unknown path. */
export function addMetrics(
  app: FastifyInstance,
  {
    access,
    watch,
    scrape,
  }: {
    access: MetricsAccess
    watch: RequestWatch
    /** In the text format of Prometheus. */
    scrape(): Promise<string>
  },
): void {
  app.all('/metrics', async ({ raw: req }, reply) => {
    const judged = judge(access, req)
    if (judged === 'hide') return reply.callNotFound()
    watch.asked(reply.raw, 'operator', 'GET /metrics')
    reply.headers({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
    if (judged === 'ask for the token') {
      watch.refused(reply.raw, 'AUTHENTICATION_FAILED')
      reply.code(401).header('WWW-Authenticate', 'Bearer')
      return reply.send('Send METRICS_TOKEN as "Authorization: Bearer <token>".\n')
    }
    if (req.method === 'GET' || req.method === 'HEAD') return reply.type(TEXT_FORMAT).send(await scrape())
    watch.refused(reply.raw, 'METHOD_NOT_ALLOWED')
    return reply.code(405).header('Allow', 'GET, HEAD').send('Metrics are read by GET.\n')
  })
}
