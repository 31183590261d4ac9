/**
 * The one way to check a password. At most five wrong guesses at an account in a quarter of an hour, by whatever path they
 * come; further tries do not prolong it, and a password reset ends it.
 */
import type { Limit, Limits } from '../limits.ts'
import { type Database, type PasswordHasher, statement } from '../ports.ts'

const guesses: Limit = { name: 'password-check', count: 5, seconds: 900 }

// Accounts are found by the database's `lower`. In another's spelling one account would have many subjects.
const subjectSql = (email: string) => `encode(sha256(convert_to(lower(${email}), 'UTF8')), 'hex')`

/** SQL for the key in `limits` of an e-mail address, which is an expression of type text itself. To clear: delete its row. */
export const passwordCheckKeySql = (email: string) => `'${guesses.name}:' || ${subjectSql(email)}`

const findSubject = statement<{ subject: string }>(
  'password_check_subject',
  `select ${subjectSql('$1::text')} as subject`,
)

interface Dependencies {
  database: Database
  limits: Limits
  passwords: PasswordHasher
}

export type PasswordCheck = ReturnType<typeof createPasswordCheck>

export function createPasswordCheck({ database, limits, passwords }: Dependencies) {
  return {
    /**
     * Whether the password is the account's. Pass `passwordHash` undefined when there is no account: it is counted and takes
     * the same time. Raises THROTTLED, UNAVAILABLE.
     */
    async check(account: { email: string; passwordHash: string | undefined }, password: string): Promise<boolean> {
      const [row] = await database.query(findSubject, [account.email])
      const hit = await limits.take(guesses, row!.subject)
      let wasWrong = false
      try {
        wasWrong = !(await passwords.verify(account.passwordHash, password))
        return !wasWrong
      } finally {
        // What could not be verified was no guess.
        if (!wasWrong) await limits.giveBack(guesses, hit)
      }
    },
  }
}
