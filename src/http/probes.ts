import type { FastifyInstance, FastifyReply } from 'fastify'
import { shareRunning } from '../shared/async.ts'
import { notFound } from '../shared/errors.ts'
import type { RequestWatch } from '../telemetry/telemetry-types.ts'
import { presentError } from './error-status.ts'

export interface ProbeParts {
  missing(): Promise<string[]>
  /** Components that most requests do not need. */
  degraded(): Promise<string[]>
  version: string
}

interface ProbeResponse {
  status: number
  body: object
}

export type Probes = Readonly<Record<'healthz' | 'readyz' | 'version', () => Promise<ProbeResponse>>>

export function createProbes(parts: ProbeParts): Probes {
  async function checkReadiness(): Promise<ProbeResponse> {
    const [missing, degraded] = await Promise.all([parts.missing(), parts.degraded()])
    if (missing.length) return { status: 503, body: { status: 'unavailable', missing: [...missing, ...degraded] } }
    // All processes share the degraded component. If they returned 503, the load balancer would remove every process.
    return { status: 200, body: degraded.length ? { status: 'degraded', missing: degraded } : { status: 'ok' } }
  }

  return {
    healthz: async () => ({ status: 200, body: { status: 'ok' } }),
    // Probes have no rate limit. Concurrent probes share one check, so that they cannot overload the components.
    readyz: shareRunning(checkReadiness),
    version: async () => ({ status: 200, body: { version: parts.version } }),
  }
}

export async function findUnavailableParts(parts: {
  contentStore: { isReachable(): Promise<boolean> }
  missingFolders(): Promise<string[]>
}): Promise<string[]> {
  const [isReachable, folders] = await Promise.all([parts.contentStore.isReachable(), parts.missingFolders()])
  return [...(isReachable ? [] : ['file store']), ...folders]
}

const uncached = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }

export const sendProbe = (reply: FastifyReply, { status, body }: ProbeResponse): FastifyReply =>
  reply
    .code(status)
    .headers(uncached)
    .send(Buffer.from(JSON.stringify(body)))

export function addProbes(app: FastifyInstance, probes: Probes, watch: RequestWatch): void {
  for (const [name, probe] of Object.entries(probes)) {
    app.route({
      ...{ method: ['GET', 'HEAD'], url: `/${name}` },
      async handler(_request, reply) {
        watch.setOperation(reply.raw, 'operator', `GET /${name}`)
        return sendProbe(reply, await probe())
      },
    })
  }
  app.setNotFoundHandler((_request, reply) => {
    const error = notFound('Resource')
    watch.refused(reply.raw, error.code)
    const { headers, ...response } = presentError(error)
    sendProbe(reply.headers({ ...headers, Connection: 'close' }), response)
  })
}
