/** Preloaded into a gateway as a control of the soak test. Each request leaks memory and a file descriptor. */
import { subscribe } from 'node:diagnostics_channel'
import { openSync } from 'node:fs'

const kept: unknown[] = []
subscribe('http.server.request.start', () => {
  kept.push(Buffer.alloc(100_000, 1), openSync('/dev/null', 'r'))
})
