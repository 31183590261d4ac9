/** Interfaces by which the parts of a process report to metrics, traces and the log. */
import type { ErrorCode } from '../shared/errors.ts'
import type { LabelsOf, NamesOf } from './metric-table.ts'

/** Records events of this process as metrics. A new metric needs a row in `metric-table.ts` and a call of one of these functions. */
export interface Meter {
  /** Adds `by` to a counter. 1 when missing. */
  count<Name extends NamesOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void
  /** Adds a value to a histogram, in its unit. */
  observe<Name extends NamesOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  /** Sets the function that returns a gauge without labels for each scrape. */
  gauge(name: NamesOf<'gauge'>, read: () => number): void
}

/** The API of a request. `operator`: probes and metrics. */
export type Api = 'graphql' | 'rest' | 'admin' | 'operator' | 'none'

/** Collects facts about a request while it is answered. `answer` is the response of the request. */
export interface RequestWatch {
  /**
   * Sets what the request asks for. `operation` is a route pattern or an operation type with a root field, so the number of names is bounded.
   * `operationName` is the name that a GraphQL client gave the operation.
   */
  asked(answer: object, api: Api, operation: string, operationName?: string): void
  /** Sets the UUID of the user who sent the request. */
  identified(answer: object, userId: string): void
  /** Sets the error code. The first code counts. */
  refused(answer: object, code: ErrorCode): void
}

const nothing = () => undefined

export const noopMeter: Meter = { count: nothing, observe: nothing, gauge: nothing }

export const noopWatch: RequestWatch = { asked: nothing, identified: nothing, refused: nothing }

/** Load of a queue of this process. */
export interface QueueLoad {
  /** Maximum number of running operations. */
  places: number
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
  /** Lists use only a part of the connections. */
  lists: QueueLoad
}

/** State of the relay of this process. */
export interface RelayLoad {
  state: 'stopped' | 'starting' | 'working' | 'standby' | 'waiting'
  /** Number of the newest block that it has seen. */
  headNumber: number | null
  /** Milliseconds since it last completed a step without an error. Null if it never did. */
  stepAge: number | null
  /** Base fee of the next block, and the maximum that is offered, in wei per unit of gas. */
  nextBaseFee: bigint | null
  maxFeePerGas: bigint
  /** `inFlight`: number of signed transactions that are not in a block, as last seen here. */
  lanes: readonly { address: string; isHeld: boolean; inFlight: number }[]
}

/** The relay, as metrics see it. */
export interface WatchedRelay {
  status(): RelayLoad
  /** Returns the balance of each relay account by address, in wei. Throws UNAVAILABLE if the node does not answer before `signal`. */
  balances(signal: AbortSignal): Promise<ReadonlyMap<string, bigint>>
}

/** Parts of a process whose load is shown as metrics. */
export interface WatchedServices {
  /** Queues of this process, by name. */
  queues: Readonly<Record<string, () => QueueLoad>>
  /** Returns for how many seconds the oldest expired row waits for its deletion, by batch job. Throws UNAVAILABLE. */
  overdue(): Promise<readonly { sweep: string; seconds: number }[]>
}

/**
 * Attributes of a span, with the names of OpenTelemetry's conventions. They never contain text of users, documents, variables, tokens or parameters
 * of statements, because spans leave the process.
 */
export type SpanFacts = Readonly<Record<string, string | number>>

export interface SpanOptions {
  /** `client`: a call to another process. `consumer`: a job. Internal work when missing. */
  kind?: 'client' | 'consumer'
  facts?: SpanFacts
}

/** Trace context of the cause of some work, as a W3C `traceparent`. Null if it is not traced. */
export type Origin = string | null

export interface Tracer {
  /** Runs `work` as a child span of the current span. Runs it without a span if nothing is traced. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /**
   * Runs `work` as a child span of each of these origins, which may be of other processes and over. Spans inside `work` are children of the first.
   */
  resume<T>(
    origins: readonly (Origin | undefined)[],
    name: string,
    options: SpanOptions,
    work: () => Promise<T>,
  ): Promise<T>
  /** Records a span below an origin. It started `milliseconds` ago and is over now. */
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

/** Metrics and traces of a process, and what follows its requests. */
export interface Telemetry {
  meter: Meter
  watch: RequestWatch
  tracer: Tracer
}

export const noopTelemetry: Telemetry = { meter: noopMeter, watch: noopWatch, tracer: noopTracer }
