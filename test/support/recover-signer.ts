import { verifyMessage } from 'ethers'

export const recoverSigner = (text: string, signature: string): string => verifyMessage(text, signature)
