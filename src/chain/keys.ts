import { randomBytes } from 'node:crypto'
import { getAddress } from 'ethers'
import { createKeccak } from 'hash-wasm'
import { isPrivate, pointFromScalar, signRecoverable } from 'tiny-secp256k1'

/** An account with its EIP-55 address and its private key of 32 bytes. A relay account's address names its lane. */
export type RelayAccount = { address: string; privateKey: Uint8Array }

const addressOf = (privateKey: Uint8Array): string | undefined => {
  const publicKey = isPrivate(privateKey) ? pointFromScalar(privateKey, false)?.subarray(1) : undefined
  return publicKey && getAddress(toHex(keccak256(publicKey).subarray(12)))
}

/** Creates a key pair. The caller must overwrite the private key after use. */
export const createKeyPair = (): RelayAccount => {
  const privateKey = new Uint8Array(randomBytes(32))
  const address = addressOf(privateKey)
  // The probability of an invalid key is about 2^-128, so there is no retry.
  if (address === undefined) throw new Error('The random bytes are not a valid private key.')
  return { address, privateKey }
}

/** Signs a text with EIP-191 `personal_sign`. Returns a deterministic signature with the prefix 0x. */
export const signText = (privateKey: Uint8Array, text: string): string => {
  const bytes = Buffer.from(text)
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  const { r, s, yParity } = signHash(keccak256(Buffer.concat([prefix, bytes])), privateKey)
  return toHex(Buffer.concat([r, s, Buffer.of(27 + yParity)]))
}

/** Creates a relay account from 64 hex digits, with or without 0x. Throws an error that does not contain the key. */
export const createRelayAccount = (privateKey: string): RelayAccount => {
  const digits = privateKey.startsWith('0x') ? privateKey.slice(2) : privateKey
  const bytes = /^[0-9a-f]{64}$/i.test(digits) ? Buffer.from(digits, 'hex') : undefined
  const address = bytes && addressOf(bytes)
  if (!address) throw new Error('A relay key is not a private key: expected 64 hex digits, with or without 0x.')
  return { address, privateKey: bytes }
}

/** Returns bytes as hex digits with the prefix 0x. `hexlify` of ethers is slower: it converts each byte separately. */
export const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

export const fromHex = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
const hasher = await createKeccak(256)
export const keccak256 = (bytes: Uint8Array): Uint8Array => hasher.init().update(bytes).digest('binary')

/** Signs a hash of 32 bytes deterministically (RFC 6979), with the lower `s` value. Throws TypeError if invalid. */
export const signHash = (hash: Uint8Array, privateKey: Uint8Array) => {
  const { signature, recoveryId } = signRecoverable(hash, privateKey)
  return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity: recoveryId === 1 ? 1 : 0 }
}
