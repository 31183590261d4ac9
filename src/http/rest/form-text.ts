/** Texts of forms that are not UTF-8. They are rejected, never changed (decision 17). */

/** Stands for a text that is not UTF-8. The field that reads it rejects it. A field that no one reads is ignored. */
export const NOT_UTF8 = '\udcff'

/** Bytes that are escaped next to each other. A character has one to four. */
const ESCAPED = /(?:%[\da-f]{2})+/gi

/** Returns whether the escaped bytes of an urlencoded text are UTF-8. */
export function escapesUtf8(text: string): boolean {
  try {
    for (const [bytes] of text.matchAll(ESCAPED)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}
