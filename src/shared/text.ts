/** Invisible characters, and those that change the text direction. Excludes joiners of scripts and tags of flag emoji. */
const INVISIBLE =
  /(?![\u180e\u200b-\u200d\u{e0020}-\u{e007f}])(?=\p{Default_Ignorable_Code_Point})\p{C}|[\p{Cc}\p{Zl}\p{Zp}]/u

/** Also removes joiners at the start, which join nothing. */
export const trimName = (name: string) => name.replace(/^[\s\u180e\u200b-\u200d\u{e0020}-\u{e007f}]+/u, '').trimEnd()

export const nameProblem = (name: string): string | undefined =>
  INVISIBLE.test(name) ? 'Enter a name without invisible characters.' : undefined

/** For names that no user typed, such as the name of a device. */
export const stripInvisible = (text: string) => trimName(text.replaceAll(new RegExp(INVISIBLE, 'gu'), ''))
export const MAX_FILE_NAME_LENGTH = 255

/** Returns a file name without folders and invisible characters, or undefined if nothing is left. */
export function cleanFileName(name: string | null | undefined): string | undefined {
  const base = (name ?? '').replace(/\p{C}/gu, '').split(/[\\/]/).at(-1) ?? ''
  return [...base].slice(0, MAX_FILE_NAME_LENGTH).join('') || undefined
}

/** Takes linear time. A regular expression such as `/0+$/` takes quadratic time. */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
export const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
