/** What a supervisor and its workers say to each other. */

/** From the supervisor. `id` names a question. */
export type ToWorker =
  /** The parts stand: open them, and serve. */
  | { kind: 'open'; publicUrl: string }
  /** All of us are about to stop: say so to balancers. SIGTERM follows. */
  | { kind: 'leave' }
  /** Tell your metrics. */
  | { kind: 'tell metrics'; id: number }
  /** What you asked for: the metrics of all workers. */
  | { kind: 'metrics'; id: number; text: string }

/** From a worker. */
export type ToSupervisor =
  /** Everything can be served. */
  | { kind: 'ready' }
  /** As it was asked: its own, as prom-client has them. */
  | { kind: 'told metrics'; id: number; metrics: object[] }
  /** Tell me the metrics of all. */
  | { kind: 'ask metrics'; id: number }

/** Milliseconds that metrics are waited for; each source of a worker has three seconds. */
export const METRICS_MS = 6_000

/** On the command line of the worker that is to take the port before the parts stand. */
export const LISTENS_FIRST = 'listens-first'
