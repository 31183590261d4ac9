/**
 * A certificate chain for trying Content Credentials out: a root of our own and a certificate that signs, whose names say that
 * nobody should trust them. RFC 5280, with the extensions that C2PA demands of who signs.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { bits, integer, octets, oid, sequence, setOf, tagged, time, utf8, yes } from './der.ts'

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

/** A private key, the certificate of it and its root, as PEM; the root's key is kept nowhere. Good for ten years from `now`. */
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
