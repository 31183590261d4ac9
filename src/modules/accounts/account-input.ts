import { z } from 'zod'
import { violatedConstraint } from '../../db/database-types.ts'
import { DomainError } from '../../shared/errors.ts'
import { fromId, sha256 } from '../../shared/ids.ts'
import { checked, label, length, nonBlankText, requiredText, textProblem, trimmedText } from '../../shared/input.ts'

/** Trims an address, and converts an internationalized domain to ASCII, such as `xn--bcher-kva.example`. */
export function normalizeEmail(text: string): string {
  const address = text.trim()
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (at < 0 || !/[^\0-\x7f]/.test(domain) || /[\s/?#:%\\[\]]/.test(domain)) return address
  const url = `http://${domain}`
  return URL.canParse(url) ? `${address.slice(0, at)}@${new URL(url).hostname}` : address
}

/** Returns the digest of an address, for rate limits. They also count addresses without an account. */
export const addressDigest = (email: string) => sha256(email.toLowerCase()).toString('hex')

/** Returns the digest of the mailbox of an address. Ignores a `+tag`, and dots at Gmail. */
export function mailboxDigest(email: string): string {
  const [address = '', domain = ''] = email.toLowerCase().split('@')
  const name = address.replace(/(?<=.)\+.*/, '')
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com'
  return addressDigest(isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`)
}

/** SQL after `from users` that finds the account that holds an address, or else the first account that claims it. */
export const byEmailSql = (address: string) =>
  `where lower(users.email) = lower(${address}) and deleted_at is null order by email_held desc, created_at, id limit 1`

/** SQL condition that other users can find the user by e-mail address. `mustBeVerified` is an expression. */
export const isEmailUsableSql = (mustBeVerified: string, users = 'users'): string =>
  `${users}.email_held and (${users}.email_verified or not ${mustBeVerified}::boolean)`

export const isEmailUsable = (
  { emailHeld, emailVerified }: { emailHeld: boolean; emailVerified: boolean },
  mustBeVerified: boolean,
): boolean => emailHeld && (emailVerified || !mustBeVerified)

/** Maximum length of a username in characters, also in the normal form NFKC. */
const MAX_USERNAME = 21
/** Maximum length of an entered username in UTF-16 units. A character can take four code points of two units. */
const MAX_TYPED_USERNAME = MAX_USERNAME * 4 * 2

/** Matches invisible, private and unassigned code points, and all spaces except U+0020. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffd]|[^\S ]|(?! )\p{Z}/u

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])\p{L}/u

const noLongerThan = (max: number) => `Ensure this field has no more than ${max} characters.`
const TOO_LONG = noLongerThan(MAX_USERNAME)

/** Follows PRECIS (RFC 8264, 8265), which has no maintained library. Also allows single spaces and symbols. */
function usernameProblem(name: string): string | undefined {
  if (name === '') return 'This field may not be blank.'
  // NFKC may turn one character into eighteen.
  const compared = name.normalize('NFKC')
  if (Math.max(length(name), length(compared)) > MAX_USERNAME) return TOO_LONG
  if (INVISIBLE.test(name)) return 'Enter a valid username, without invisible characters.'
  if (/ {2}/.test(compared) || compared.trim() !== compared)
    return 'Enter a valid username, with single spaces inside only.'
  if (/^\p{M}/u.test(name)) return 'Enter a valid username that does not begin with a combining mark.'
  if (RIGHT_TO_LEFT.test(name) && LEFT_TO_RIGHT.test(name))
    return 'Enter a valid username whose letters are all written in one direction.'
  return fromId(name) ? 'A username may not look like an identifier.' : undefined
}

// The length is checked before normalization, whose time grows with the square of the number of combining marks.
const typedUsername = checked(z.string({ error: 'Expected text.' }), (typed) => {
  return textProblem(typed) ?? (typed.trim().length > MAX_TYPED_USERNAME ? TOO_LONG : undefined)
})

export const username = checked(
  typedUsername.transform((typed) => typed.trim().normalize('NFC')),
  usernameProblem,
)

/** Returns the problem of a username that is the e-mail address of another user, or undefined. */
export const addressProblem = (name: string, email: string) =>
  /\S@\S/.test(name.normalize('NFKC')) && name.toLowerCase() !== email.toLowerCase()
    ? 'A username must not be the e-mail address of another user.'
    : undefined

const INVALID_EMAIL = 'Enter a valid email address.'
export const email = trimmedText(254)
  .transform(normalizeEmail)
  .refine((value) => z.email().safeParse(value).success, INVALID_EMAIL)

/** Matches control, invisible and unassigned characters. Allows joiners where Indic and Arabic scripts need them. */
const DISALLOWED =
  /[^\p{L}\p{M}\p{N}\p{P}\p{S}\u200c-\u200d ]|(?![\u200c-\u200d])\p{Default_Ignorable_Code_Point}|(?<![\p{M}\p{Script=Arabic}])[\u200c-\u200d]/u

/** Maps spaces to U+0020 and composes characters (NFC). Limit the length first, because NFC can take quadratic time. */
export const toOpaqueString = (text: string): string => text.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')

export const passwordLength = { min: 8, max: 32 }

/** Maximum length of an entered password in characters. Some keyboards send a composed character as up to four. */
const MAX_ENTERED_PASSWORD = 256

/** A password to compare with the stored password. A blank password is invalid and does not count as a guess. */
export const presentPassword = nonBlankText(MAX_ENTERED_PASSWORD)

const passwordMessages = {
  tooShort: `Ensure this field has at least ${passwordLength.min} characters.`,
  tooLong: noLongerThan(passwordLength.max),
  unfit: 'A password must not contain control characters, invisible characters or unassigned characters.',
}

/** Returns the problem with a new password, or undefined. The length counts characters of the normalized form. */
export function passwordProblem(typed: string): keyof typeof passwordMessages | undefined {
  if (length(typed) > MAX_ENTERED_PASSWORD) return 'tooLong'
  const normalized = toOpaqueString(typed)
  if (length(normalized) < passwordLength.min) return 'tooShort'
  if (length(normalized) > passwordLength.max) return 'tooLong'
  return DISALLOWED.test(normalized) ? 'unfit' : undefined
}

/** A password to set: 8 to 32 characters. The output is the normalized form (RFC 8265, OpaqueString). */
export const password = checked(z.string({ error: 'Expected text.' }), (typed) => {
  const problem = passwordProblem(typed)
  return textProblem(typed) ?? (problem && passwordMessages[problem])
}).transform(toOpaqueString)

export const signUpInput = z
  .object({
    username,
    email,
    password,
    language: trimmedText(16).default('en-us'),
    referralCode: trimmedText(64).default(''),
  })
  .superRefine(({ username, email }, context) => {
    const message = addressProblem(username, email)
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['username'], message })
  })

/** A sign-in. An address without an @ is invalid and does not count as a guess. */
export const signInInput = z.strictObject({
  email: requiredText(254)
    .refine((value) => value === '' || value.includes('@'), INVALID_EMAIL)
    .transform(normalizeEmail),
  password: presentPassword,
  name: label(100).optional(),
})

export type SignUpInput = z.input<typeof signUpInput>
export type SignInInput = z.input<typeof signInInput>

const duplicate = (field: 'email' | 'username') =>
  new DomainError(field === 'email' ? 'DUPLICATE_EMAIL' : 'DUPLICATE_USERNAME', `This ${field} is already in use.`, {
    details: { [field]: [`A user with this ${field} already exists.`] },
  })

export const emailInUse = () => duplicate('email')

/** Throws DUPLICATE_USERNAME or DUPLICATE_EMAIL for the violation of a unique index. Rethrows other errors. */
export function throwDuplicate(error: unknown): never {
  const constraint = violatedConstraint(error)
  if (constraint === 'users_username_key') throw duplicate('username')
  throw constraint === 'users_email_key' ? duplicate('email') : error
}
