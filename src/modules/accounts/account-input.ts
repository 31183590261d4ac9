import { z } from 'zod'
import { checked, label, length, nonBlankText, requiredText, trimmedText } from '../../shared/input.ts'
import { textProblem } from '../../shared/json-input.ts'
import { normalizeEmail } from './email-address.ts'
import { isOpaqueString, toOpaqueString } from './opaque-string.ts'
import { composed, lengthProblem, looksLikeEmail, usernameProblem } from './username.ts'

/** A username as it is kept: composed and trimmed, at most 21 characters; what else it may be says `usernameProblem`. */
export const username = checked(
  checked(z.string({ error: 'Expected text.' }), (text) => textProblem(text) ?? lengthProblem(text)).transform(
    composed,
  ),
  usernameProblem,
)

const othersEmail = 'A username may not be the e-mail address of somebody else.'

/** A name that is an address names its owner. Why it is not one of an account with this address; undefined when it may be. */
export const addressProblem = (name: string, email: string | undefined) =>
  looksLikeEmail(name) && name.toLowerCase() !== email?.toLowerCase() ? othersEmail : undefined

const INVALID_EMAIL = 'Enter a valid email address.'

/** An e-mail address in the form in which it is kept (`normalizeEmail`), at most 254 characters. */
export const email = trimmedText(254)
  .transform(normalizeEmail)
  .refine((value) => z.email().safeParse(value).success, INVALID_EMAIL)

/** Minimum and maximum length of a normalized password, in characters. */
export const passwordLength = { min: 8, max: 32 }

/** Maximum length of a password as it was typed, in characters. Some keyboards send a composed character as up to four. */
const TYPED_PASSWORD = 256

/** A password to compare with the stored one. A blank one is not a guess. */
export const presentPassword = nonBlankText(TYPED_PASSWORD)

const passwordMessages = {
  tooShort: `Ensure this field has at least ${passwordLength.min} characters.`,
  tooLong: `Ensure this field has no more than ${passwordLength.max} characters.`,
  unfit: 'A password must not contain control characters, invisible characters or unassigned characters.',
}

/** Returns the problem with a new password, or undefined if it can be set. The length counts characters of the normalized form. */
export function passwordProblem(typed: string): keyof typeof passwordMessages | undefined {
  if (length(typed) > TYPED_PASSWORD) return 'tooLong'
  const normalized = toOpaqueString(typed)
  if (length(normalized) < passwordLength.min) return 'tooShort'
  if (length(normalized) > passwordLength.max) return 'tooLong'
  return isOpaqueString(normalized) ? undefined : 'unfit'
}

/** A password to set: 8 to 32 characters. The output is the normalized form (RFC 8265, OpaqueString). */
export const password = checked(z.string({ error: 'Expected text.' }), (typed) => {
  const problem = passwordProblem(typed)
  return textProblem(typed) ?? (problem && passwordMessages[problem])
}).transform(toOpaqueString)

/** A sign-up: a username of at most 21 characters, a valid e-mail address and a password of 8 to 32 characters. */
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

/**
 * A sign-in. A wrong address or password is not a validation error. A value without an @ is no address, and is not counted as a guess.
 * Nothing more is checked, so that accounts of earlier versions can sign in.
 */
export const signInInput = z.strictObject({
  email: requiredText(254)
    .refine((value) => value === '' || value.includes('@'), INVALID_EMAIL)
    .transform(normalizeEmail),
  password: presentPassword,
  name: label(100).optional(),
})

/** A sign-up as a caller gives it; language and referral code may be left out. */
export type SignUpInput = z.input<typeof signUpInput>
/** A sign-in as a caller gives it; `name` is what the session is to be called. */
export type SignInInput = z.input<typeof signInInput>
