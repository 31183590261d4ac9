import { createCipheriv, createHash } from 'node:crypto'
import type { Random } from './random.ts'

/** Bytes that repeat nowhere, and are the same with the same seed. */
export function randomBytes(random: Random, length: number): Buffer {
  const key = createHash('sha256').update(String(random.next())).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length))
}
