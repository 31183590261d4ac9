/**
 * The workers of a supervisor: processes that are forked from it, share its port, and are replaced when they end. The port is
 * the supervisor's own, which hands each connection to one of them: what waits to be accepted is lost with none of them.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Log } from '../../domain/ports/log.ts'
import { giveBackConnections } from './handed-connections.ts'
import { LISTENS_FIRST, METRICS_MS, type ToSupervisor, type ToWorker } from './messages.ts'
import { createQuestions } from './questions.ts'

/** One place of the crew, whichever process has it. */
export interface Member {
  name: string
  /** What the program is started with. */
  args: readonly string[]
}

/** A worker could not be started. */
class WorkerFailedError extends Error {
  override readonly name = 'WorkerFailedError'
}

/** What the workers run, and who hears of them. */
export interface CrewOptions {
  /** Path of the program. */
  program: string
  log: Log
  /** What a worker is told that asks for the metrics of all. */
  readAllMetrics(): Promise<string>
}

/** The workers. */
export interface Crew {
  /** Starts the first worker. Fulfilled with its port once it listens, before it serves. Raises WorkerFailedError. */
  startFirst(member: Member): Promise<number>
  /** Starts a worker. */
  start(member: Member): void
  /** Has all of them, and all that replace them, open the parts. Fulfilled when they serve. Raises WorkerFailedError. */
  open(publicUrl: string): Promise<void>
  /** Names of those that do not serve at this moment. */
  absent(): string[]
  /** What each worker that serves tells; whoever does not answer in time is missing. */
  readMetrics(): Promise<object[][]>
  /** Tells all of them that they are about to stop. */
  leave(): void
  /** Has all of them come to their end, and replaces none. */
  stop(): Promise<void>
}

/** Milliseconds. One that lived for so long is replaced at once. */
const STEADY_MS = 60_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000

interface Place {
  member: Member
  worker: Worker
  isReady: boolean
  startedAt: number
  /** Ends in a row after a short life. */
  failures: number
  /** Fulfilled when it serves for the first time; rejected when it ends before. */
  first: PromiseWithResolvers<void>
  pause?: NodeJS.Timeout
}

/** How a process ended, for people. */
const endOf = (code: number | null, signal: string | null) => (signal ? `signal ${signal}` : `exit code ${code}`)

/** Without a number it must not be killed: that would be whatever lay in memory. */
const wasStarted = (worker: Worker) => worker.process.pid !== undefined

/** A crew without workers. */
export function createCrew({ program, log, readAllMetrics }: CrewOptions): Crew {
  const places: Place[] = []
  const questions = createQuestions<object[]>('A worker', METRICS_MS)
  let publicUrl: string | undefined
  let isStopping = false

  const send = ({ worker }: Place, message: ToWorker) => {
    if (worker.isConnected()) worker.send(message)
  }

  function hear(place: Place, message: ToSupervisor) {
    if (message.kind === 'told metrics') questions.answered(message.id, message.metrics)
    if (message.kind === 'ask metrics') {
      const { id } = message
      const answer = (text: string) => send(place, { kind: 'metrics', id, text })
      readAllMetrics().then(answer, (error: unknown) =>
        log.warn({ err: error }, 'Failed to collect the metrics of the workers'),
      )
    }
    if (message.kind === 'ready') {
      place.isReady = true
      place.first.resolve()
    }
  }

  function fork({ args }: Member, ...more: string[]): Worker {
    cluster.setupPrimary({ exec: program, args: [...args, ...more] })
    const worker = cluster.fork()
    if (wasStarted(worker)) giveBackConnections(worker)
    return worker
  }

  /** A worker that ended comes back: at once after a long life, ever later after short ones. */
  function replace(place: Place, end: string) {
    const hasLived = performance.now() - place.startedAt >= STEADY_MS
    place.failures = hasLived ? 0 : place.failures + 1
    const pause = hasLived ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (place.failures - 1), LONGEST_PAUSE_MS)
    log.warn({ worker: place.member.name, end, pauseMs: pause }, 'Worker process ended; replacing it')
    place.pause = setTimeout(() => {
      place.startedAt = performance.now()
      try {
        place.worker = fork(place.member)
        watch(place)
      } catch (error) {
        // No memory, for one.
        replace(place, (error as Error).message)
      }
    }, pause)
  }

  function watch(place: Place) {
    const { worker } = place
    place.startedAt = performance.now()
    worker.on('message', (message: ToSupervisor) => hear(place, message))
    let isOver = false
    const end = (how: string) => {
      if (isOver) return
      isOver = true
      place.isReady = false
      if (isStopping) return
      place.first.reject(new WorkerFailedError(`Worker ${place.member.name} could not start (${how}).`))
      // Before all have served once, one that could not start ends all, and `open` replaces one that could.
      if (hasServed) replace(place, how)
    }
    worker.on('error', (error) => {
      // One that the machine could not start has no exit.
      if (wasStarted(worker)) log.warn({ err: error, worker: place.member.name }, 'Failed to notify worker process')
      else end(error.message)
    })
    if (publicUrl !== undefined) send(place, { kind: 'open', publicUrl })
    worker.once('exit', (code: number | null, signal: string | null) => end(endOf(code, signal)))
  }

  let hasServed = false
  function take(member: Member, ...more: string[]): Place {
    const first = Promise.withResolvers<void>()
    first.promise.catch(() => {})
    const place: Place = { member, worker: fork(member, ...more), isReady: false, startedAt: 0, failures: 0, first }
    places.push(place)
    watch(place)
    return place
  }

  return {
    async startFirst(member) {
      const { worker, first } = take(member, LISTENS_FIRST)
      const listening = once(worker, 'listening') as Promise<[{ port: number }]>
      const [{ port }] = await Promise.race([listening, first.promise.then(() => listening)])
      return port
    },
    start(member) {
      take(member)
    },
    async open(url) {
      publicUrl = url
      for (const place of places) send(place, { kind: 'open', publicUrl })
      await Promise.all(places.map(({ first }) => first.promise))
      hasServed = true
      for (const place of places) {
        const { process } = place.worker
        if (place.worker.isDead() && !isStopping) replace(place, endOf(process.exitCode, process.signalCode))
      }
    },
    absent: () => places.filter(({ isReady }) => !isReady).map(({ member }) => member.name),
    async readMetrics() {
      const ask = (place: Place) => questions.ask((id) => send(place, { kind: 'tell metrics', id }))
      const told = await Promise.allSettled(places.filter(({ isReady }) => isReady).map(ask))
      return told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    },
    leave() {
      isStopping = true
      for (const place of places) {
        clearTimeout(place.pause)
        send(place, { kind: 'leave' })
      }
    },
    async stop() {
      isStopping = true
      const ends = places.map(async ({ worker, pause }) => {
        clearTimeout(pause)
        if (worker.isDead() || !wasStarted(worker)) return
        const ended = once(worker, 'exit')
        worker.process.kill('SIGTERM')
        await ended
      })
      await Promise.all(ends)
    },
  }
}
