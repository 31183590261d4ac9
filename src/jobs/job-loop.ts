/**
 * Takes jobs from a queue. pg-boss's own `work()` is not used: each of its workers polls for itself and waits out the polling interval after
 * every job. The hundred workers of webhook deliveries would send 200 queries a second to an idle queue, and one worker would send at most
 * two mails a second.
 */

/** Source of the jobs, and limits. */
export interface JobLoopOptions<Job> {
  /** Fetches at most `count` jobs that are due. */
  take(count: number): Promise<Job[]>
  /** Runs a job. Never rejects. */
  carryOut(job: Job): Promise<void>
  /** Handles a failed fetch. */
  onError(error: unknown): undefined
  concurrency: number
  /** Seconds between fetches while no job is due. */
  pollEvery: number
}

/** A running loop. */
export interface JobLoop {
  /** Fetches no more jobs, and waits for running ones. */
  stop(): Promise<void>
}

/**
 * Starts a loop. It fetches for all free places with one query, so an idle queue costs one query per interval. It fetches again after each
 * job, which may have blocked others of its group.
 */
export function startJobLoop<Job>({ take, carryOut, onError, concurrency, pollEvery }: JobLoopOptions<Job>): JobLoop {
  const running = new Set<Promise<void>>()
  let isStopped = false
  let hasNews = false
  let endPause = () => {}

  const wake = () => {
    hasNews = true
    endPause()
  }

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollEvery * 1_000)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  function start(job: Job) {
    const run = carryOut(job).finally(() => {
      running.delete(run)
      wake()
    })
    running.add(run)
  }

  async function loop() {
    while (!isStopped) {
      hasNews = false
      const free = concurrency - running.size
      const jobs = free > 0 ? await take(free).catch(onError) : undefined
      for (const job of jobs ?? []) start(job)
      if (!jobs?.length && !hasNews) await pause()
    }
  }
  const looping = loop()

  return {
    async stop() {
      isStopped = true
      wake()
      await looping
      await Promise.all(running)
    },
  }
}
