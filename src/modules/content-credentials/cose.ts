/** The signature of a claim: a COSE_Sign1 (RFC 9052) as C2PA has it, with the certificates in its header and nothing as payload. */
import { constants, sign } from 'node:crypto'
import { encode } from 'cborg'
import type { SigningIdentity } from './signing-identity.ts'

const TAG_COSE_SIGN1 = 0xd2
const ALGORITHM = 1
const X5CHAIN = 33
/** Of everything but certificates and time stamp: signature, headers and lengths. */
const FRAME_BYTES = 1_024

/** Asks for a time stamp over bytes, and returns its token; undefined where there is none to be had. */
export type Stamp = (bytes: Uint8Array) => Promise<Uint8Array | undefined>

/** How many bytes are kept free in the file for the signature, which is padded to them. */
export const reservedBytes = ({ chain }: SigningIdentity, stampBytes: number): number =>
  FRAME_BYTES + stampBytes + chain.reduce((sum, { length }) => sum + length, 0)

function signatureOf({ key, algorithm }: SigningIdentity, bytes: Uint8Array): Uint8Array {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  return new Uint8Array(
    sign(algorithm.hash, bytes, { key, dsaEncoding: 'ieee-p1363', ...(algorithm.name === 'ps256' && pss) }),
  )
}

/** The signature of `claim`, exactly `size` bytes long. Raises an Error when it needs more, and what `stamp` raises. */
export async function signClaim(
  identity: SigningIdentity,
  claim: Uint8Array,
  size: number,
  stamp?: Stamp,
): Promise<Uint8Array> {
  const certificates = identity.chain.map((certificate) => new Uint8Array(certificate))
  const header = encode(
    new Map<number, unknown>([
      [ALGORITHM, identity.algorithm.cose],
      [X5CHAIN, certificates.length === 1 ? certificates[0] : certificates],
    ]),
  )
  const signature = signatureOf(identity, encode(['Signature1', header, new Uint8Array(), claim]))
  // A countersignature over the signature as CBOR has it: C2PA 2.x, 10.3.2.5.
  const stamped = encode(['CounterSignature', header, new Uint8Array(), encode(signature)])
  const token = await stamp?.(stamped)
  const tokens = token && { sigTst2: { tstTokens: [{ val: token }] } }
  const envelope = (padding: number) =>
    Buffer.concat([
      Buffer.of(TAG_COSE_SIGN1),
      encode([header, { ...tokens, pad: new Uint8Array(padding) }, null, signature]),
    ])
  return fill(envelope, size)
}

/** Where the length of the padding takes one byte more itself, a second padding would be needed; then one is found by less. */
function fill(envelope: (padding: number) => Uint8Array, size: number): Uint8Array {
  const bare = envelope(0).length
  for (let padding = size - bare; padding >= 0 && padding > size - bare - 8; padding -= 1) {
    const made = envelope(padding)
    if (made.length === size) return made
  }
  throw new Error(`The signature needs ${bare} bytes, and ${size} are kept free for it.`)
}
