/** The PRECIS profile OpaqueString (RFC 8265, section 4.2) for passwords. There is no maintained library of PRECIS for Node.js. */

/** The code points that the FreeformClass of RFC 8264 disallows: by category, then default-ignorable code points, old Hangul jamo and exceptions. */
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
export function isOpaqueString(text: string): boolean {
  const judged = JOINER.test(text) ? withoutAllowedJoiners(text) : text
  return text !== '' && !DISALLOWED.test(judged) && !MISPLACED.test(judged) && !isMixed(judged)
}
