import { describe, expect, it } from 'vitest'
import { createPasswordHasher } from '../../../src/keys/password-hasher.ts'

describe('a password', () => {
  it('is hashed with Argon2id (64 MiB, two passes) and can be verified', async () => {
    const passwords = createPasswordHasher()
    const encoded = await passwords.hash('correct horse')
    expect(encoded).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$/)
    expect(await passwords.verify(encoded, 'correct horse')).toBe(true)
    expect(await passwords.verify(encoded, 'correct horsE')).toBe(false)
  })

  it('does not match when the account does not exist', async () => {
    expect(await createPasswordHasher().verify(undefined, 'correct horse')).toBe(false)
  })

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [16, 2],
  ])('is hashed on %i processors by at most %i concurrent hashes; the others wait', async (processors, atOnce) => {
    const passwords = createPasswordHasher({ memoryCost: 8, processors })
    const asked = ['one', 'two', 'three'].map((password) => passwords.hash(password))
    expect(passwords.load()).toMatchObject({ running: atOnce, waiting: 3 - atOnce })
    expect(new Set(await Promise.all(asked)).size).toBe(3)
    expect(passwords.load()).toMatchObject({ running: 0, waiting: 0, refused: 0 })
  })
})
