/** A time stamp of somebody else's (RFC 3161): that a signature was there at a time, told by an authority. */
import { createHash, randomBytes } from 'node:crypto'
import { readAtMost } from '../../shared/read-at-most.ts'
import { contentOf, integer, octets, oid, partsOf, sequence, tagged, yes } from './der.ts'

const SHA256 = sequence(oid('2.16.840.1.101.3.4.2.1'), tagged(0x05))
const PATIENCE_MS = 10_000
/** Of a token with its certificates: what is kept free in the file, and read of an answer at most. */
export const STAMP_BYTES = 16_384
/** Granted, and granted with changes. */
const GRANTED = 1

/** Asks the authority at `url`; returns its token. Raises an Error when it gives none. */
export async function askForStamp(url: string, bytes: Uint8Array): Promise<Uint8Array> {
  const imprint = createHash('sha256').update(bytes).digest()
  const question = sequence(
    integer(Buffer.of(1)),
    sequence(SHA256, octets(imprint)),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    yes,
  )
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/timestamp-query' },
    body: new Uint8Array(question),
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (!response.ok) throw new Error(`The time-stamping authority answered with status ${response.status}.`)
  const answer = await readAtMost(response.body ?? [], STAMP_BYTES)
  const [status, token] = partsOf(answer)
  const granted = status && partsOf(status)[0]
  if (!token || !granted || contentOf(granted).readUInt8(0) > GRANTED) {
    throw new Error('The time-stamping authority gives no token.')
  }
  if (!token.includes(imprint)) throw new Error('The token of the time-stamping authority is for something else.')
  return new Uint8Array(token)
}
