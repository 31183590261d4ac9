import { describe, expect, it } from 'vitest'
import { createPasswordHasher } from '../../src/platform/passwords.ts'

describe('A password', () => {
  it('is kept as Argon2id with 64 MiB and two passes, and verified', async () => {
    const passwords = createPasswordHasher()
    const encoded = await passwords.hash('correct horse')
    expect(encoded).toMatch(/^\$argon2id\$v=19\$m=65536,t=2,p=1\$/)
    expect(await passwords.verify(encoded, 'correct horse')).toBe(true)
    expect(await passwords.verify(encoded, 'correct horsE')).toBe(false)
  })

  it('of no account matches nothing', async () => {
    expect(await createPasswordHasher().verify(undefined, 'correct horse')).toBe(false)
  })
})
