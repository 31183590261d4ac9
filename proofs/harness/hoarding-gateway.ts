/** Preloaded into a gateway, the control of a soak: each request leaves memory and a descriptor behind. */
import { subscribe } from 'node:diagnostics_channel'
import { openSync } from 'node:fs'

const kept: unknown[] = []
subscribe('http.server.request.start', () => {
  kept.push(Buffer.alloc(100_000, 1), openSync('/dev/null', 'r'))
})
