import { verifyMessage } from 'ethers'

/** Returns the checksummed address that signed `text`. Throws an error if the signature is malformed. */
export const recoverSigner = (text: string, signature: string): string => verifyMessage(text, signature)
