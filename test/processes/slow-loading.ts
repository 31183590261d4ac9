/** Suspends the process for as long as a very slow machine needs to load the service. */
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    if (url.endsWith('/src/app.ts')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000)
    return next(url, context)
  },
})
