import { z } from 'zod'
import { checked, label, length, text } from '../input.ts'
import { textProblem } from '../json-input.ts'
import { normalizeEmail } from './email-address.ts'
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

/** An e-mail address in the form in which it is kept (`normalizeEmail`), at most 254 characters. */
export const email = text(254)
  .transform(normalizeEmail)
  .refine((value) => z.email().safeParse(value).success, 'Enter a valid email address.')

/** Characters. */
export const passwordLength = { min: 8, max: 32 }

/** A password that is about to be set: 8 to 32 characters. One that is only compared is not held to this. */
export const password = checked(z.string({ error: 'Expected text.' }), textProblem)
  .refine(
    (value) => length(value) >= passwordLength.min,
    `Ensure this field has at least ${passwordLength.min} characters.`,
  )
  .refine(
    (value) => length(value) <= passwordLength.max,
    `Ensure this field has no more than ${passwordLength.max} characters.`,
  )

/** Sign-up: username ≤ 21 characters, a valid e-mail address, password of 8 to 32 characters. */
export const signUpInput = z
  .object({
    username,
    email,
    password,
    language: text(16).default('en-us'),
    referralCode: text(64).default(''),
  })
  .superRefine(({ username, email }, context) => {
    const message = addressProblem(username, email)
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['username'], message })
  })

/** A wrong e-mail or password is refused as such, not as bad input; only a size bounds the work. */
export const signInInput = z.strictObject({
  email: text(254).transform(normalizeEmail),
  password: text(256),
  name: label(100).optional(),
})

/** A sign-up as a caller gives it; language and referral code may be left out. */
export type SignUpInput = z.input<typeof signUpInput>
/** A sign-in as a caller gives it; `name` is what the session is to be called. */
export type SignInInput = z.input<typeof signInInput>
