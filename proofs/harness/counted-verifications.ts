/**
 * Loaded before a gateway (`--import`): every hash that argon2 really verifies is written to VERIFICATIONS, a line each
 * with the hash and whether the password was the right one. It looks where no limit and no answer does.
 */
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'

type Verify = (encoded: string, password: string, options?: object) => Promise<boolean>

const path = process.env.VERIFICATIONS!
const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as { verify: Verify }
const verify = argon2.verify

argon2.verify = async (encoded, password, options) => {
  const matches = await verify(encoded, password, options)
  appendFileSync(path, `${JSON.stringify({ encoded, matches })}\n`)
  return matches
}
