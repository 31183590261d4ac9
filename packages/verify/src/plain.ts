/**
 * Controls, line breaks among them, and what is not seen or turns the direction of writing: by these a text could move the cursor of whoever
 * reads it, take back what stands before it, or pass for lines of ours.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** A text as one line that shows all of it: what is not seen stands there by its number. */
export const plain = (text: string): string =>
  text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
