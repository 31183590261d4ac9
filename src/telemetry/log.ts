import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { inspect } from 'node:util'
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { createLogThrottle, type Log } from '../shared/log.ts'
import type { Role, StopReason } from '../shared/process.ts'
import type { Tracer } from './telemetry-types.ts'

const STDERR = 2
const MAX_WAITING_BYTES = 1_000_000

/** While stderr cannot be written, such as on a full disk, lines are buffered up to 1 MB. */
function toStderr(): DestinationStream {
  const destination = pino.destination({ dest: STDERR, sync: true, maxLength: MAX_WAITING_BYTES })
  destination.on('error', () => {})
  return destination
}

/** pino-pretty is loaded only for a terminal. */
function toTerminal(): DestinationStream {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty')
  const format = prettyFactory({ translateTime: 'SYS:HH:MM:ss', singleLine: true })
  const destination = toStderr()
  return { write: (line) => destination.write(format(line)) }
}

/** Error stacks are excluded, because they differ in repeated warnings. */
const subjectOf = (fields: object, message: string | undefined) =>
  `${message} ${inspect(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]),
    { breakLength: Infinity },
  )}`

const WARN = pino.levels.values.warn

/** Logs the same warning at most once a minute. `suppressed` is the number of omitted repetitions. */
function throttleWarnings(): NonNullable<LoggerOptions['hooks']>['logMethod'] {
  const throttle = createLogThrottle()
  return function (args, write, level) {
    if (level !== WARN) return write.apply(this, args)
    const [fields, message] = args as unknown as [object, string?]
    const line = throttle(subjectOf(fields, message))
    if (line) write.call(this, line.suppressed > 0 ? { ...fields, ...line } : fields, message)
  }
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

/** Field names of OpenTelemetry for JSON logs. */
function traceFields(tracer: Pick<Tracer, 'origin'>): object {
  const [, trace_id, span_id, trace_flags] = TRACEPARENT.exec(tracer.origin() ?? '') ?? []
  return trace_id === undefined ? {} : { trace_id, span_id, trace_flags }
}

const SECRETS = ['authorization', 'token', 'password', 'apiKey']

/** Creates a log on stderr: readable text on a terminal, otherwise JSON lines. Secret fields are censored. */
export const createLog = (
  level: string,
  { destination, tracer }: { destination?: DestinationStream; tracer?: Pick<Tracer, 'origin'> } = {},
): Log =>
  pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      ...(tracer && { mixin: () => traceFields(tracer) }),
      hooks: { logMethod: throttleWarnings() },
      redact: {
        paths: [...SECRETS.flatMap((name) => [name, `*.${name}`]), '*["x-api-key"]'],
        censor: '[censored]',
      },
    },
    destination ?? (isatty(STDERR) ? toTerminal() : toStderr()),
  ) as Log

/** Does not censor secrets, which halves the time per line. Log only known fields with this log. */
export const withoutRedaction = (log: Log): Log =>
  (log as unknown as Logger).child({}, { redact: [] }) as unknown as Log

/** Unhandled rejections are bugs in one request or job. Without this handler, Node would exit. */
export const logUnhandledRejections = (log: Pick<Log, 'error'>) =>
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'Unhandled promise rejection'))

/** Logs start and end of the service. `ready` after `shuttingDown` logs nothing: a signal may arrive during start-up. */
export function createLifecycleLog(log: Log, version: string) {
  let stopping: { signal: NodeJS.Signals; since: number } | undefined
  return {
    ready(url: string, roles: ReadonlySet<Role>) {
      if (stopping) return
      const durationMs = Math.round(performance.now())
      log.info({ url, version, roles: [...roles], durationMs }, 'Ready')
    },
    shuttingDown(signal: NodeJS.Signals) {
      stopping = { signal, since: performance.now() }
      log.info({ signal }, 'Shutting down…')
    },
    /** `reason` is set if the process ends before all work is finished. */
    stopped(reason?: StopReason) {
      const durationMs = stopping && Math.round(performance.now() - stopping.since)
      log.info({ signal: stopping?.signal, reason, durationMs }, 'Stopped')
    },
  }
}
