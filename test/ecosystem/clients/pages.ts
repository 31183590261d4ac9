/** The pages of `docs/clients/`, and what a reader does who follows one of them to a first upload. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = join(import.meta.dirname, '../../../docs/clients')

/** A page, and the project below this folder that it is cut from. */
export interface Page {
  file: string
  text: string
  project: string
}

/** A thing that the page tells its reader to do. */
export type Step = { write: string; text: string } | { run: string }

const pageOf = (name: string): Page => {
  const file = join(folder, name)
  const text = readFileSync(file, 'utf8')
  const project = /\(\.\.\/\.\.\/test\/ecosystem\/clients\/([\w-]+)\)/.exec(text)?.[1]
  if (!project) throw new Error(`${basename(file)} names no project.`)
  return { file, text, project }
}

/** All of them. Throws for one that names no project. */
export const pages: readonly Page[] = globSync('*.md', { cwd: folder }).sort().map(pageOf)

const BLOCK = /(?:^`([^`\n]+)`[^\n]*:\n+(?:<!--[^>]*-->\n+)?)?^```(\w+)\n(.*?)^```$/gms

/** What stands below _First upload_: files to write, by their names, and lines to type, in their order. Throws for a block that is neither. */
export function stepsOf({ file, text }: Page): Step[] {
  const [, part = ''] = /^## First upload\n(.*?)^## /ms.exec(text) ?? []
  return [...part.matchAll(BLOCK)].flatMap(([, name, language, block]): Step[] => {
    if (name) return [{ write: name, text: block! }]
    if (language !== 'sh') throw new Error(`${basename(file)}: a block of ${language} has no name of a file.`)
    return block!
      .trim()
      .split('\n')
      .map((run) => ({ run }))
  })
}
