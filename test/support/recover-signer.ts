import { verifyMessage } from 'ethers'

/** The checksummed address that signed `text`. Raises when the signature is malformed. */
export const recoverSigner = (text: string, signature: string): string => verifyMessage(text, signature)
