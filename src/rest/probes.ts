/** What supervisors and balancers ask a process, whatever it is there for. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { notFound } from '../domain/errors.ts'
import type { RequestWatch } from '../domain/telemetry.ts'
import { presentError } from './status.ts'

/** What probes tell of. */
export interface ProbeParts {
  /** What is not ready; empty when everything can be served. */
  missing(): Promise<string[]>
  /** What is away, while most can be served without it. */
  degraded(): Promise<string[]>
  version: string
}

/** What a probe is answered. */
export interface ProbeAnswer {
  status: number
  body: object
}

/** The probes, by the names of their addresses. */
export type Probes = Readonly<Record<'healthz' | 'readyz' | 'version', () => Promise<ProbeAnswer>>>

/** Creates the probes of this process. */
export function createProbes(parts: ProbeParts): Probes {
  async function checkReadiness(): Promise<ProbeAnswer> {
    const [missing, degraded] = await Promise.all([parts.missing(), parts.degraded()])
    if (missing.length) return { status: 503, body: { status: 'unavailable', missing: [...missing, ...degraded] } }
    // Every gateway shares the part that is away: a 503 would take all of them out, with all that works without it.
    return { status: 200, body: degraded.length ? { status: 'degraded', missing: degraded } : { status: 'ok' } }
  }
  let checking: Promise<ProbeAnswer> | undefined

  return {
    healthz: async () => ({ status: 200, body: { status: 'ok' } }),
    // Probes count against no limit: requests that come during a check share its result, so they cannot overload the parts.
    readyz() {
      checking ??= checkReadiness().finally(() => {
        checking = undefined
      })
      return checking
    },
    version: async () => ({ status: 200, body: { version: parts.version } }),
  }
}

/** Parts of an installation that can be away while the process serves. */
interface Parts {
  contentStore: { isReachable(): Promise<boolean> }
  missingFolders(): Promise<string[]>
}

/** Returns the names of the parts that are away, or whose folders are not those of this installation. */
export async function findAwayParts({ contentStore, missingFolders }: Parts): Promise<string[]> {
  const [isReachable, folders] = await Promise.all([contentStore.isReachable(), missingFolders()])
  return [...(isReachable ? [] : ['file store']), ...folders]
}

/** Sends what a probe is answered. */
export const sendProbe = (req: IncomingMessage, res: ServerResponse, { status, body }: ProbeAnswer): void => {
  res
    .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
    .end(req.method === 'HEAD' ? undefined : JSON.stringify(body))
}

/** Creates the handler of a process without the role `http`: it answers probes, and 404 for everything else. */
export function createProbesOnly(probes: Probes, watch: RequestWatch) {
  const probeAt = (url: string | undefined) => {
    const name = /^\/(\w+)\/?(?:\?|$)/.exec(url ?? '')?.[1] ?? ''
    return Object.hasOwn(probes, name) ? (name as keyof Probes) : undefined
  }
  return {
    matches: () => true,
    async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const probe = req.method === 'GET' || req.method === 'HEAD' ? probeAt(req.url) : undefined
      if (probe) {
        watch.asked(res, 'operator', `GET /${probe}`)
        return sendProbe(req, res, await probes[probe]())
      }
      const error = notFound('Resource')
      watch.refused(res, error.code)
      const { status, headers, body } = presentError(error)
      res
        .writeHead(status, { ...headers, 'Content-Type': 'application/json', Connection: 'close' })
        .end(req.method === 'HEAD' ? undefined : JSON.stringify(body))
    },
  }
}
