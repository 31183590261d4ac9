/** A worker's way to its supervisor. */

import { METRICS_MS, type ToSupervisor, type ToWorker } from './messages.ts'
import { createQuestions } from './questions.ts'

/** The supervisor, as a worker has it. */
export interface SupervisorLink {
  /** What the supervisor calls this worker. */
  readonly name: string
  /** Whether to take the port before the parts stand, so that a port that is taken is told first. Else only once everything can be served. */
  readonly listensFirst: boolean
  /** Fulfilled with where callers reach the service, once the parts stand. */
  readonly opened: Promise<string>
  /** Fulfilled when all processes of the supervisor are about to stop. */
  readonly leaving: Promise<void>
  /** Says that everything can be served. */
  ready(): void
  /** Tells this worker's own metrics whenever the supervisor asks for them. */
  tellMetrics(read: () => Promise<object[]>): void
  /** The metrics of all workers, in Prometheus's text format. Raises UNAVAILABLE. */
  askMetrics(): Promise<string>
}

/** As the supervisor that has forked this process says it. */
export function createSupervisorLink({
  name,
  listensFirst,
}: Pick<SupervisorLink, 'name' | 'listensFirst'>): SupervisorLink {
  const opened = Promise.withResolvers<string>()
  const leaving = Promise.withResolvers<void>()
  const questions = createQuestions<string>('The supervisor', METRICS_MS)
  let readMetrics: () => Promise<object[]> = async () => []
  const send = (message: ToSupervisor) => void process.send?.(message)

  async function tell(id: number) {
    // Whoever does not answer is left out.
    const metrics = await readMetrics().catch(() => [])
    send({ kind: 'told metrics', id, metrics })
  }

  process.on('message', (message: ToWorker) => {
    if (message.kind === 'open') opened.resolve(message.publicUrl)
    if (message.kind === 'leave') leaving.resolve()
    if (message.kind === 'tell metrics') void tell(message.id)
    if (message.kind === 'metrics') questions.answered(message.id, message.text)
  })
  return {
    name,
    listensFirst,
    opened: opened.promise,
    leaving: leaving.promise,
    ready: () => send({ kind: 'ready' }),
    tellMetrics(read) {
      readMetrics = read
    },
    askMetrics: () => questions.ask((id) => send({ kind: 'ask metrics', id })),
  }
}
