import type { ContentStore } from '../ports/files.ts'

/** The first bytes of a file, or all of them where there are fewer. Raises NOT_FOUND, UNAVAILABLE. */
export async function readHead({ read }: Pick<ContentStore, 'read'>, nid: string, length: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of read(nid, { offset: 0, length })) parts.push(part)
  return Buffer.concat(parts)
}
