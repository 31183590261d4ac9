/** People, made without the time that hashing a password takes. */
import { inject } from 'vitest'
import type { Database } from '../../src/db/database-types.ts'
import type { Custody } from '../../src/keys/key-types.ts'
import { createPasswordHasher } from '../../src/keys/password-hasher.ts'
import { insertPerson, type TestUser, type UserOptions } from './person.ts'

export type { TestActor, TestUser, UserOptions } from './person.ts'

/** Every seeded user's. */
export const PASSWORD = 'correct horse battery'

/** The real one, with little memory: at its full cost the suite would mostly hash. */
export const createTestHasher = () => createPasswordHasher({ memoryCost: 1_024 })

/** An account as sign-up makes it, with a session. Its books are whole: the invariants hold. */
export const insertTestUser = (
  parts: { database: Database; custody: Custody },
  options: UserOptions = {},
): Promise<TestUser> => insertPerson(parts, { ...options, passwordHash: inject('passwordHash') })
