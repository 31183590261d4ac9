/** Follows each request from its headers to the end of its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Door, RequestWatch } from '../../domain/telemetry.ts'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { Metrics } from './metrics.ts'

interface Watching {
  startedAt: number
  door: Door
  operation: string
  code: ErrorCode | 'OK'
}

const isStream = (res: ServerResponse) => String(res.getHeader('content-type') ?? '').startsWith('text/event-stream')

/** What follows requests, and what the doors tell of them. */
export function createRequestTelemetry(metrics: Metrics): RequestTelemetry & { watch: RequestWatch } {
  const watching = new WeakMap<object, Watching>()

  function end(res: ServerResponse, { startedAt, ...asked }: Watching) {
    const status = res.writableFinished ? res.statusCode : undefined
    const milliseconds = performance.now() - startedAt
    metrics.requestEnded({ ...asked, status, milliseconds, isStream: isStream(res) })
  }

  return {
    serve(_req: IncomingMessage, res, handle) {
      const request: Watching = { startedAt: performance.now(), door: 'none', operation: 'other', code: 'OK' }
      watching.set(res, request)
      metrics.requestBegan()
      res.once('close', () => end(res, request))
      return handle()
    },
    watch: {
      asked(answer, door, operation) {
        Object.assign(watching.get(answer) ?? {}, { door, operation })
      },
      refused(answer, code) {
        const request = watching.get(answer)
        if (request?.code === 'OK') request.code = code
      },
    },
  }
}
