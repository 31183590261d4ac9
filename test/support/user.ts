/** Creates users without the cost of password hashing. */
import { inject } from 'vitest'
import type { Database } from '../../src/db/database-types.ts'
import type { Custody } from '../../src/keys/envelope-encryption.ts'
import { createPasswordHasher } from '../../src/keys/password-hasher.ts'
import { insertPerson, type TestUser, type UserOptions } from './person.ts'

export type { TestActor, TestUser, UserOptions } from './person.ts'

/** The password of every seeded user. */
export const PASSWORD = 'correct horse battery'

/** The real password hashing with little memory. At full cost, hashing would dominate the suite. */
export const createTestHasher = () => createPasswordHasher({ memoryCost: 1_024 })

/** Creates an account with a session, as sign-up does. The ledger invariants hold. */
export const insertTestUser = (
  parts: { database: Database; custody: Custody },
  options: UserOptions = {},
): Promise<TestUser> => insertPerson(parts, { ...options, passwordHash: inject('passwordHash') })
