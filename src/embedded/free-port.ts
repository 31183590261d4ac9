import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { errorCode } from '../shared/operator-errors.ts'

/** Throws the error of the system when no server can listen there. */
const tryListening = (port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, host, () => probe.close(() => resolve()))
  })

/** Returns whether this system lets a server listen at an address. */
export const canListen = (host: string): Promise<boolean> =>
  tryListening(0, host).then(
    () => true,
    () => false,
  )

/** Error codes for a port that is in use or reserved. */
const taken = new Set(['EADDRINUSE', 'EACCES'])

const isFree = (port: number) =>
  tryListening(port, '127.0.0.1').then(
    () => true,
    (error: unknown) => {
      if (taken.has(errorCode(error) ?? '')) return false
      throw error
    },
  )

/** Below the ephemeral ports of Linux (32768) and macOS (49152), so that no outgoing connection takes the port before it is used. */
const [FIRST_PORT, LAST_PORT] = [15_000, 29_999]
const PORTS_TO_TRY = 100

/** Returns a random free port on 127.0.0.1. Throws when none of a hundred is free, or when the system refuses to listen at all. */
export async function findFreePort(): Promise<number> {
  for (let count = 0; count < PORTS_TO_TRY; count += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    if (await isFree(port)) return port
  }
  throw new Error('No free port.')
}
