/**
 * Loaded before a gateway (`--import`): every password that argon2 really looks at is written to VERIFICATIONS, a line each with
 * the hash and whether the password was the right one. Where there is no account the product makes a hash that nobody gets, so
 * those that are made are written, too. It looks where no limit and no answer does.
 */
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'

interface Argon2 {
  hash(password: string, options?: object): Promise<string>
  verify(encoded: string, password: string, options?: object): Promise<boolean>
}

const path = process.env.VERIFICATIONS!
const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as Argon2
const { hash, verify } = argon2
const note = (seen: { encoded: string; matches?: boolean }) => appendFileSync(path, `${JSON.stringify(seen)}\n`)

argon2.verify = async (encoded, password, options) => {
  const matches = await verify(encoded, password, options)
  note({ encoded, matches })
  return matches
}

argon2.hash = async (password, options) => {
  const encoded = await hash(password, options)
  note({ encoded })
  return encoded
}
