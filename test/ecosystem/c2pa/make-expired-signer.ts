/**
 * Makes `expired-signer.jpg`: a picture whose signing certificate expired a minute after it was made, with a time stamp from before. A time-stamping
 * authority cannot stamp the past, so tests use the file. Needs `openssl`. Run: `node test/ecosystem/c2pa/make-expired-signer.ts`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  makeDevelopmentChain,
  readSigningIdentity,
  requestTimeStamp,
  reservedBytes,
  STAMP_BYTES,
  signClaim,
} from '../../../src/modules/content-credentials/signing-identity.ts'
import { signWith } from '../../support/identity-assertions.ts'
import { newPicture } from '../../support/pictures.ts'
import { startTimeAuthority } from './time-authority.ts'

const VALID_DAYS = 3_650
const VALID_MS = 60_000

const dir = await mkdtemp(join(tmpdir(), 'expired-signer-'))
const authority = await startTimeAuthority(dir)
try {
  const { key, chain } = makeDevelopmentChain(new Date(Date.now() + VALID_MS - VALID_DAYS * 86_400_000))
  const identity = readSigningIdentity(key, chain)
  const reserveSize = reservedBytes(identity, STAMP_BYTES)
  const stamp = (bytes: Uint8Array) => requestTimeStamp(authority.url, bytes)
  const picture = new Uint8Array(await (await newPicture({ width: 40, height: 30 })).arrayBuffer())
  const signed = await signWith(picture, {
    sign: async (claim) => new Uint8Array(await signClaim(identity, claim, reserveSize, stamp)),
    reserveSize,
    alg: identity.algorithm.name,
  })
  await writeFile(join(import.meta.dirname, 'expired-signer.jpg'), signed)
} finally {
  await authority.close()
  await rm(dir, { recursive: true })
}
