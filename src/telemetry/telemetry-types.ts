import type { ErrorCode } from '../shared/errors.ts'
import type { LabelsOf, NamesOf } from './metric-table.ts'

/** Records the metrics of `metric-table.ts`. */
export interface Meter {
  /** Adds `by` to a counter. Default: 1. */
  count<Name extends NamesOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void
  observe<Name extends NamesOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  /** Sets the function that reads a gauge without labels for each scrape. */
  gauge(name: NamesOf<'gauge'>, read: () => number): void
}

/** API of a request. `operator`: health checks and metrics. */
export type Api = 'graphql' | 'rest' | 'admin' | 'operator' | 'none'

/** Collects data about a request. `response` is its HTTP response. */
export interface RequestWatch {
  /** `operation`: route pattern, or operation type and root field, so names are bounded. `operationName`: of the client's document. */
  setOperation(response: object, api: Api, operation: string, operationName?: string): void
  identified(response: object, userId: string): void
  /** Sets the error code. Later calls have no effect. */
  refused(response: object, code: ErrorCode): void
}

const nothing = () => undefined
export const noopMeter: Meter = { count: nothing, observe: nothing, gauge: nothing }
export const noopWatch: RequestWatch = { setOperation: nothing, identified: nothing, refused: nothing }

export interface QueueLoad {
  /** Maximum number of concurrent operations. */
  slots: number
  running: number
  waiting: number
  /** Number of rejected operations since the process started. */
  refused: number
}

export interface PoolLoad {
  size: number
  open: number
  inUse: number
  waiting: number
  /** Load of list reads, which use only a part of the connections. */
  lists: QueueLoad
}

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

export interface WatchedRelay {
  status(): RelayLoad
  /** Returns the balance of each relay account, in wei by address. Throws UNAVAILABLE if `signal` aborts. */
  balances(signal: AbortSignal): Promise<ReadonlyMap<string, bigint>>
}

export interface WatchedServices {
  queues: Readonly<Record<string, () => QueueLoad>>
  /** Returns the age of the oldest overdue row by batch job, in seconds. Throws UNAVAILABLE. */
  overdue(): Promise<readonly { job: string; seconds: number }[]>
}

/** Span attributes by OpenTelemetry's conventions. They contain no user text, variables, tokens or parameters. */
export type SpanFacts = Readonly<Record<string, string | number>>

export interface SpanOptions {
  /** `client`: a call to another process. `consumer`: a job. Default: internal work. */
  kind?: 'client' | 'consumer'
  facts?: SpanFacts
}

/** W3C `traceparent` of the work's cause. Null if it is not traced. */
export type Origin = string | null

export interface Tracer {
  /** Runs `work` as a child span of the current span, if any. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /** Runs `work` as a child span of each origin. Spans inside `work` are children of the first origin. */
  resume<T>(
    origins: readonly (Origin | undefined)[],
    name: string,
    options: SpanOptions,
    work: () => Promise<T>,
  ): Promise<T>
  /** Records a span that started `milliseconds` ago and ends now, as a child of `origin`. */
  note(origin: Origin, name: string, options: SpanOptions, milliseconds: number): void
  origin(): Origin
}

export const noopTracer: Tracer = {
  span: (_name, _options, work) => work(),
  resume: (_origins, _name, _options, work) => work(),
  note: nothing,
  origin: () => null,
}

export interface Telemetry {
  meter: Meter
  watch: RequestWatch
  tracer: Tracer
}

export const noopTelemetry: Telemetry = { meter: noopMeter, watch: noopWatch, tracer: noopTracer }
