/**
 * Names that others are shown, or that people tell things of theirs apart by, whatever they are of. Usernames, by which
 * people are found, hold less (`account/username.ts`).
 */

/**
 * Controls, other lines than the first, and what is not seen or turns the direction of what stands around it. Not so what
 * writing needs: joiners and what parts words (Persian, Hindi, Khmer, Mongolian, families of emoji), and the tags of flags.
 */
const UNSEEN =
  /(?![\u180e\u200b-\u200d\u{e0020}-\u{e007f}])(?=\p{Default_Ignorable_Code_Point})\p{C}|[\p{Cc}\p{Zl}\p{Zp}]/u

/** Without spaces around it, and without joiners that join nothing: they have nothing before them. */
export const tidied = (name: string) => name.replace(/^[\s\u180e\u200b-\u200d\u{e0020}-\u{e007f}]+/u, '').trimEnd()

/** Why a text is no name that can be shown; undefined when it is one. */
export const nameProblem = (name: string): string | undefined =>
  UNSEEN.test(name) ? 'Enter a name without invisible characters.' : undefined

/** What of a text can be shown as a name: for names that nobody chose word by word, such as a device's. */
export const showable = (text: string) => tidied(text.replaceAll(new RegExp(UNSEEN, 'gu'), ''))
