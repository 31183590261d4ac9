/** What cannot be an operation, with the reason for each. */
import { notFound } from '../domain/errors.ts'
import { appStartRoutes } from './app-start.ts'
import type { DirectRequest, DirectRoute } from './define-route.ts'
import { streamEvents } from './event-stream.ts'
import { sendExport } from './export.ts'
import { pictureRoutes } from './send-picture.ts'

/** What direct routes need of the process. */
export interface DirectParts {
  /** What is not ready; empty when everything can be served. */
  missing(): Promise<string[]>
  /** What is away, while most can be served without it. */
  degraded(): Promise<string[]>
  version: string
  homePage: string
  /** Instead of the home page. */
  homeRefusal: NonNullable<DirectRoute['presentRefusal']>
  /** Nids of documents that everybody may read: the descriptions of actions. */
  publicDocuments: ReadonlySet<string>
  links: { verify(cid: string, query: URLSearchParams): boolean }
  gateway: {
    send(
      req: DirectRequest['req'],
      res: DirectRequest['res'],
      cid: string,
      query: URLSearchParams,
      file: { mimeType: string; fileName: string },
      audience: 'everybody-for-ever' | 'everybody' | 'owner',
    ): Promise<void>
  }
}

/** All direct routes but the pages with forms. */
export function createDirectRoutes(parts: DirectParts): DirectRoute[] {
  const get = (path: string, reason: string, handle: DirectRoute['handle']): DirectRoute => ({
    method: 'GET',
    path,
    reason,
    handle,
  })

  const probe = (path: string, reason: string, answer: () => Promise<{ status: number; body: object }>) =>
    get(path, reason, async ({ res }) => {
      const { status, body } = await answer()
      res
        .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
        .end(JSON.stringify(body))
    })

  return [
    probe('/healthz', 'Asked by supervisors: tells that the process lives, and touches nothing else.', async () => ({
      status: 200,
      body: { status: 'ok' },
    })),
    probe('/readyz', 'Asked by balancers: tells whether requests can be served.', async () => {
      const [missing, degraded] = await Promise.all([parts.missing(), parts.degraded()])
      if (missing.length) return { status: 503, body: { status: 'unavailable', missing: [...missing, ...degraded] } }
      // Every gateway shares the part that is away: a 503 would take all of them out, with all that works without it.
      return { status: 200, body: degraded.length ? { status: 'degraded', missing: degraded } : { status: 'ok' } }
    }),
    probe('/version', 'Asked by operators.', async () => ({ status: 200, body: { version: parts.version } })),
    {
      ...get('/', 'A page for people.', async ({ res }) => {
        const policy =
          "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        res
          .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy })
          .end(parts.homePage)
      }),
      isOpenToStaleTokens: true,
      presentRefusal: parts.homeRefusal,
    },
    get(
      '/api/v3/events/stream',
      'Server-sent events: an answer that goes on for as long as somebody reads.',
      streamEvents,
    ),
    // The phone app knows this family without the prefix.
    ...['/api/v3/auth/users/me/export', '/auth/users/me/export'].map((path) =>
      get(path, 'A document of any size, streamed.', sendExport),
    ),
    ...appStartRoutes,
    ...pictureRoutes,
    get('/ipfs/:cid', 'Bytes of a file, with ranges, streamed.', (request) => sendFile(parts, request)),
  ]
}

async function sendFile(
  { gateway, links, publicDocuments }: DirectParts,
  { req, res, params, query, context }: DirectRequest,
) {
  const cid = params.cid!
  // Also on refusals: bytes, raw block and CAR have one address, and what is private has answers for its owner alone.
  res.setHeader('Vary', 'Accept, Authorization')
  if (publicDocuments.has(cid)) {
    return gateway.send(
      req,
      res,
      cid,
      query,
      { mimeType: 'application/json', fileName: `${cid}.json` },
      'everybody-for-ever',
    )
  }
  const { actor, services } = context
  const linked = links.verify(cid, query)
  const file = await services.assets.findFile(linked ? { kind: 'system' } : actor, cid)
  if (!file) throw notFound('File')
  await gateway.send(req, res, cid, query, file, file.publicAccess ? 'everybody' : 'owner')
}
