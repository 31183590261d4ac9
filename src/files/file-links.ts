/** Links to private files that work for a while without credentials: an `<img>` cannot send a header. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'

/** Signs links to files, and knows them again. */
export interface FileLinks {
  /** Absolute URL of a file's bytes, valid for at least an hour. */
  sign(cid: string): string
  verify(cid: string, query: URLSearchParams): boolean
}

const HOUR_SECONDS = 3_600

/** Links good for one to two hours. `key`: 32 bytes, the same in all processes of an installation. */
export function createFileLinks({ key, publicUrl }: { key: Uint8Array; publicUrl: string }): FileLinks {
  // A key object is taken apart once; bytes would be with every link.
  const secret = createSecretKey(key)
  const signatureOf = (cid: string, expires: number) =>
    createHmac('sha256', secret).update(`${cid}\n${expires}`).digest('base64url')

  return {
    sign(cid) {
      // The end of the next full hour: links of one hour are equal, so that clients can cache what they fetched.
      const expires = (Math.floor(Date.now() / 1000 / HOUR_SECONDS) + 2) * HOUR_SECONDS
      return `${publicUrl}/ipfs/${cid}?expires=${expires}&signature=${signatureOf(cid, expires)}`
    },
    verify(cid, query) {
      const expires = Number(query.get('expires'))
      if (!Number.isInteger(expires) || expires * 1000 < Date.now()) return false
      const given = Buffer.from(query.get('signature') ?? '')
      const right = Buffer.from(signatureOf(cid, expires))
      return given.length === right.length && timingSafeEqual(given, right)
    },
  }
}
