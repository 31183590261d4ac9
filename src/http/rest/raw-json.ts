/** JSON text that is answered as it was sent: to the digit, which no JavaScript number would be. */

/** Stands before such a text until the answer is written. No text that may be sent begins like it. */
const MARK = '\0kept JSON: '

/** What stands in an answer for JSON text. The text must be JSON. */
export const keptJson = (text: string) => `${MARK}${text}`

/** How a marked text begins in JSON. */
const BEGIN = JSON.stringify(MARK).slice(0, -1)

/** Where the text ends whose first character is at `from`: at the first quotation mark that is not escaped. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
}

/** An answer as JSON, with what it keeps in it. */
export function writeJson(answer: unknown): string {
  const json = JSON.stringify(answer)
  const parts: string[] = []
  let written = 0
  for (let at = json.indexOf(BEGIN); at >= 0; at = json.indexOf(BEGIN, Math.max(written, at + 1))) {
    // Else it is a quotation mark within a text.
    if (json[at - 1] === '\\') continue
    const begin = at + BEGIN.length
    const end = endOfText(json, begin)
    parts.push(json.slice(written, at), JSON.parse(`"${json.slice(begin, end)}"`) as string)
    written = end + 1
  }
  return parts.join('') + json.slice(written)
}
