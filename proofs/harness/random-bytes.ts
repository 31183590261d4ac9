import { createCipheriv, createHash } from 'node:crypto'
import type { Random } from './random.ts'

/** Returns bytes without repetitions. The same seed returns the same bytes. */
export function randomBytes(random: Random, length: number): Buffer {
  const key = createHash('sha256').update(String(random.next())).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length))
}
