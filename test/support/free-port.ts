import { randomInt } from 'node:crypto'
import { canListen } from '../../src/embedded/server-process.ts'

export { canListen }

/** Below the ephemeral ports of Linux (32768) and macOS (49152), so that no outgoing connection takes the port before it is used. */
const [FIRST_PORT, LAST_PORT] = [15_000, 29_999]

export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1)
    if (await canListen('127.0.0.1', port)) return port
  }
  throw new Error('There is no free port on 127.0.0.1.')
}
