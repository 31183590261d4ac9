/** Parts of the projects, as `docs/clients.md` shows them. */

/** A block of code in the guide, and where it comes from. */
export interface Snippet {
  /** Below this folder. */
  path: string
  /** Empty when the whole file is shown. */
  region: string
  text: string
}

const SNIPPET = /^(<!-- ([\w./-]+)(?:#([\w-]+))? -->\n+```\w+\n)(.*?)^```$/gms
const MARK = /^[ \t]*(?:\/\/|#) #(?:end)?region\b.*\n/gm

/** The marked blocks of code of a document. */
export const snippetsOf = (document: string): Snippet[] =>
  [...document.matchAll(SNIPPET)].map(([, , path, region = '', text]) => ({ path: path!, region, text: text! }))

/** A document with its marked blocks as the files have them now. */
export const fillSnippets = (document: string, read: (path: string) => string): string =>
  document.replaceAll(
    SNIPPET,
    (_block, head: string, path: string, region = '') => `${head}${cutSnippet(read(path), region)}\`\`\``,
  )

/** A file without its marks, or what stands in a region of it, without the indentation that all of its lines have. Throws without such a region. */
export function cutSnippet(file: string, region = ''): string {
  const text = region ? regionOf(file, region) : file
  // A mark that stands between two empty lines goes with one of them.
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
