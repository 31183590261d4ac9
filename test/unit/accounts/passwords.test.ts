import { describe, expect, it } from 'vitest'
import { createPasswordHasher } from '../../../src/keys/password-hasher.ts'

describe('password hashing', () => {
  it('hashes passwords with Argon2id (64 MiB, two passes) and verifies the hashes', async () => {
    const passwords = createPasswordHasher()
    const encoded = await passwords.hash('correct horse')
    expect(encoded).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$/)
    expect(await passwords.verify(encoded, 'correct horse')).toBe(true)
    expect(await passwords.verify(encoded, 'correct horsE')).toBe(false)
  })

  it('password verification fails if the account does not exist', async () => {
    expect(await createPasswordHasher().verify(undefined, 'correct horse')).toBe(false)
  })

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [16, 2],
  ])(
    'with %i processors, at most %i password hashes run at the same time and other hashes wait',
    async (processors, atOnce) => {
      const passwords = createPasswordHasher({ memoryCost: 8, processors })
      const asked = ['one', 'two', 'three'].map((password) => passwords.hash(password))
      expect(passwords.load()).toMatchObject({ running: atOnce, waiting: 3 - atOnce })
      expect(new Set(await Promise.all(asked)).size).toBe(3)
      expect(passwords.load()).toMatchObject({ running: 0, waiting: 0, refused: 0 })
    },
  )
})
