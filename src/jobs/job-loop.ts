/**
 * Fetches and runs jobs of a queue. Replaces pg-boss's `work()`, whose workers each poll separately and wait for the polling interval after every
 * job. The hundred workers for webhook deliveries would send 200 queries a second to an idle queue. One worker would send at most two mails a second.
 */

/** Source, handler and limits of the jobs. */
interface JobLoopOptions<Job> {
  /** Fetches at most `count` due jobs. */
  take(count: number): Promise<Job[]>
  /** Runs a job. Never rejects. */
  run(job: Job): Promise<void>
  /** Handles a failed fetch. */
  onError(error: unknown): undefined
  concurrency: number
  /** Seconds between two fetches while no job is due. */
  pollEvery: number
}

/** A running loop. */
export type JobLoop = ReturnType<typeof startJobLoop>

/**
 * Starts a loop. It fetches jobs for all free slots with one query, so an idle queue costs one query per interval. It
 * also fetches after each job, because that job may have blocked others of its group.
 */
export function startJobLoop<Job>({ take, run, onError, concurrency, pollEvery }: JobLoopOptions<Job>) {
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
    const completion = run(job).finally(() => {
      running.delete(completion)
      wake()
    })
    running.add(completion)
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
    /** Stops fetching jobs and waits for running ones. */
    async stop(): Promise<void> {
      isStopped = true
      wake()
      await looping
      await Promise.all(running)
    },
  }
}
