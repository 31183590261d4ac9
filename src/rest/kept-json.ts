/** JSON text that is answered as it was sent: to the digit, which no JavaScript number would be. */

/** Stands before such a text until the answer is written. No text that may be sent begins like it. */
const MARK = '\0kept JSON: '

/** What stands in an answer for JSON text. The text must be JSON. */
export const keptJson = (text: string) => `${MARK}${text}`

/** The mark and the text, as JSON has them. */
const MARKED = /"\\u0000kept JSON: ([^"\\]*(?:\\.[^"\\]*)*)"/g

/** An answer as JSON, with what it keeps in it. */
export const writeJson = (answer: unknown): string =>
  JSON.stringify(answer).replaceAll(MARKED, (_, quoted: string) => JSON.parse(`"${quoted}"`))
