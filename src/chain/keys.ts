/** Key pairs of the chain's curve, for custody and for the relay's own accounts. */
import { randomBytes } from 'node:crypto'
import { computeAddress, hashMessage, SigningKey, verifyMessage } from 'ethers'

/** A key pair in the clear. */
export interface KeyPair {
  /** With EIP-55 checksum. */
  address: string
  /** 32 bytes. The caller wipes them. */
  privateKey: Uint8Array
}

/** A new key pair of the chain's curve. */
export const createKeyPair = (): KeyPair => {
  const privateKey = new Uint8Array(randomBytes(32))
  // Outside the curve's order once in 2^128 tries; ethers raises then, and the caller's request is repeated.
  return { address: computeAddress(new SigningKey(privateKey).publicKey), privateKey }
}

/** EIP-191 personal_sign, 0x-prefixed. The same key and text always give the same signature. */
export const signText = (privateKey: Uint8Array, text: string): string =>
  new SigningKey(privateKey).sign(hashMessage(text)).serialized

/** The checksummed address that signed `text`. Raises when the signature is malformed. */
export const recoverSigner = (text: string, signature: string): string => verifyMessage(text, signature)

/** A relay account: its address is the lane's name. */
export interface RelayAccount {
  address: string
  key: SigningKey
}

/** From 64 hex digits, with or without 0x. Raises with a sentence that does not repeat the key. */
export const createRelayAccount = (privateKey: string): RelayAccount => {
  const hex = privateKey.startsWith('0x') ? privateKey : `0x${privateKey}`
  try {
    const key = new SigningKey(hex)
    return { address: computeAddress(key.publicKey), key }
  } catch {
    throw new Error('A relay key is not a private key: expected 64 hex digits, with or without 0x.')
  }
}

/** 0x-prefixed. The library's own conversions take a step for each byte. */
export const toHex = (bytes: Uint8Array): string =>
  `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

/** Bytes from hex digits behind `0x`. */
export const fromHex = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')
