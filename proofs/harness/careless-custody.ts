/** Custody as it must not be: nothing binds a ciphertext to its owner or its purpose. */
import { randomBytes } from 'node:crypto'
import type { CoinPlan, Custody, KeyVault, SignedCoins } from '../../src/domain/ports/keys.ts'
import { seal, unseal } from '../../src/platform/vault/aes-gcm.ts'

interface Dependencies {
  vault: KeyVault
  keyPairs: {
    createKeyPair(): { address: string; privateKey: Uint8Array }
    signText(privateKey: Uint8Array, text: string): string
    signCoins(privateKey: Uint8Array, plans: readonly CoinPlan[]): SignedCoins[]
  }
}

export function createCarelessCustody({ vault, keyPairs }: Dependencies): Custody {
  const wrap = async (dataKey: Uint8Array) => {
    const { keyId, wrapped } = await vault.wrap(dataKey, '')
    return { version: 2, vaultKeyId: keyId, wrappedDataKey: wrapped }
  }
  return {
    version: 2,
    async create() {
      const dataKey = randomBytes(32)
      const { address, privateKey } = keyPairs.createKeyPair()
      return { address, sealedPrivateKey: seal(dataKey, privateKey, ''), ...(await wrap(dataKey)) }
    },
    async sign(_userId, key, text) {
      const dataKey = await vault.unwrap(key.vaultKeyId, key.wrappedDataKey, '')
      return keyPairs.signText(unseal(dataKey, key.sealedPrivateKey, ''), text)
    },
    async signCoins(_userId, key, plans) {
      const dataKey = await vault.unwrap(key.vaultKeyId, key.wrappedDataKey, '')
      return keyPairs.signCoins(unseal(dataKey, key.sealedPrivateKey, ''), plans)
    },
    async rewrap(_userId, key) {
      return wrap(await vault.unwrap(key.vaultKeyId, key.wrappedDataKey, ''))
    },
    async forget() {},
  }
}
