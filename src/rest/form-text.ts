/** Texts of forms that are not what was sent, as their bytes are no UTF-8: they are refused, and not changed (decision 17). */

/** Characters in whose place there may be such bytes. */
const DOUBTFUL = /[\ufffd\x80-\xff]/g
/** Half of a character, which no text may hold. */
const HALF = '\udcff'

/** What becomes of such a text: whoever takes the field refuses it by its name, as it does in JSON. Fields that nobody takes are not judged. */
export function unreadable(text: string): string {
  const marked = text.replaceAll(DOUBTFUL, HALF)
  // Half a character of UTF-16 leaves nothing in its place.
  return marked === text ? `${text}${HALF}` : marked
}

/** Bytes that are escaped next to each other: a character is one to four. */
const ESCAPED = /(?:%[\da-f]{2})+/gi

/** Whether what is escaped in an urlencoded text is UTF-8. */
export function escapesUtf8(text: string): boolean {
  try {
    for (const [bytes] of text.matchAll(ESCAPED)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}
