import { hash } from 'node:crypto'

/** The SHA-256 of a text, 32 bytes: what is kept of a secret. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')
