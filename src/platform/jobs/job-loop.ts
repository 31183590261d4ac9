/**
 * Takes jobs from a queue. pg-boss's own `work()` is not used: each of its workers polls for itself and waits out the polling interval after
 * every job. The hundred workers of webhook deliveries would send 200 queries a second to an idle queue, and one worker would send at most
 * two mails a second.
 */

/** Where jobs come from, and how many are carried out at once. */
export interface JobLoopOptions<Job> {
  /** Takes at most so many jobs that are due. */
  take(count: number): Promise<Job[]>
  /** Never raises. */
  carryOut(job: Job): Promise<void>
  /** A look for jobs failed. */
  onError(error: unknown): undefined
  concurrency: number
  /** Seconds between looks when nothing is due. */
  pollEvery: number
}

/** A loop that takes jobs. */
export interface JobLoop {
  /** Takes no more, and waits for what runs. */
  stop(): Promise<void>
}

/**
 * One loop looks for all hands at once: an idle queue costs one statement a look however many hands there are. It looks
 * again as soon as a job came or ended, for one that ended may have held up others of its group.
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
