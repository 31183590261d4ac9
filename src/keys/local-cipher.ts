/** Texts at rest under one key: no data key of their own, because they are many and soon gone. */

import { seal, unseal } from './aes-gcm.ts'
import type { LocalCipher } from './key-types.ts'

/** Seals texts under one key of 32 bytes, for what is kept for days only. */
export const createLocalCipher = (key: Uint8Array): LocalCipher => ({
  seal: (text, context) => seal(key, Buffer.from(text), context).toString('base64'),
  open: (sealed, context) => unseal(key, Buffer.from(sealed, 'base64'), context).toString(),
})
