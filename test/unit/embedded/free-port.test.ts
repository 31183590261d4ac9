import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../../src/embedded/server-process.ts'

/** The lowest that Linux gives to outgoing connections unless it is told otherwise. */
const FIRST_OUTGOING = 32_768

it('returns a free port that outgoing connections do not use', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, findFreePort))
  expect(ports.filter((port) => port < 1024 || port >= FIRST_OUTGOING)).toEqual([])
  for (const port of new Set(ports)) {
    const server = createServer().listen(port, '127.0.0.1')
    onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
    await once(server, 'listening')
  }
})

it('returns different free ports to concurrent callers', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, findFreePort))
  // By chance two of twenty are the same once in eighty times, five never.
  expect(new Set(ports).size).toBeGreaterThan(15)
})
