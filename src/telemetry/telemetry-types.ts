/** Interfaces through which the parts of a process report metrics, traces and log lines. */
import type { ErrorCode } from '../shared/errors.ts'
import type { LabelsOf, NamesOf } from './metric-table.ts'

/** Records events of this process as metrics. Metrics are defined in `metric-table.ts`. */
export interface Meter {
  /** Adds `by` to a counter. Default: 1. */
  count<Name extends NamesOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void
  /** Adds a value to a histogram, in the histogram's unit. */
  observe<Name extends NamesOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  /** Sets the function that reads a gauge without labels for each scrape. */
  gauge(name: NamesOf<'gauge'>, read: () => number): void
}

/** API of a request. `operator`: health checks and metrics. */
export type Api = 'graphql' | 'rest' | 'admin' | 'operator' | 'none'

/** Collects data about a request while it is processed. `answer` is the HTTP response of the request. */
export interface RequestWatch {
  /**
   * Sets the operation. `operation` is a route pattern, or an operation type with a root field, so the number of
   * names is bounded. `operationName` is the operation's name in the client's document.
   */
  setOperation(answer: object, api: Api, operation: string, operationName?: string): void
  /** Sets the UUID of the authenticated user. */
  identified(answer: object, userId: string): void
  /** Sets the error code. Later calls have no effect. */
  refused(answer: object, code: ErrorCode): void
}

const nothing = () => undefined

export const noopMeter: Meter = { count: nothing, observe: nothing, gauge: nothing }

export const noopWatch: RequestWatch = { setOperation: nothing, identified: nothing, refused: nothing }

/** Load of a queue in this process. */
export interface QueueLoad {
  /** Maximum number of concurrent operations. */
  slots: number
  running: number
  waiting: number
  /** Number of rejected operations since the process started. */
  refused: number
}

/** Load of the database connections of this process. */
export interface PoolLoad {
  /** Maximum number of connections. */
  size: number
  open: number
  inUse: number
  /** Number of operations that wait for a connection. */
  waiting: number
  /** Load of list reads, which use only a part of the connections. */
  lists: QueueLoad
}

/** State of this process's relay. */
export interface RelayLoad {
  state: 'stopped' | 'starting' | 'working' | 'standby' | 'waiting'
  /** Number of the newest block that the relay has seen. */
  headNumber: number | null
  /** Milliseconds since the last successful step. Null if there was none. */
  stepAge: number | null
  /** Base fee of the next block, in wei per unit of gas. */
  nextBaseFee: bigint | null
  maxFeePerGas: bigint
  /** `inFlight`: number of signed transactions that are not yet in a block, as this process last saw. */
  lanes: readonly { address: string; isHeld: boolean; inFlight: number }[]
}

/** The part of the relay that metrics read. */
export interface WatchedRelay {
  status(): RelayLoad
  /** Returns the balance of each relay account, in wei by address. Throws UNAVAILABLE if `signal` aborts. */
  balances(signal: AbortSignal): Promise<ReadonlyMap<string, bigint>>
}

/** Services whose load is shown as metrics. */
export interface WatchedServices {
  /** Queues of this process, by name. */
  queues: Readonly<Record<string, () => QueueLoad>>
  /** Returns the age of the oldest overdue row by batch job, in seconds. Throws UNAVAILABLE. */
  overdue(): Promise<readonly { job: string; seconds: number }[]>
}

/**
 * Attributes of a span, named by OpenTelemetry's conventions. Spans leave the process, so attributes never contain
 * user text, documents, variables, tokens or statement parameters.
 */
export type SpanFacts = Readonly<Record<string, string | number>>

export interface SpanOptions {
  /** `client`: a call to another process. `consumer`: a job. Default: internal work. */
  kind?: 'client' | 'consumer'
  facts?: SpanFacts
}

/** Trace context of the work's cause, as a W3C `traceparent`. Null if it is not traced. */
export type Origin = string | null

export interface Tracer {
  /** Runs `work` as a child span of the current span, or without a span if nothing is traced. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /**
   * Runs `work` as a child span of each origin. Origins may belong to other processes, and their spans may have
   * ended. Spans inside `work` are children of the first origin.
   */
  resume<T>(
    origins: readonly (Origin | undefined)[],
    name: string,
    options: SpanOptions,
    work: () => Promise<T>,
  ): Promise<T>
  /** Records a span that started `milliseconds` ago and ends now, as a child of `origin`. */
  note(origin: Origin, name: string, options: SpanOptions, milliseconds: number): void
  /** Returns the trace context of the current span. */
  origin(): Origin
}

export const noopTracer: Tracer = {
  span: (_name, _options, work) => work(),
  resume: (_origins, _name, _options, work) => work(),
  note: nothing,
  origin: () => null,
}

/** Metrics, traces and request telemetry of a process. */
export interface Telemetry {
  meter: Meter
  watch: RequestWatch
  tracer: Tracer
}

export const noopTelemetry: Telemetry = { meter: noopMeter, watch: noopWatch, tracer: noopTracer }
