import { z } from 'zod'
import { fromId } from '../../shared/ids.ts'
import { checked, label, length, nonBlankText, requiredText, trimmedText } from '../../shared/input.ts'
import { textProblem } from '../../shared/json-input.ts'
import { normalizeEmail } from './email-addresses.ts'

/** Maximum length of a username in characters, also in the normal form NFKC, in which names are compared. */
const MAX_USERNAME = 21
/** Maximum length of a typed username in UTF-16 units. A composed character can be typed as up to four code points of two units. */
const MAX_TYPED_USERNAME_UNITS = MAX_USERNAME * 4 * 2

/** Controls, formats, private and unassigned code points, fillers, the empty Braille cell, and all spaces except U+0020. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffd]|[^\S ]|(?! )\p{Z}/u

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])\p{L}/u

const TOO_LONG = `Ensure this field has no more than ${MAX_USERNAME} characters.`

/** Checks the length before normalization, whose time grows with the square of the number of combining marks. */
const lengthProblem = (text: string): string | undefined =>
  text.trim().length > MAX_TYPED_USERNAME_UNITS ? TOO_LONG : undefined

const composed = (text: string) => text.trim().normalize('NFC')

const looksLikeEmail = (name: string) => /\S@\S/.test(name.normalize('NFKC'))

/**
 * Returns the problem of a composed username, or undefined. The rules follow PRECIS (RFC 8264, 8265): a person can see the name, type it again and distinguish it from others.
 * Single spaces and symbols are allowed in addition, because existing accounts have them. There is no maintained library for Node.js.
 */
function usernameProblem(name: string): string | undefined {
  if (name === '') return 'This field may not be blank.'
  // One character may have eighteen in NFKC.
  const compared = name.normalize('NFKC')
  if (Math.max(length(name), length(compared)) > MAX_USERNAME) return TOO_LONG
  if (INVISIBLE.test(name)) return 'Enter a valid username, without invisible characters.'
  if (/ {2}/.test(compared) || compared.trim() !== compared)
    return 'Enter a valid username, with single spaces inside only.'
  if (/^\p{M}/u.test(name)) return 'Enter a valid username: it may not begin with a mark that belongs to a letter.'
  if (RIGHT_TO_LEFT.test(name) && LEFT_TO_RIGHT.test(name)) {
    return 'Enter a valid username, of letters that are all written in one direction.'
  }
  return fromId(name) ? 'A username may not look like an identifier.' : undefined
}

/** A username: composed (NFC), trimmed, at most 21 characters, and valid for `usernameProblem`. */
export const username = checked(
  checked(z.string({ error: 'Expected text.' }), (text) => textProblem(text) ?? lengthProblem(text)).transform(
    composed,
  ),
  usernameProblem,
)

const othersEmail = 'A username may not be the e-mail address of somebody else.'

/** Returns the problem of a username that is the e-mail address of another user, or undefined. */
export const addressProblem = (name: string, email: string | undefined) =>
  looksLikeEmail(name) && name.toLowerCase() !== email?.toLowerCase() ? othersEmail : undefined

const INVALID_EMAIL = 'Enter a valid email address.'

/** A normalized e-mail address of at most 254 characters. */
export const email = trimmedText(254)
  .transform(normalizeEmail)
  .refine((value) => z.email().safeParse(value).success, INVALID_EMAIL)

/** Code points that passwords must not contain. RFC 8265 (profile OpaqueString) refers to the FreeformClass of RFC 8264, which disallows these: by category, then default-ignorable code points, old Hangul jamo and exceptions. */
const DISALLOWED =
  /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\p{Default_Ignorable_Code_Point}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7c6\ud7cb-\ud7fb\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u

/** Code points that RFC 5892 (appendix A) allows only beside certain letters. */
const MISPLACED = /(?<!l)\u00b7|\u00b7(?!l)|\u0375(?!\p{Script=Greek})|(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u

const JOINER = /[\u200c\u200d]/u
/**
 * A zero-width non-joiner between two Arabic letters. RFC 5892 tests their joining types, which JavaScript does not know, so this
 * also accepts a non-joiner that has no effect.
 */
const ARABIC_NON_JOINER = /(?<=(?=\p{Script=Arabic})\p{L}\p{Mn}{0,4})\u200c(?=(?=\p{Script=Arabic})\p{L})/gu

/**
 * Returns whether a mark has the combining class of viramas, 9. JavaScript does not know the classes, but it orders marks by
 * them: U+3099 has class 8 and U+05B0 class 10.
 */
const isVirama = (mark: string) =>
  `${mark}\u3099`.normalize('NFD') !== `${mark}\u3099` && `\u05b0${mark}`.normalize('NFD') !== `\u05b0${mark}`

/** Returns the text without the joiners that the context rules allow. */
const withoutAllowedJoiners = (text: string) =>
  text
    .replaceAll(/(\p{M})[\u200c\u200d]/gu, (found, mark: string) => (isVirama(mark) ? mark : found))
    .replaceAll(ARABIC_NON_JOINER, '')

/** Returns whether both kinds of Arabic digits occur, or a katakana middle dot without Japanese letters. */
const isMixed = (text: string) =>
  (/[\u0660-\u0669]/.test(text) && /[\u06f0-\u06f9]/.test(text)) ||
  (text.includes('\u30fb') && !/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(text))

/**
 * Maps every space to U+0020 and composes characters (NFC). Width and case stay. The caller limits the length first: the time
 * to order marks grows with the square of their number.
 */
export const toOpaqueString = (text: string): string => text.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')

/** Returns whether the profile allows every character of a mapped text. */
function isOpaqueString(text: string): boolean {
  const judged = JOINER.test(text) ? withoutAllowedJoiners(text) : text
  return text !== '' && !DISALLOWED.test(judged) && !MISPLACED.test(judged) && !isMixed(judged)
}

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
 * A sign-in. A wrong address or password is not a validation error. A value without an @ is invalid, and does not count as a guess.
 * Nothing else is validated, so that accounts of earlier versions can sign in.
 */
export const signInInput = z.strictObject({
  email: requiredText(254)
    .refine((value) => value === '' || value.includes('@'), INVALID_EMAIL)
    .transform(normalizeEmail),
  password: presentPassword,
  name: label(100).optional(),
})

/** A sign-up before validation. */
export type SignUpInput = z.input<typeof signUpInput>
/** A sign-in before validation. `name` is the name of the session. */
export type SignInInput = z.input<typeof signInInput>
