/** Key pairs of the chain's curve, for custody and for the relay's own accounts. */
import { randomBytes } from 'node:crypto'
import { getAddress } from 'ethers'
import { createKeccak } from 'hash-wasm'
import { isPrivate, pointFromScalar, signRecoverable } from 'tiny-secp256k1'

/** A key pair in the clear. */
export interface KeyPair {
  /** With EIP-55 checksum. */
  address: string
  /** 32 bytes. The caller wipes them. */
  privateKey: Uint8Array
}

/** The checksummed address of a private key; undefined for what is none. */
const addressOf = (privateKey: Uint8Array): string | undefined => {
  const publicKey = publicKeyOf(privateKey)
  return publicKey && getAddress(toHex(keccak256(publicKey).subarray(12)))
}

/** A new key pair of the chain's curve. */
export const createKeyPair = (): KeyPair => {
  const privateKey = new Uint8Array(randomBytes(32))
  const address = addressOf(privateKey)
  // Outside the curve's order once in 2^128 tries; the caller's request is repeated.
  if (address === undefined) throw new Error('The random bytes are no private key.')
  return { address, privateKey }
}

/** EIP-191 personal_sign, 0x-prefixed. The same key and text always give the same signature. */
export const signText = (privateKey: Uint8Array, text: string): string => {
  const bytes = Buffer.from(text)
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`)
  const { r, s, yParity } = signHash(keccak256(Buffer.concat([prefix, bytes])), privateKey)
  return toHex(Buffer.concat([r, s, Buffer.of(27 + yParity)]))
}

/** A relay account: its address is the lane's name. */
export interface RelayAccount {
  address: string
  /** 32 bytes. */
  privateKey: Uint8Array
}

/** From 64 hex digits, with or without 0x. Raises with a sentence that does not repeat the key. */
export const createRelayAccount = (privateKey: string): RelayAccount => {
  const digits = privateKey.startsWith('0x') ? privateKey.slice(2) : privateKey
  const bytes = /^[0-9a-f]{64}$/i.test(digits) ? Buffer.from(digits, 'hex') : undefined
  const address = bytes && addressOf(bytes)
  if (!address) throw new Error('A relay key is not a private key: expected 64 hex digits, with or without 0x.')
  return { address, privateKey: bytes }
}

/** 0x-prefixed. The library's own conversions take a step for each byte. */
export const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

/** Bytes from hex digits behind `0x`. */
export const fromHex = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

const hasher = await createKeccak(256)

/** Keccak-256, 32 bytes. */
export const keccak256 = (bytes: Uint8Array): Uint8Array => hasher.init().update(bytes).digest('binary')

/** A signature with what tells which of two keys made it; `r` and `s` have 32 bytes. */
export interface CurveSignature {
  r: Uint8Array
  s: Uint8Array
  yParity: 0 | 1
}

/**
 * Signs a hash of 32 bytes with a key of 32 bytes, by RFC 6979 and with the lower of both `s`: the same key and hash always give
 * the same signature. Raises a TypeError for what is no private key.
 */
export const signHash = (hash: Uint8Array, privateKey: Uint8Array): CurveSignature => {
  const { signature, recoveryId } = signRecoverable(hash, privateKey)
  // 2 and 3 would mean an x above the curve's order, which nobody has ever met.
  return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity: recoveryId === 1 ? 1 : 0 }
}

/** The public key's two coordinates, 64 bytes. Undefined for what is no private key. */
export const publicKeyOf = (privateKey: Uint8Array): Uint8Array | undefined =>
  isPrivate(privateKey) ? pointFromScalar(privateKey, false)?.subarray(1) : undefined
