/**
 * `/metrics`, for who may see it: whoever asks at the operators' own port, or whoever has the token. To everybody else there is
 * no such address. It goes by none of the doors, so that it answers while the database is away and counts against nobody's limits.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestWatch } from '../../domain/telemetry.ts'
import type { HttpHandler } from '../http/http-server.ts'

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

/** Answers `/metrics`; where it is hidden, it is left to those who answer any address that there is not. */
export function createMetricsHandler({
  access,
  watch,
  scrape,
}: {
  access: MetricsAccess
  watch: RequestWatch
  /** In the text format of Prometheus. */
  scrape(): Promise<string>
}): HttpHandler {
  async function answer(req: IncomingMessage, res: ServerResponse) {
    const text = await scrape()
    res.writeHead(200, { 'Content-Type': TEXT_FORMAT, 'Cache-Control': 'no-store' })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  function refuse(res: ServerResponse, status: number, headers: Record<string, string>, text: string) {
    res
      .writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
      .end(text)
  }

  return {
    matches: (path, req) => path === '/metrics' && judge(access, req) !== 'hide',
    handle(req, res) {
      watch.asked(res, 'operator', 'GET /metrics')
      if (judge(access, req) !== 'let in') {
        watch.refused(res, 'AUTHENTICATION_FAILED')
        return refuse(
          res,
          401,
          { 'WWW-Authenticate': 'Bearer' },
          'Send METRICS_TOKEN as "Authorization: Bearer <token>".\n',
        )
      }
      if (req.method === 'GET' || req.method === 'HEAD') return answer(req, res)
      watch.refused(res, 'METHOD_NOT_ALLOWED')
      refuse(res, 405, { Allow: 'GET, HEAD' }, 'Metrics are read by GET.\n')
    },
  }
}
