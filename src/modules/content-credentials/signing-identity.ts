/** Signing identity for Content Credentials: a private key and its certificate chain. Also encodes DER. */
import {
  constants,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { encode } from 'cborg'
import { readAtMost } from '../../shared/async.ts'

const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
/** First year that needs GeneralizedTime: UTCTime has a two-digit year (RFC 5280 §4.1.2.5). */
const FIRST_LONG_YEAR = 2050

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes])
}

/** Returns a DER value with a tag and the concatenated parts as its content. */
export const tagged = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

/** Returns a DER sequence. */
export const sequence = (...parts: Uint8Array[]) => tagged(SEQUENCE, ...parts)
/** Returns a DER set with one element. */
export const setOf = (part: Uint8Array) => tagged(SET, part)
/** Returns a non-negative DER integer. `bytes`: big-endian value. */
export const integer = (bytes: Uint8Array) => tagged(0x02, bytes[0]! >= 0x80 ? Buffer.of(0) : Buffer.of(), bytes)
/** Returns a DER UTF8String. */
export const utf8 = (text: string) => tagged(UTF8_STRING, Buffer.from(text))
/** Returns a DER octet string. */
export const octets = (bytes: Uint8Array) => tagged(0x04, bytes)
/** Returns a DER bit string. `unused`: number of unused bits in the last byte. */
export const bits = (bytes: Uint8Array, unused = 0) => tagged(0x03, Buffer.of(unused), bytes)
/** DER value `true`. False is the default in all encoded structures and is omitted. */
export const yes = Buffer.of(0x01, 0x01, 0xff)

/** Returns a DER object identifier from its dotted notation. */
export function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number)
  const arcs = [first! * 40 + second!, ...rest].flatMap((arc) => {
    const digits = [arc % 128]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(128 + (left % 128))
    return digits
  })
  return tagged(OBJECT_IDENTIFIER, Buffer.from(arcs))
}

/** Returns a DER time with a precision of seconds. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return date.getUTCFullYear() < FIRST_LONG_YEAR
    ? tagged(UTC_TIME, Buffer.from(digits.slice(2)))
    : tagged(GENERALIZED_TIME, Buffer.from(digits))
}

/** Returns the complete DER values inside a value. Throws an Error for invalid DER. */
export function partsOf(value: Uint8Array): Buffer[] {
  const parts: Buffer[] = []
  let { content: rest } = split(Buffer.from(value))
  while (rest.length > 0) {
    const { whole } = split(rest)
    parts.push(whole)
    rest = rest.subarray(whole.length)
  }
  return parts
}

/** Returns the content of a DER value without its tag. Throws an Error for invalid DER. */
export const contentOf = (value: Uint8Array): Buffer => split(Buffer.from(value)).content

function split(bytes: Buffer): { whole: Buffer; content: Buffer } {
  const first = bytes[1] ?? 0
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (bytes.length < 2 + lengthBytes || lengthBytes > 4 || first === 0x80)
    throw new Error('The bytes are not valid DER.')
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  const start = 2 + lengthBytes
  if (start + length > bytes.length) throw new Error('The bytes are not valid DER.')
  return { whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) }
}

/** A signature algorithm with its name in C2PA, its number in COSE, and its hash in node:crypto. */
export interface Algorithm {
  name: 'es256' | 'es384' | 'es512' | 'ps256' | 'ed25519'
  cose: number
  hash: string | null
}

/** A private key with its certificates. */
export interface SigningIdentity {
  algorithm: Algorithm
  key: KeyObject
  /** DER certificates, starting with the signer's. Excludes the root, because readers have their own copy. */
  chain: Buffer[]
  /** Certificates of `chain`, and the root if it is known. */
  certificates: X509Certificate[]
  /** SHA-256 of the signer's certificate, in hexadecimal. */
  fingerprint: string
  subject: string
  expiresAt: Date
}

const curves: Record<string, Algorithm> = {
  prime256v1: { name: 'es256', cose: -7, hash: 'sha256' },
  secp384r1: { name: 'es384', cose: -35, hash: 'sha384' },
  secp521r1: { name: 'es512', cose: -36, hash: 'sha512' },
}
const LEAST_RSA_BITS = 2048

function algorithmOf(key: KeyObject): Algorithm | undefined {
  const { asymmetricKeyType, asymmetricKeyDetails } = key
  if (asymmetricKeyType === 'ec') return curves[asymmetricKeyDetails?.namedCurve ?? '']
  if (asymmetricKeyType === 'ed25519') return { name: 'ed25519', cose: -8, hash: null }
  const isRsa = asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS
  return isRsa ? { name: 'ps256', cose: -37, hash: 'sha256' } : undefined
}

const readKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem)
  } catch {
    // The original error may quote the key.
    throw new Error('C2PA_PRIVATE_KEY is not a PEM private key.')
  }
}

/** Returns the certificates of a PEM text in their order. Throws an Error if one cannot be read. */
export function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

const isRoot = (certificate: X509Certificate) => certificate.subject === certificate.issuer

/**
 * Returns the mismatch between key and certificates, or undefined. The validity period is checked at each signing.
 */
function problemOf(key: KeyObject, certificates: readonly X509Certificate[]): string | undefined {
  const [signer] = certificates
  if (!signer) return 'C2PA_CERTIFICATES contains no PEM certificate.'
  if (!signer.checkPrivateKey(key)) {
    return 'C2PA_PRIVATE_KEY is not the key of the first certificate in C2PA_CERTIFICATES.'
  }
  if (signer.ca || isRoot(signer)) {
    return 'The first certificate in C2PA_CERTIFICATES is self-signed or a CA certificate. Start with the signer’s certificate.'
  }
  const stray = certificates.findIndex((one, at) => at > 0 && !certificates[at - 1]!.checkIssued(one))
  return stray < 0 ? undefined : `Certificate ${stray + 1} in C2PA_CERTIFICATES did not issue the one before it.`
}

/** Reads a signing identity. Throws an Error that describes the mismatch. It never contains `keyPem`. */
export function readSigningIdentity(keyPem: string, chainPem: string): SigningIdentity {
  const key = readKey(keyPem)
  const algorithm = algorithmOf(key)
  if (!algorithm)
    throw new Error('C2PA does not support the type of C2PA_PRIVATE_KEY. Use P-256, P-384, P-521, Ed25519 or RSA.')
  const certificates = readCertificates(chainPem)
  const problem = problemOf(key, certificates)
  if (problem !== undefined) throw new Error(problem)
  const signer = certificates[0]!
  const chain = certificates.filter((certificate, at) => at === 0 || !isRoot(certificate)).map(({ raw }) => raw)
  return {
    algorithm,
    key,
    chain,
    certificates,
    fingerprint: createHash('sha256').update(signer.raw).digest('hex'),
    subject: signer.subject.replaceAll('\n', ', '),
    expiresAt: new Date(signer.validTo),
  }
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'))
const ORGANIZATION = '2.5.4.10'
const COMMON_NAME = '2.5.4.3'
const NAME = 'Annal (development, not to be trusted)'
const DAY_MS = 86_400_000
const VALID_DAYS = 3_650

const nameOf = (commonName: string) =>
  sequence(setOf(sequence(oid(ORGANIZATION), utf8(NAME))), setOf(sequence(oid(COMMON_NAME), utf8(commonName))))

const extension = (id: string, value: Uint8Array, isCritical = false) =>
  isCritical ? sequence(oid(id), yes, octets(value)) : sequence(oid(id), octets(value))

const publicBytes = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })
const keyIdOf = (key: KeyObject) => createHash('sha256').update(publicBytes(key)).digest().subarray(0, 20)

const DIGITAL_SIGNATURE = bits(Buffer.of(0x80), 7)
const SIGNS_CERTIFICATES = bits(Buffer.of(0x06), 1)
const EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4'

const rootExtensions = [extension('2.5.29.19', sequence(yes), true), extension('2.5.29.15', SIGNS_CERTIFICATES, true)]
const signerExtensions = [
  extension('2.5.29.19', sequence(), true),
  extension('2.5.29.15', DIGITAL_SIGNATURE, true),
  extension('2.5.29.37', sequence(oid(EMAIL_PROTECTION)), true),
]

interface Subject {
  name: string
  key: KeyObject
}

function certify(
  subject: Subject,
  issuer: Subject & { privateKey: KeyObject },
  extensions: Buffer[],
  now: Date,
): string {
  const validity = sequence(time(new Date(+now - DAY_MS)), time(new Date(+now + VALID_DAYS * DAY_MS)))
  const keyIds = [
    extension('2.5.29.14', octets(keyIdOf(subject.key))),
    extension('2.5.29.35', sequence(tagged(0x80, keyIdOf(issuer.key)))),
  ]
  const content = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    validity,
    nameOf(subject.name),
    publicBytes(subject.key),
    tagged(0xa3, sequence(...extensions, ...keyIds)),
  )
  const certificate = sequence(content, ECDSA_WITH_SHA256, bits(sign('sha256', content, issuer.privateKey)))
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`
}

/**
 * Creates a private key, its certificate and a root certificate in PEM format, valid for ten years from `now`. The
 * root's private key is discarded.
 */
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

const TAG_COSE_SIGN1 = 0xd2
const ALGORITHM = 1
const X5CHAIN = 33
/** Size of signature, headers and lengths, without certificates and time stamp, in bytes. */
const FRAME_BYTES = 1_024

/** Requests a time stamp over bytes. Returns its token, or undefined if there is none. */
export type Stamp = (bytes: Uint8Array) => Promise<Uint8Array | undefined>

/** Returns the space to reserve for the signature in the file, in bytes. The signature is padded to this size. */
export const reservedBytes = ({ chain }: SigningIdentity, stampBytes: number): number =>
  FRAME_BYTES + stampBytes + chain.reduce((sum, { length }) => sum + length, 0)

function signatureOf({ key, algorithm }: SigningIdentity, bytes: Uint8Array): Uint8Array {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  return new Uint8Array(
    sign(algorithm.hash, bytes, { key, dsaEncoding: 'ieee-p1363', ...(algorithm.name === 'ps256' && pss) }),
  )
}

/**
 * Returns the signature of `claim`, exactly `size` bytes long. Throws an Error if it is longer, and the errors of
 * `stamp`.
 */
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
  // The time stamp covers the CBOR-encoded signature: C2PA 2.x, 10.3.2.5.
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

/**
 * Pads the envelope to `size`. If the length field of the padding grows by a byte, the exact size may need less
 * padding.
 */
function fill(envelope: (padding: number) => Uint8Array, size: number): Uint8Array {
  const bare = envelope(0).length
  for (let padding = size - bare; padding >= 0 && padding > size - bare - 8; padding -= 1) {
    const made = envelope(padding)
    if (made.length === size) return made
  }
  throw new Error(`The signature needs ${bare} bytes, and ${size} are kept free for it.`)
}

const SHA256 = sequence(oid('2.16.840.1.101.3.4.2.1'), tagged(0x05))
const PATIENCE_MS = 10_000
/** Maximum size of a time stamp token with its certificates, in bytes. This space is reserved in the file. */
export const STAMP_BYTES = 16_384
/** Maximum successful status: granted (0), and granted with changes (1). */
const GRANTED = 1

/** Requests a time stamp from the authority at `url` and returns its token. Throws an Error if it gives none. */
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
    throw new Error('The time-stamping authority returned no token.')
  }
  if (!token.includes(imprint)) throw new Error('The token of the time-stamping authority is for something else.')
  return new Uint8Array(token)
}
