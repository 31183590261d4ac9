/**
 * secp256k1 and keccak-256 in WebAssembly. Signing takes a third of the time of ethers' JavaScript, and hashing a large transaction
 * takes a twentieth (decision 34). This module stores no private key.
 */
import { createKeccak } from 'hash-wasm'
import { isPrivate, pointFromScalar, signRecoverable } from 'tiny-secp256k1'

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
