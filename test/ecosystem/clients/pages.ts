/** The pages of `docs/clients/`, and the commands that lead to a first upload. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = join(import.meta.dirname, '../../../docs/clients')

/** A page, and the project below this folder that its code comes from. */
export interface Page {
  file: string
  text: string
  project: string
}

const pageOf = (name: string): Page => {
  const file = join(folder, name)
  const text = readFileSync(file, 'utf8')
  const project = /\(\.\.\/\.\.\/test\/ecosystem\/clients\/([\w-]+)\)/.exec(text)?.[1]
  if (!project) throw new Error(`${basename(file)} names no project.`)
  return { file, text, project }
}

/** All pages of clients. Throws an error for a page that names no project. */
export const pages: readonly Page[] = globSync('*.md', { cwd: folder }).sort().map(pageOf)

/** The page with the rules for all clients. */
export const overview = join(folder, '../clients.md')

/** Returns the commands below _First upload_, which the reader runs in a copy of the project. */
export function commandsOf({ text }: Page): string[] {
  const [, part = ''] = /^## First upload\n(.*?)^## /ms.exec(text) ?? []
  return [...part.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) => block!.trim().split('\n'))
}
