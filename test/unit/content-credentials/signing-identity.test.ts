import { createHash, generateKeyPairSync, verify, X509Certificate } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { decode, encode } from 'cborg'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createContentCredentials,
  openSigningIdentity,
} from '../../../src/modules/content-credentials/content-credentials.ts'
import {
  der,
  makeDevelopmentChain,
  readSigningIdentity,
  requestTimeStamp,
  signClaim,
} from '../../../src/modules/content-credentials/signing-identity.ts'
import { listen } from '../../support/listen.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const dir = await createTemporaryFolder()
await mkdir(join(dir, 'keys'))
const development = { key: undefined, certificates: undefined, mayBeDevelopment: true }
const YEAR_MS = 365 * 86_400_000

describe('signing identity for Content Credentials', () => {
  it('creates a private development signing certificate once, and none in production', async () => {
    const first = openSigningIdentity(development, dir)!
    expect(openSigningIdentity(development, dir)!.fingerprint).toBe(first.fingerprint)
    expect((await stat(join(dir, 'keys', 'content-credentials-development.pem'))).mode & 0o777).toBe(0o600)
    const [signer, root] = first.certificates
    expect([signer!.verify(root!.publicKey), root!.verify(root!.publicKey), signer!.ca, root!.ca]).toEqual([
      true,
      true,
      false,
      true,
    ])
    expect(first.subject).toContain('not to be trusted')
    expect(first.chain.map((der) => new X509Certificate(der).subject)).toEqual([signer!.subject])
    expect(openSigningIdentity({ ...development, mayBeDevelopment: false }, dir)).toBeUndefined()
  })

  it('rejects a signing key that does not match its certificate, without printing the key', () => {
    const now = new Date()
    const [one, other] = [makeDevelopmentChain(now), makeDevelopmentChain(now)]
    const certificates = one.chain.match(/-----BEGIN[\s\S]+?END CERTIFICATE-----\n/g)!
    const secp = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey
    const cases: [string, string, RegExp][] = [
      [other.key, one.chain, /is not the key of the first certificate/],
      [one.key, certificates.toReversed().join(''), /is not the key of the first certificate/],
      [one.key, certificates[0]! + other.chain, /did not issue/],
      [one.key, '', /contains no PEM certificate/],
      ['-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----', one.chain, /is not a PEM private key/],
      [String(secp.export({ type: 'pkcs8', format: 'pem' })), one.chain, /does not support the type/],
    ]
    for (const [key, chain, message] of cases) {
      expect(() => readSigningIdentity(key, chain)).toThrow(message)
      expect(() => readSigningIdentity(key, chain)).not.toThrow(/c2VjcmV0/)
    }
  })

  it('signs no Content Credentials after the signing certificate expires', async () => {
    const expired = makeDevelopmentChain(new Date(Date.now() - 11 * YEAR_MS))
    const certificates = join(dir, 'expired.pem')
    await writeFile(certificates, expired.chain)
    const config = {
      ...development,
      ...{ key: expired.key, certificates, timestampUrl: undefined, trustList: undefined },
    }
    const credentials = createContentCredentials({ dir, config })
    expect(() => credentials.signedBy()).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }))
    expect(await readFile(certificates, 'utf8')).toBe(expired.chain)
  })

  it('adds a time stamp to the signature as a countersignature', async () => {
    const { key, chain } = makeDevelopmentChain(new Date())
    const stamped: Uint8Array[] = []
    const signed = await signClaim(readSigningIdentity(key, chain), Buffer.from('a claim'), 3_000, async (bytes) => {
      stamped.push(bytes)
      return Buffer.from('a token')
    })
    const [header, { sigTst2 }, , signature] = decode(signed.subarray(1)) as [
      Uint8Array,
      { sigTst2: { tstTokens: { val: Uint8Array }[] } },
      null,
      Uint8Array,
    ]
    expect(Buffer.from(sigTst2.tstTokens[0]!.val).toString()).toBe('a token')
    expect(stamped).toEqual([encode(['CounterSignature', header, new Uint8Array(), encode(signature)])])
  })

  it('requests a time stamp from an authority, and rejects a time stamp token for other data', async () => {
    const answers: Buffer[] = []
    const server = createServer((req, res) => {
      const chunks: Buffer[] = []
      req.on('data', (chunk: Buffer) => chunks.push(chunk))
      req.on('end', () => {
        expect(req.headers['content-type']).toBe('application/timestamp-query')
        const digest = createHash('sha256').update('signed bytes').digest()
        expect(Buffer.concat(chunks).includes(digest)).toBe(true)
        res.end(answers.shift())
      })
    })
    const url = `http://127.0.0.1:${await listen(server, onTestFinished)}`
    const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
    const granted = sequence(der(0x02, Buffer.of(0)))
    const token = sequence(der(0x04, createHash('sha256').update('signed bytes').digest()))
    const refusals: [Buffer, RegExp][] = [
      [sequence(granted, sequence(der(0x04, Buffer.from('another')))), /for other data/],
      [sequence(sequence(der(0x02, Buffer.of(2)))), /returned no token/],
      [Buffer.alloc(20_000), /the response is larger than/],
      [Buffer.from('<html>'), /not valid DER/],
    ]
    const ask = () => requestTimeStamp(url, Buffer.from('signed bytes'))
    for (const [answer, message] of refusals) {
      answers.push(answer)
      await expect(ask()).rejects.toThrow(message)
    }
    answers.push(sequence(granted, token))
    expect(Buffer.from(await ask())).toEqual(token)
  })

  it('signs claims with COSE in the reserved number of bytes', async () => {
    const { key, chain } = makeDevelopmentChain(new Date())
    const identity = readSigningIdentity(key, chain)
    const claim = Buffer.from('a claim')
    for (const size of [2_000, 2_023, 66_000]) {
      const signed = await signClaim(identity, claim, size)
      expect([signed.length, signed[0]]).toEqual([size, 0xd2])
      const [header, , payload, signature] = decode(signed.subarray(1)) as [Uint8Array, object, null, Uint8Array]
      const message = encode(['Signature1', header, new Uint8Array(), new Uint8Array(claim)])
      const publicKey = { key: identity.certificates[0]!.publicKey, dsaEncoding: 'ieee-p1363' } as const
      expect([payload, verify('sha256', message, publicKey, signature)]).toEqual([null, true])
    }
    await expect(signClaim(identity, claim, 500)).rejects.toThrow('are reserved')
  })
})
