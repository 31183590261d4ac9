/** Loads all modules and returns every SQL statement that the service declares. */
import { globSync, readFileSync } from 'node:fs'
import { allStatements } from '../../src/db/sql.ts'

const root = new URL('../../src/', import.meta.url)
const isDeclaring = /^import \{[^}]*\b(?:statement|joinedStatement)\b[^}]*\} from '[^']*\/sql\.ts'$/m

export async function declaredStatements() {
  for (const file of globSync('**/*.ts', { cwd: root })) {
    const url = new URL(file, root)
    if (isDeclaring.test(readFileSync(url, 'utf8'))) await import(url.href)
  }
  return allStatements().filter(({ name }) => !/^(test|proof)_/.test(name))
}
