/** Custodial key pairs: the private key is sealed under the user's own data key, and that is wrapped by the key vault. */
import { randomBytes } from 'node:crypto'
import type { Custody, KeyVault } from '../domain/ports.ts'
import { seal, unseal } from './key-vault.ts'

interface KeyPairs {
  createKeyPair(): { address: string; privateKey: Uint8Array }
  /** EIP-191 personal_sign, 0x-prefixed. */
  signText(privateKey: Uint8Array, text: string): string
}

/** Owner, purpose and version are authenticated, so that no ciphertext can stand in for another. */
const contextOf = (userId: string, purpose: 'data-key' | 'private-key') => `${userId}\n${purpose}\nv1`

export function createCustody({ vault, keyPairs }: { vault: KeyVault; keyPairs: KeyPairs }): Custody {
  return {
    async create(userId) {
      const dataKey = randomBytes(32)
      const { address, privateKey } = keyPairs.createKeyPair()
      const sealedPrivateKey = seal(dataKey, privateKey, contextOf(userId, 'private-key'))
      const wrappedDataKey = await vault.wrap(dataKey, contextOf(userId, 'data-key'))
      dataKey.fill(0)
      privateKey.fill(0)
      return { address, vaultKeyId: vault.currentKeyId, wrappedDataKey, sealedPrivateKey }
    },
    async sign(userId, key, text) {
      const dataKey = await vault.unwrap(key.vaultKeyId, key.wrappedDataKey, contextOf(userId, 'data-key'))
      const privateKey = unseal(dataKey, key.sealedPrivateKey, contextOf(userId, 'private-key'))
      try {
        return keyPairs.signText(privateKey, text)
      } finally {
        dataKey.fill(0)
        privateKey.fill(0)
      }
    },
  }
}
