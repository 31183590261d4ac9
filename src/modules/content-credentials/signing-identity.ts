/** Who signs Content Credentials here: a private key and the certificates that vouch for it. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

/** The algorithm of a signature as C2PA names it, COSE numbers it and node:crypto does it. */
export interface Algorithm {
  name: 'es256' | 'es384' | 'es512' | 'ps256' | 'ed25519'
  cose: number
  hash: string | null
}

/** A key, its certificates and what follows from them. */
export interface SigningIdentity {
  algorithm: Algorithm
  key: KeyObject
  /** The signer's first, then who vouches for it; a root at the end is left out, for readers have their own. DER. */
  chain: Buffer[]
  /** As `chain`, with the root where there is one. */
  certificates: X509Certificate[]
  /** The signer's certificate, SHA-256 in hex digits. */
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
    // What it says may quote the text.
    throw new Error('C2PA_PRIVATE_KEY is no private key in PEM.')
  }
}

/** The certificates of a text, in their order. Raises an Error when one of them cannot be read. */
export function readCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}

const isRoot = (certificate: X509Certificate) => certificate.subject === certificate.issuer

/** What does not fit; the dates are looked at by those who sign. */
function problemOf(key: KeyObject, certificates: readonly X509Certificate[]): string | undefined {
  const [signer] = certificates
  if (!signer) return 'C2PA_CERTIFICATES holds no certificate in PEM.'
  if (!signer.checkPrivateKey(key)) {
    return 'C2PA_PRIVATE_KEY is not the key of the first certificate in C2PA_CERTIFICATES.'
  }
  if (signer.ca || isRoot(signer)) {
    return 'The first certificate in C2PA_CERTIFICATES is no signer’s: it vouches for itself or for others.'
  }
  const stray = certificates.findIndex((one, at) => at > 0 && !certificates[at - 1]!.checkIssued(one))
  return stray < 0 ? undefined : `Certificate ${stray + 1} in C2PA_CERTIFICATES did not issue the one before it.`
}

/** Raises an Error that says what does not fit. `keyPem` is never told. */
export function readSigningIdentity(keyPem: string, chainPem: string): SigningIdentity {
  const key = readKey(keyPem)
  const algorithm = algorithmOf(key)
  if (!algorithm)
    throw new Error('C2PA_PRIVATE_KEY is of a kind that C2PA does not know: use P-256, P-384, P-521, Ed25519 or RSA.')
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
