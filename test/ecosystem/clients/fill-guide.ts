/** `node test/ecosystem/clients/fill-guide.ts`: puts what the projects hold into the marked blocks of `docs/clients/`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from './pages.ts'
import { fillSnippets } from './snippets.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8')
for (const { file, text } of pages) writeFileSync(file, fillSnippets(text, read))
