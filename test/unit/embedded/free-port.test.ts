import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../../../src/embedded/server-process.ts'

/** Lowest port that Linux uses for outgoing connections by default. */
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
  // Two of twenty random ports are equal once in 80 runs, five never.
  expect(new Set(ports).size).toBeGreaterThan(15)
})
