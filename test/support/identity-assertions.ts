/** Builds pictures with a CAWG identity assertion (https://cawg.io/identity/1.1/) in the form of Adobe's connected identities. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { initSync, WasmBuilder } from '@contentauth/c2pa-wasm'
import { encode } from 'cborg'
import { openSigningIdentity } from '../../src/modules/content-credentials/content-credentials.ts'
import { reservedBytes, signClaim } from '../../src/modules/content-credentials/signing-identity.ts'

const SIG_TYPE = 'cawg.identity_claims_aggregation'
const IDENTITY_BYTES = 4_000
const COSE_ALGORITHM = 1
const COSE_CONTENT_TYPE = 3
const EDDSA = -8

type SignerPayload = { referencedAssertions: { url: string; hash: Uint8Array; alg?: string }[]; sigType: string }

const issuerKey = generateKeyPairSync('ed25519')

/** Returns a `did:jwk` that resolves without a network to the key that signs the credentials. */
export const jwkIssuer = (): string => {
  const { x } = issuerKey.publicKey.export({ format: 'jwk' })
  const jwk = { alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }
  return `did:jwk:${Buffer.from(JSON.stringify(jwk)).toString('base64url')}`
}

function credentialOf(issuer: string, { referencedAssertions, sigType }: SignerPayload, isForged: boolean) {
  const asset = {
    referenced_assertions: referencedAssertions.map(({ url, hash, alg }) => ({
      ...{ url, hash: Buffer.from(hash).toString('base64'), ...(alg && { alg }) },
    })),
    sig_type: sigType,
  }
  const identity = {
    type: 'cawg.social_media',
    username: 'ada',
    uri: 'https://example.org/ada',
    verifiedAt: '2025-04-09T22:45:26Z',
    provider: { id: 'https://example.org', name: 'example' },
  }
  const credential = {
    '@context': ['https://www.w3.org/ns/credentials/v2', 'https://cawg.io/identity/1.1/ica/context/'],
    type: ['VerifiableCredential', 'IdentityClaimsAggregationCredential'],
    issuer,
    validFrom: '2025-04-09T22:46:13Z',
    credentialSubject: { verifiedIdentities: [identity], c2paAsset: asset },
  }
  const header = encode(
    new Map<number, unknown>([
      [COSE_ALGORITHM, EDDSA],
      [COSE_CONTENT_TYPE, 'application/vc'],
    ]),
  )
  const payload = new Uint8Array(Buffer.from(JSON.stringify(credential)))
  const signed = encode(['Signature1', header, new Uint8Array(), payload])
  const signature = new Uint8Array(sign(null, signed, issuerKey.privateKey))
  if (isForged) signature[0]! ^= 1
  return new Uint8Array(Buffer.concat([Buffer.of(0xd2), encode([header, {}, payload, signature])]))
}

class HeldBytes extends Blob {
  readonly held: Uint8Array
  constructor(held: Uint8Array) {
    super([])
    this.held = held
  }
  override get size() {
    return this.held.length
  }
  override slice(from = 0, to = this.held.length) {
    return new HeldBytes(this.held.subarray(from, to))
  }
}
class FileReaderSync {
  readAsArrayBuffer({ held }: HeldBytes) {
    return held.slice().buffer
  }
}

type Signer = Parameters<WasmBuilder['sign']>[0]

/** Returns the picture with a manifest by this signer, and with these CAWG identity assertions. `remoteUrl`: the picture only names the manifest. */
export async function signWith(
  picture: Uint8Array,
  signer: Signer,
  { identities = [] as unknown[], format = 'image/jpeg', remoteUrl = '' } = {},
): Promise<Buffer> {
  Object.assign(globalThis, { FileReaderSync })
  initSync({ module: readFileSync(fileURLToPath(import.meta.resolve('@contentauth/c2pa-wasm/c2pa.wasm'))) })
  const manifest = {
    claim_generator_info: [{ name: 'Camera', version: '1' }],
    title: 'A portrait',
    format,
    assertions: [{ label: 'c2pa.actions.v2', data: { actions: [{ action: 'c2pa.edited' }] }, created: true }],
  }
  const settings = { verify: { verify_after_sign: false }, builder: { thumbnail: { enabled: false } } }
  const builder = WasmBuilder.fromJson(JSON.stringify(manifest), JSON.stringify(settings))
  builder.setIntent('edit')
  if (remoteUrl !== '') {
    builder.setRemoteUrl(remoteUrl)
    builder.setNoEmbed(true)
  }
  return Buffer.from(await builder.sign(signer, identities, format, new HeldBytes(new Uint8Array(picture))))
}

function signerIn(dir: string): Signer {
  const identity = openSigningIdentity({ key: undefined, certificates: undefined, mayBeDevelopment: true }, dir)!
  const reserveSize = reservedBytes(identity, 0)
  const sign = async (claim: Uint8Array) => new Uint8Array(await signClaim(identity, claim, reserveSize))
  return { sign, reserveSize, alg: identity.algorithm.name }
}

/** Returns the JPEG with a manifest that holds an identity assertion by this issuer. `dir`: a folder for the signer's certificates. */
export async function withIdentity(
  jpeg: Uint8Array,
  issuer: string,
  { isForged = false, dir = tmpdir() } = {},
): Promise<Buffer> {
  const identity = {
    sigType: SIG_TYPE,
    reserveSize: IDENTITY_BYTES,
    referencedAssertions: [],
    roles: [],
    sign: async (payload: SignerPayload) => credentialOf(issuer, payload, isForged),
  }
  return signWith(jpeg, signerIn(dir), { identities: [identity] })
}
