/**
 * Starts the product itself, `src/main.ts`, inside the runner's folder. The runner takes the first answer for readiness,
 * and ours would be "The service is starting": until it is ready, callers find the door shut.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { installationDir } from './place.ts'

const REQUEST_START = 'http.server.request.start'
const READINESS = '/readyz'
const PROBE_EVERY = 100

const { BENCH_WORK: work, PORT: port } = process.env
if (!work || !port)
  throw new Error('BENCH_WORK or PORT is not set: the benchmark’s runner starts this program, see bench/run.ts.')
process.env.ANNAL_DIR = installationDir(work)

const shut = (message: unknown) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url !== READINESS) request.socket.destroy()
}
const isReady = () =>
  fetch(`http://127.0.0.1:${port}${READINESS}`).then(
    ({ ok }) => ok,
    () => false,
  )

subscribe(REQUEST_START, shut)
const { serve } = await import('../src/main.ts')
void serve().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
})
while (!(await isReady())) await delay(PROBE_EVERY)
unsubscribe(REQUEST_START, shut)
