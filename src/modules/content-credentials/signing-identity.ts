/** Signing identity for Content Credentials. Signs claims and requests time stamps. */
import * as crypto from 'node:crypto'
import { encode } from 'cborg'
import { readAtMost } from '../../shared/async.ts'

const { constants, createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, X509Certificate } = crypto
type KeyObject = crypto.KeyObject

const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME, SEQUENCE, SET] = [2, 3, 4, 0x0c, 0x17, 0x30, 0x31]
const hex = (digits: string) => Buffer.from(digits, 'hex')

/** Returns a DER value with a tag and the concatenated parts as its content. */
export function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const digits = content.length.toString(16)
  const length = hex(digits.length % 2 ? `0${digits}` : digits)
  const isShort = content.length < 0x80
  return Buffer.concat([Buffer.of(tag), isShort ? length : Buffer.of(0x80 | length.length, ...length), content])
}

/** Returns the first DER value in the bytes, and its content without the tag. Throws an Error for invalid DER. */
function readDer(bytes: Buffer): { whole: Buffer; content: Buffer } {
  const first = bytes[1] ?? 0
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  const start = 2 + lengthBytes
  const isValid = bytes.length >= start && lengthBytes <= 4 && first !== 0x80
  const length = !isValid || lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  if (!isValid || start + length > bytes.length) throw new Error('The bytes are not valid DER.')
  return { whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) }
}

const curves = {
  prime256v1: { name: 'es256', cose: -7, hash: 'sha256' },
  secp384r1: { name: 'es384', cose: -35, hash: 'sha384' },
  secp521r1: { name: 'es512', cose: -36, hash: 'sha512' },
} as const

/** Returns the name of a key's signature algorithm in C2PA, its number in COSE, and its hash in node:crypto. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails: details }: KeyObject) {
  if (asymmetricKeyType === 'ec') return curves[details?.namedCurve as keyof typeof curves] ?? undefined
  if (asymmetricKeyType === 'ed25519') return { name: 'ed25519', cose: -8, hash: null } as const
  const isRsa = asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2_048
  return isRsa ? ({ name: 'ps256', cose: -37, hash: 'sha256' } as const) : undefined
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    // The original error may quote the key.
    throw new Error('C2PA_PRIVATE_KEY is not a PEM private key.')
  }
}

/** Throws an Error if a certificate cannot be read. */
export function readCertificates(pem: string): crypto.X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

const isRoot = (certificate: crypto.X509Certificate) => certificate.subject === certificate.issuer

/** Returns the mismatch between key and certificates, or undefined. The validity period is checked at each signing. */
function problemOf(key: KeyObject, certificates: readonly crypto.X509Certificate[]): string | undefined {
  const [signer] = certificates
  if (!signer) return 'C2PA_CERTIFICATES contains no PEM certificate.'
  if (!signer.checkPrivateKey(key))
    return 'C2PA_PRIVATE_KEY is not the key of the first certificate in C2PA_CERTIFICATES.'
  if (signer.ca || isRoot(signer))
    return 'The first certificate in C2PA_CERTIFICATES is self-signed or a CA certificate. Start with the signer’s certificate.'
  const stray = certificates.findIndex((one, at) => at > 0 && !certificates[at - 1]!.checkIssued(one))
  return stray < 0 ? undefined : `Certificate ${stray + 1} in C2PA_CERTIFICATES did not issue the one before it.`
}

export type SigningIdentity = ReturnType<typeof readSigningIdentity>

/** Reads a signing identity. Throws an Error that describes the mismatch, without `keyPem`. */
export function readSigningIdentity(keyPem: string, chainPem: string) {
  const key = readKey(keyPem)
  const algorithm = algorithmOf(key)
  if (!algorithm)
    throw new Error('C2PA does not support the type of C2PA_PRIVATE_KEY. Use P-256, P-384, P-521, Ed25519 or RSA.')
  const certificates = readCertificates(chainPem)
  const problem = problemOf(key, certificates)
  if (problem !== undefined) throw new Error(problem)
  const signer = certificates[0]!
  return {
    algorithm,
    key,
    /** DER certificates, starting with the signer's. Excludes the root, because readers have their own copy. */
    chain: certificates.filter((certificate, at) => at === 0 || !isRoot(certificate)).map(({ raw }) => raw),
    /** Certificates of `chain`, and the root if it is known. */
    certificates,
    fingerprint: createHash('sha256').update(signer.raw).digest('hex'),
    subject: signer.subject.replaceAll('\n', ', '),
    expiresAt: new Date(signer.validTo),
  }
}

const ECDSA_WITH_SHA256 = hex('300a06082a8648ce3d040302')
const [ORGANIZATION, COMMON_NAME] = [hex('060355040a'), hex('0603550403')]
const [SUBJECT_KEY_ID, AUTHORITY_KEY_ID] = [hex('0603551d0e'), hex('0603551d23')]
/** Critical extensions. The root is a CA. The signer is not a CA and signs data for e-mail protection. */
const rootExtensions = hex('300f0603551d130101ff040530030101ff300e0603551d0f0101ff040403020106')
const signerExtensions = hex(
  '300c0603551d130101ff04023000300e0603551d0f0101ff04040302078030160603551d250101ff040c300a06082b06010505070304',
)
const DAY_MS = 86_400_000

const nameOf = (commonName: string) => {
  const part = (type: Buffer, text: string) => der(SET, der(SEQUENCE, type, der(UTF8_STRING, Buffer.from(text))))
  const organization = part(ORGANIZATION, 'Annal (development, not to be trusted)')
  return der(SEQUENCE, organization, part(COMMON_NAME, commonName))
}
/** Returns a UTCTime, which has a two-digit year and is valid until 2049. */
const timeOf = (date: Date) =>
  der(
    UTC_TIME,
    Buffer.from(
      date
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, '')
        .slice(2),
    ),
  )
const publicBytes = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })
const keyIdOf = (key: KeyObject) => createHash('sha256').update(publicBytes(key)).digest().subarray(0, 20)

type Subject = { name: string; key: KeyObject }

function certify(subject: Subject, issuer: Subject & { privateKey: KeyObject }, extensions: Buffer, now: Date): string {
  const keyIds = [
    der(SEQUENCE, SUBJECT_KEY_ID, der(OCTET_STRING, der(OCTET_STRING, keyIdOf(subject.key)))),
    der(SEQUENCE, AUTHORITY_KEY_ID, der(OCTET_STRING, der(SEQUENCE, der(0x80, keyIdOf(issuer.key))))),
  ]
  const content = der(
    SEQUENCE,
    // Version 3, and a serial number.
    der(0xa0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.of(1), randomBytes(15)),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    der(SEQUENCE, timeOf(new Date(+now - DAY_MS)), timeOf(new Date(+now + 3_650 * DAY_MS))),
    nameOf(subject.name),
    publicBytes(subject.key),
    der(0xa3, der(SEQUENCE, extensions, ...keyIds)),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', content, issuer.privateKey))
  const base64 = der(SEQUENCE, content, ECDSA_WITH_SHA256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`
}

/** Creates a private key, its certificate and a root certificate in PEM format, valid for ten years. */
export function makeDevelopmentChain(now: Date): { key: string; chain: string } {
  const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = { name: 'Development root', key: root.publicKey, privateKey: root.privateKey }
  return {
    key: String(signer.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    chain:
      certify({ name: 'Development signer', key: signer.publicKey }, issuer, signerExtensions, now) +
      certify(issuer, issuer, rootExtensions, now),
  }
}

/** Tag of COSE_Sign1, and labels of its headers. */
const [TAG_COSE_SIGN1, ALGORITHM, X5CHAIN] = [0xd2, 1, 33]
/** Size of signature, headers and lengths, without certificates and time stamp, in bytes. */
const FRAME_BYTES = 1_024

/** Returns the token of a time stamp, or undefined if the authority fails. */
type Stamp = (bytes: Uint8Array) => Promise<Uint8Array | undefined>

/** Returns the size to which the signature is padded, in bytes. */
export const reservedBytes = ({ chain }: SigningIdentity, stampBytes: number): number =>
  FRAME_BYTES + stampBytes + chain.reduce((sum, { length }) => sum + length, 0)

function signatureOf({ key, algorithm }: SigningIdentity, bytes: Uint8Array): Uint8Array {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  const options = { key, dsaEncoding: 'ieee-p1363' as const, ...(algorithm.name === 'ps256' && pss) }
  return new Uint8Array(sign(algorithm.hash, bytes, options))
}

/** Returns the signature of `claim`, exactly `size` bytes long. Throws an Error if it is longer. */
export async function signClaim(identity: SigningIdentity, claim: Uint8Array, size: number, stamp?: Stamp) {
  const certificates = identity.chain.map((certificate) => new Uint8Array(certificate))
  const chain = certificates.length === 1 ? certificates[0] : certificates
  const header = encode(new Map<number, unknown>().set(ALGORITHM, identity.algorithm.cose).set(X5CHAIN, chain))
  const signature = signatureOf(identity, encode(['Signature1', header, new Uint8Array(), claim]))
  // The time stamp covers the CBOR-encoded signature: C2PA 2.x, 10.3.2.5.
  const token = await stamp?.(encode(['CounterSignature', header, new Uint8Array(), encode(signature)]))
  const tokens = token && { sigTst2: { tstTokens: [{ val: token }] } }
  const envelope = (padding: number) => encode([header, { ...tokens, pad: new Uint8Array(padding) }, null, signature])
  const bare = envelope(0).length + 1
  // If the length field of the padding grows by a byte, the exact size may need less padding.
  for (let padding = size - bare; padding >= 0 && padding > size - bare - 8; padding -= 1) {
    const made = envelope(padding)
    if (made.length + 1 === size) return Buffer.concat([Buffer.of(TAG_COSE_SIGN1), made])
  }
  throw new Error(`The signature needs ${bare} bytes, but only ${size} are reserved.`)
}

const SHA256 = hex('300d06096086480165030402010500')
/** Maximum size of a time stamp token with its certificates, in bytes. This space is reserved in the file. */
export const STAMP_BYTES = 16_384
/** Requests a time stamp from the authority at `url`. Returns its token. Throws an Error without a token. */
export async function requestTimeStamp(url: string, bytes: Uint8Array): Promise<Uint8Array> {
  const imprint = createHash('sha256').update(bytes).digest()
  const question = der(
    SEQUENCE,
    der(INTEGER, Buffer.of(1)),
    der(SEQUENCE, SHA256, der(OCTET_STRING, imprint)),
    // A nonce, and the request for the certificates of the authority.
    ...[der(INTEGER, Buffer.of(1), randomBytes(8)), hex('0101ff')],
  )
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/timestamp-query' },
    body: new Uint8Array(question),
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`The time-stamping authority responded with HTTP status ${response.status}.`)
  const { content: body } = readDer(await readAtMost(response.body ?? [], STAMP_BYTES))
  const status = readDer(body)
  const rest = body.subarray(status.whole.length)
  // The status is 0 (granted) or 1 (granted with changes).
  if (rest.length === 0 || readDer(status.content).content.readUInt8(0) > 1)
    throw new Error('The time-stamping authority returned no token.')
  const token = readDer(rest).whole
  if (!token.includes(imprint)) throw new Error('The time-stamping authority returned a token for other data.')
  return new Uint8Array(token)
}
