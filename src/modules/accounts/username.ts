/**
 * What may be a username, after PRECIS (RFC 8264, 8265): what a person can see, type again and tell from another name.
 * There is no kept library of it for Node. Wider than its identifiers by single spaces and by symbols, which older accounts
 * have. Names are compared by `username_key` of the database.
 */
import { fromId } from '../../shared/ids.ts'
import { length } from '../../shared/input.ts'

/** Characters, also in the form in which names are compared. */
const MAX_USERNAME = 21
/** Characters that one composed one may be written with at most (Unicode, canonical decomposition), of two units each. */
const MOST_PARTS = 4
const MOST_UNITS = MAX_USERNAME * MOST_PARTS * 2

/** Nothing is seen of these: controls, formats, private and unassigned ones, fillers, the empty Braille cell, all spaces but one. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffd]|[^\S ]|(?! )\p{Z}/u

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])\p{L}/u

const TOO_LONG = `Ensure this field has no more than ${MAX_USERNAME} characters.`

/**
 * Why a text is too long for a username, before anything else is done with it: undefined when it may be one. To put marks into their order takes
 * the square of their number, minutes where a megabyte of them follows one letter.
 */
export const lengthProblem = (text: string): string | undefined =>
  text.trim().length > MOST_UNITS ? TOO_LONG : undefined

/** A username as it is kept: composed (NFC), and without spaces around it. */
export const composed = (text: string) => text.trim().normalize('NFC')

/** Whether a name reads as an e-mail address. */
export const looksLikeEmail = (name: string) => /\S@\S/.test(name.normalize('NFKC'))

/** Why a composed text is no username; undefined when it is one. */
export function usernameProblem(name: string): string | undefined {
  if (name === '') return 'This field may not be blank.'
  // In the form in which it is compared, too: one sign may stand for eighteen.
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
