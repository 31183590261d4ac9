/** Small secrets at rest, under the key vault. */
import { randomBytes } from 'node:crypto'
import { LostKeyError } from '../shared/errors.ts'
import { seal, unseal } from './aes-gcm.ts'
import type { EnvelopeCipher, KeyVault, WrappedKey } from './key-types.ts'

/**
 * An envelope: version, key-encryption key's id, wrapped data key, sealed text; the two before the text with their lengths.
 * A rotation of the key-encryption key rewrites the first parts only.
 */
const VERSION = 1

const part = (bytes: Uint8Array) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function takeParts(envelope: Buffer) {
  if (envelope[0] !== VERSION) throw new LostKeyError('A sealed text is of a version that is not known.')
  let at = 1
  const take = () => {
    const start = at + 2
    if (start > envelope.length) throw new LostKeyError('A sealed text is cut short.')
    at = start + envelope.readUInt16BE(at)
    return envelope.subarray(start, at)
  }
  return { keyId: take().toString(), wrapped: take(), sealed: envelope.subarray(at) }
}

const prefixOf = (keyId: string) => Buffer.concat([Buffer.of(VERSION), part(Buffer.from(keyId))])
const join = ({ keyId, wrapped }: WrappedKey, sealed: Uint8Array) =>
  Buffer.concat([prefixOf(keyId), part(wrapped), sealed])

/** Seals small secrets by envelope encryption: each under a data key of its own, which the vault wraps. */
export function createEnvelopeCipher({ vault }: { vault: KeyVault }): EnvelopeCipher {
  return {
    async seal(text, context) {
      const dataKey = randomBytes(32)
      const wrapped = await vault.wrap(dataKey, `${context}\ndata-key`)
      const sealed = seal(dataKey, Buffer.from(text), context)
      dataKey.fill(0)
      return join(wrapped, sealed)
    },
    async open(envelope, context) {
      const { keyId, wrapped, sealed } = takeParts(Buffer.from(envelope))
      const dataKey = await vault.unwrap(keyId, wrapped, `${context}\ndata-key`)
      try {
        return unseal(dataKey, sealed, context).toString()
      } finally {
        dataKey.fill(0)
      }
    },
    async rewrap(envelope, context) {
      const { keyId, wrapped, sealed } = takeParts(Buffer.from(envelope))
      const dataKey = await vault.unwrap(keyId, wrapped, `${context}\ndata-key`)
      try {
        return join(await vault.wrap(dataKey, `${context}\ndata-key`), sealed)
      } finally {
        dataKey.fill(0)
      }
    },
    prefixOf,
  }
}
