/** Whether others notice: `/healthz` asked from a thread that has nothing else to do. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface Look {
  milliseconds: number
  /** 0 when there was no answer. */
  status: number
}

/** Looks until the returned function is called, which tells what was seen. */
export function watchHealth(url: string): () => Promise<Look[]> {
  const worker = new Worker(new URL('./health-worker.ts', import.meta.url), { workerData: url })
  return async () => {
    worker.postMessage('stop')
    const [looks] = (await once(worker, 'message')) as [Look[]]
    await worker.terminate()
    return looks
  }
}
