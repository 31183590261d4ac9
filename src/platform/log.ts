import { inspect } from 'node:util'
import { type DestinationStream, type LoggerOptions, pino } from 'pino'
import { createLogThrottle } from '../domain/log-throttle.ts'
import type { Log } from '../domain/ports/log.ts'
import type { Tracer } from '../domain/telemetry.ts'

/** Bytes of lines that wait until they can be written; what comes beyond is left out. */
const MOST_WAITING = 1_000_000

/** A log that cannot be written, as on a full disk, ends nothing: its lines wait until they can be. */
function toStderr(): DestinationStream {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: MOST_WAITING })
  destination.on('error', () => {})
  return destination
}
const WARN = pino.levels.values.warn

/** Where an error came from tells nothing of what it is about. */
const withMessages = (fields: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]),
  )

/** What a line is about: its sentence, its fields, and of an error its message. */
const subjectOf = (fields: object, message: string | undefined) =>
  `${message} ${inspect(withMessages(fields), { breakLength: Infinity })}`

/** A warning that comes with each request or try is told once a minute; `untold`: how often it came in between. */
function tellRarely(): NonNullable<LoggerOptions['hooks']>['logMethod'] {
  const throttle = createLogThrottle()
  return function (args, write, level) {
    const [fields, message] = args as unknown as [object, string?]
    const line = level === WARN ? throttle(subjectOf(fields, message)) : { untold: 0 }
    if (line) write.call(this, line.untold > 0 ? { ...fields, ...line } : fields, message)
  }
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

/** What leads from a line to its trace, by the names that OpenTelemetry has for logs in other formats. */
function placeOf(tracer: Pick<Tracer, 'origin'>): object {
  const [, trace_id, span_id, trace_flags] = TRACEPARENT.exec(tracer.origin() ?? '') ?? []
  return trace_id === undefined ? {} : { trace_id, span_id, trace_flags }
}

/** Where lines go, and who knows what they are a part of. */
export interface LogOptions {
  destination?: DestinationStream
  tracer?: Pick<Tracer, 'origin'>
  /** Of a supervisor: stands in each line. */
  worker?: string | undefined
}

/** JSON lines on stderr. Names that hold secrets are censored wherever they turn up. */
export const createLog = (level: string, { destination = toStderr(), tracer, worker }: LogOptions = {}): Log =>
  pino(
    {
      level,
      base: worker === undefined ? undefined : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(tracer && { mixin: () => placeOf(tracer) }),
      hooks: { logMethod: tellRarely() },
      redact: {
        paths: [
          'authorization',
          'token',
          'password',
          'apiKey',
          '*.authorization',
          '*.token',
          '*.password',
          '*.apiKey',
          '*["x-api-key"]',
        ],
        censor: '[censored]',
      },
    },
    destination,
  ) as Log
