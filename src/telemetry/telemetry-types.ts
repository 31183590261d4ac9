/** What operators see of the service while it runs: the words in which the parts tell it. `telemetry/metrics.ts` listens. */
import type { ErrorCode } from '../shared/errors.ts'

/** What came of one attempt to deliver a webhook: it is tried again unless it was delivered or given up. */
export type WebhookAttemptOutcome = 'delivered' | 'failed' | 'given-up'

/** What came of one mail: taken by the next server, refused for good because of its recipient, or not sent this time. */
export type MailOutcome = 'sent' | 'refused' | 'failed'

/** Counts what happens. Every name that it is told is one of a bounded number. */
export interface Meter {
  /** A limit refused somebody; `limit` is its name. */
  limitRefused(limit: string): void
  /** A file came in with a request. */
  fileTaken(bytes: number): void
  /** A file that a request announced did not come in: it was refused, broke off, or found no room. */
  fileRefused(): void
  /** `statusCode` is missing when no answer came; `milliseconds` is how long the attempt took. */
  webhookAttempted(outcome: WebhookAttemptOutcome, statusCode: number | undefined, milliseconds: number): void
  /** A mail was tried. */
  mailTried(outcome: MailOutcome): void
  /** A transaction of the relay was included, which cost so many wei. */
  feePaid(wei: bigint): void
  /** A sweep, by its name, dealt with so many items. */
  swept(sweep: string, count: number): void
}

/** How a request reached the service. */
export type Door = 'graphql' | 'rest' | 'admin' | 'operator' | 'none'

/** Collects facts about a request while it is answered. `answer` is the response of the request. */
export interface RequestWatch {
  /**
   * Sets what the request asks for. `operation` is a route pattern or an operation type with a root field, so the number of names is bounded.
   * `operationName` is the name that a GraphQL client gave the operation.
   */
  asked(answer: object, door: Door, operation: string, operationName?: string): void
  /** Sets the UUID of the user who sent the request. */
  identified(answer: object, userId: string): void
  /** Sets the error code. The first code counts. */
  refused(answer: object, code: ErrorCode): void
}

const nothing = () => undefined

/** Counts nothing. */
export const silentMeter: Meter = {
  limitRefused: nothing,
  fileTaken: nothing,
  fileRefused: nothing,
  webhookAttempted: nothing,
  mailTried: nothing,
  feePaid: nothing,
  swept: nothing,
}

/** Sees nothing. */
export const blindWatch: RequestWatch = { asked: nothing, identified: nothing, refused: nothing }

/** How full a queue of this process is. */
export interface QueueLoad {
  /** How many are let in at once. */
  places: number
  running: number
  waiting: number
  /** How many were turned away since the process started. */
  refused: number
}

/** How busy the connections of this process are. */
export interface PoolLoad {
  /** How many there may be. */
  size: number
  open: number
  inUse: number
  /** Who waits for one. */
  waiting: number
  /** Lists, which leave a part of the connections to everybody else. */
  lists: QueueLoad
}

/** What the relay of this process is doing. */
export interface RelayLoad {
  state: 'stopped' | 'starting' | 'working' | 'standby' | 'waiting'
  /** Number of the newest block that it saw. */
  headNumber: number | null
  /** Milliseconds since it came through a step without trouble; null when it never did. */
  stepAge: number | null
  /** Wei a unit of gas: what the next block asks for as it was last seen, and the most that is offered. */
  nextBaseFee: bigint | null
  maxFeePerGas: bigint
  /** `inFlight`: signed and not in the chain, as it was last seen here. */
  lanes: readonly { address: string; isHeld: boolean; inFlight: number }[]
}

/** The relay, as operators watch it. */
export interface WatchedRelay {
  status(): RelayLoad
  /** Wei of each relay account, by address. Raises UNAVAILABLE when the node does not tell until `signal`. */
  balances(signal: AbortSignal): Promise<ReadonlyMap<string, bigint>>
}

/** What tells how busy the services of this process are. */
export interface WatchedServices {
  /** Queues in this process, by name. */
  queues: Readonly<Record<string, () => QueueLoad>>
  /** Bytes of files whose requests are under way. */
  uploadBytes(): number
  /** Event streams and subscriptions that are open. */
  streams(): number
  /** For how many seconds the oldest row is due to be forgotten, by the name of its sweep. Raises UNAVAILABLE. */
  overdue(): Promise<readonly { sweep: string; seconds: number }[]>
}

/**
 * What a span tells besides its name, by the names of OpenTelemetry's conventions. Never a text, document, variable, token or
 * parameter of a statement: spans go to wherever the operator keeps them.
 */
export type SpanFacts = Readonly<Record<string, string | number>>

/** How a span is told. */
export interface SpanOptions {
  /** `client`: a call to another process; `consumer`: a job; work of our own when left out. */
  kind?: 'client' | 'consumer'
  facts?: SpanFacts
}

/** Where something began: a `traceparent` as the W3C writes it, or null when nobody follows it. */
export type Origin = string | null

/** Follows what is done from one part to the next. */
export interface Tracer {
  /** Carries `work` out as a span of what is under way; where nothing is followed, it is just carried out. */
  span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>
  /**
   * Carries `work` out as a span below each of these origins, which may be of other processes and long over. What `work` does itself
   * goes below the first of them.
   */
  resume<T>(
    origins: readonly (Origin | undefined)[],
    name: string,
    options: SpanOptions,
    work: () => Promise<T>,
  ): Promise<T>
  /** A span below an origin that began so many milliseconds ago and is over now. */
  note(origin: Origin, name: string, options: SpanOptions, milliseconds: number): void
  /** Of what is under way. */
  origin(): Origin
}

/** Follows nothing. */
export const blindTracer: Tracer = {
  span: (_name, _options, work) => work(),
  resume: (_origins, _name, _options, work) => work(),
  note: nothing,
  origin: () => null,
}

/** Where the parts tell operators what happens. */
export interface Telemetry {
  meter: Meter
  watch: RequestWatch
  tracer: Tracer
}

/** Nobody listens. */
export const silentTelemetry: Telemetry = { meter: silentMeter, watch: blindWatch, tracer: blindTracer }
