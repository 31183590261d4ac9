import { violatedConstraint } from '../../db/database-types.ts'
import { DomainError } from '../../shared/errors.ts'

const refusals: Record<string, 'DUPLICATE_EMAIL' | 'DUPLICATE_USERNAME'> = {
  users_username_key: 'DUPLICATE_USERNAME',
  users_email_key: 'DUPLICATE_EMAIL',
}

const taken = (code: 'DUPLICATE_EMAIL' | 'DUPLICATE_USERNAME') => {
  const field = code === 'DUPLICATE_EMAIL' ? 'email' : 'username'
  return new DomainError(code, `This ${field} is taken.`, {
    details: { [field]: [`A user with this ${field} already exists.`] },
  })
}

/** The refusal DUPLICATE_EMAIL, for statements that tell it by a column rather than by the unique index. */
export const emailTaken = () => taken('DUPLICATE_EMAIL')

/** A statement's failure, told as DUPLICATE_USERNAME or DUPLICATE_EMAIL when that is what it is. */
export function duplicate(error: unknown): unknown {
  const code = refusals[violatedConstraint(error) ?? '']
  return code ? taken(code) : error
}

/** The refusal INCORRECT_LOGIN_CREDENTIALS: which of the two was wrong is not told. */
export const incorrectLogin = () =>
  new DomainError('INCORRECT_LOGIN_CREDENTIALS', 'Unable to log in with provided credentials.')

/** The refusal of who knows the password of an account that administrators keep locked. */
export const accountLocked = () =>
  new DomainError('AUTHENTICATION_FAILED', 'This account is locked. Ask those who run the service.')
