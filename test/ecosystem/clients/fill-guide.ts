/** `node test/ecosystem/clients/fill-guide.ts`: copies code of the projects into the marked blocks of `docs/clients.md` and `docs/clients/`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { overview, pages } from './pages.ts'
import { fillSnippets } from './snippets.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8')
for (const file of [overview, ...pages.map((page) => page.file)]) {
  writeFileSync(file, fillSnippets(readFileSync(file, 'utf8'), read))
}
