/** Suspends the process for as long as a very slow machine needs to load the service. */
import { registerHooks } from 'node:module'

const STANDSTILL_MS = 11_000

registerHooks({
  load(url, context, next) {
    if (url.endsWith('/src/app.ts')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS)
    return next(url, context)
  },
})
