/** Normal form of e-mail addresses, their digests for rate limits, and SQL to find accounts by address. */
import { sha256 } from '../../shared/secrets.ts'

/**
 * Returns an address in the form in which it is stored. An internationalized domain becomes ASCII: `bücher.example` becomes `xn--bcher-kva.example`.
 * The case stays, because the database compares addresses without case.
 */
export function normalizeEmail(text: string): string {
  const address = text.trim()
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (at < 0 || !/[^\0-\x7f]/.test(domain) || /[\s/?#:%\\[\]]/.test(domain)) return address
  const url = `http://${domain}`
  return URL.canParse(url) ? `${address.slice(0, at)}@${new URL(url).hostname}` : address
}

/** Digest of a valid address. Rate limits store digests, because they also count addresses without an account. */
export const addressDigest = (email: string) => sha256(email.toLowerCase()).toString('hex')

const GMAIL = new Set(['gmail.com', 'googlemail.com'])

/**
 * Digest of the mailbox of a valid address. Ignores a `+tag`, and dots at Gmail. Use it where a mail goes to any given address. Where mails go to accounts only,
 * use `addressDigest`: otherwise requests for unknown addresses would use up the limit of a mailbox.
 */
export function mailboxDigest(email: string): string {
  const [address = '', domain = ''] = email.toLowerCase().split('@')
  const tag = address.indexOf('+')
  const name = tag > 0 ? address.slice(0, tag) : address
  return addressDigest(GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`)
}

/**
 * SQL after `from users` that finds the account that holds an address, or else the one that claimed it first. Several accounts may claim an
 * address until one of them verifies it. `address` is an expression.
 */
export const byEmailSql = (address: string) =>
  `where lower(users.email) = lower(${address}) and deleted_at is null order by email_held desc, created_at, id limit 1`

/** SQL condition: the address of a user is valid for others. `mustBeVerified` is an expression. */
export const isEmailUsableSql = (mustBeVerified: string, users = 'users'): string =>
  `${users}.email_held and (${users}.email_verified or not ${mustBeVerified}::boolean)`

/** Returns the same as `isEmailUsableSql` for a record. */
export const isEmailUsable = (
  { emailHeld, emailVerified }: { emailHeld: boolean; emailVerified: boolean },
  mustBeVerified: boolean,
): boolean => emailHeld && (emailVerified || !mustBeVerified)
