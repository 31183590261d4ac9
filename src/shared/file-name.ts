/** Names of files: what a caller sent along with one, and what the reader of one wants it to be called. */

/** The most characters that the name of a file has. */
export const MOST_IN_FILE_NAME = 255

/** A name in no folder, all of which is seen, and which is no longer than names are; `undefined` where nothing of it is left. */
export function fileNameOf(name: string | null | undefined): string | undefined {
  const base = (name ?? '').replace(/\p{C}/gu, '').split(/[\\/]/).at(-1) ?? ''
  return [...base].slice(0, MOST_IN_FILE_NAME).join('') || undefined
}
