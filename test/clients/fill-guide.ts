/** `node test/clients/fill-guide.ts`: puts what the projects hold into the marked blocks of `docs/clients.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillSnippets } from './snippets.ts'

const guide = join(import.meta.dirname, '../../docs/clients.md')
const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8')
writeFileSync(guide, fillSnippets(readFileSync(guide, 'utf8'), read))
