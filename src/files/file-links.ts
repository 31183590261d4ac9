/** Signed links to private files. They work without credentials, because an `<img>` cannot send a header. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { canonicalCid } from '../../packages/verify/src/cids.ts'

export type FileLinks = ReturnType<typeof createFileLinks>

const HOUR_SECONDS = 3_600

/** Creates links that are valid for one to two hours. `key`: 32 bytes, the same in all processes of an installation. */
export function createFileLinks({ key }: { key: Uint8Array }) {
  // Parse the key once, not for every link.
  const secret = createSecretKey(key)
  const signatureOf = (assetId: string, cid: string, expires: number) =>
    createHmac('sha256', secret).update(`${assetId}\n${cid}\n${expires}`).digest('base64url')

  return {
    /** Returns path and query of a link to bytes of this asset (by its UUID), valid for at least an hour. */
    sign(assetId: string, cid: string): string {
      // Links to the same file are equal within an hour, so clients can cache it.
      const expires = (Math.floor(Date.now() / 1000 / HOUR_SECONDS) + 2) * HOUR_SECONDS
      const signature = signatureOf(assetId, cid, expires)
      return `/ipfs/${cid}?asset=${assetId}&expires=${expires}&signature=${signature}`
    },
    /** Returns the UUID of the asset that the link belongs to, or undefined if the signature is not valid. `cid`: in any form. */
    verify(cid: string, query: URLSearchParams): string | undefined {
      const expires = Number(query.get('expires'))
      if (!Number.isInteger(expires) || expires * 1000 < Date.now()) return undefined
      const assetId = query.get('asset') ?? ''
      const given = Buffer.from(query.get('signature') ?? '')
      const right = Buffer.from(signatureOf(assetId, canonicalCid(cid) ?? cid, expires))
      return given.length === right.length && timingSafeEqual(given, right) ? assetId : undefined
    },
  }
}
