/** Test data for the file stores. */
import { createCipheriv, createHash } from 'node:crypto'
import { expect } from 'vitest'
import { DomainError } from '../../../src/shared/errors.ts'

export const bytesOf = (length: number, seed = 'seed') => {
  const key = createHash('sha256').update(seed).digest()
  return new Uint8Array(createCipheriv('aes-256-ctr', key, new Uint8Array(16)).update(new Uint8Array(length)))
}
export async function* stream(bytes: Uint8Array, piece = 1_000_003) {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
}
export async function* listOf(...cids: string[]) {
  yield* cids
}
export const collect = async (source: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}
export const expectError = (work: Promise<unknown>, code: string) =>
  expect(work).rejects.toSatisfy((error) => error instanceof DomainError && error.code === code)
