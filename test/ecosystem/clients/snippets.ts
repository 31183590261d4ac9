/** Code of the projects that `docs/clients.md` and `docs/clients/` show. */

/** A block of code in a page, and its source. */
export interface Snippet {
  /** Path below this folder. */
  path: string
  /** Name of the region. Empty for the whole file. */
  region: string
  text: string
}

const SNIPPET = /^(<!-- ([\w./-]+)(?:#([\w-]+))? -->\n+```\w+\n)(.*?)^```$/gms
const MARK = /^[ \t]*(?:\/\/|#) #(?:end)?region\b.*\n/gm

/** Returns the marked blocks of code of a document. */
export const snippetsOf = (document: string): Snippet[] =>
  [...document.matchAll(SNIPPET)].map(([, , path, region = '', text]) => ({ path: path!, region, text: text! }))

/** Replaces the marked blocks of a document by the current code. */
export const fillSnippets = (document: string, read: (path: string) => string): string =>
  document.replaceAll(
    SNIPPET,
    (_block, head: string, path: string, region = '') => `${head}${cutSnippet(read(path), region)}\`\`\``,
  )

/** Returns a file, or one of its regions, without marks and common indentation. Throws an error if the region does not exist. */
export function cutSnippet(file: string, region = ''): string {
  const text = region ? regionOf(file, region) : file
  // Removes a mark between two empty lines together with one of them.
  return text.replaceAll(/\n\n[ \t]*(?:\/\/|#) #(?:end)?region\b.*\n\n/g, '\n\n').replaceAll(MARK, '')
}

function regionOf(file: string, region: string): string {
  const found = new RegExp(`#region ${region}\\n(.*?)\\n[^\\n]*#endregion`, 's').exec(file)
  if (!found) throw new Error(`There is no region ${region}.`)
  const lines = found[1]!.split('\n')
  const indentation = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)))
  return `${lines
    .map((line) => line.slice(indentation))
    .join('\n')
    .trim()}\n`
}
