/**
 * Text without the `character`s at its end. The regular expression for it, such as `/0+$/`, begins anew at each one that stands in the
 * middle: its time grows with the square of their number.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}
