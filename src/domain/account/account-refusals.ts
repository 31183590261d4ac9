import { DomainError } from '../errors.ts'
import { violatedConstraint } from '../ports.ts'

const refusals: Record<string, DomainError['code']> = {
  users_username_key: 'DUPLICATE_USERNAME',
  users_email_key: 'DUPLICATE_EMAIL',
}

/** A statement's failure, told as DUPLICATE_USERNAME or DUPLICATE_EMAIL when that is what it is. */
export function duplicate(error: unknown): unknown {
  const code = refusals[violatedConstraint(error) ?? '']
  if (!code) return error
  const field = code === 'DUPLICATE_EMAIL' ? 'email' : 'username'
  return new DomainError(code, `This ${field} is taken.`, {
    details: { [field]: [`A user with this ${field} already exists.`] },
  })
}
