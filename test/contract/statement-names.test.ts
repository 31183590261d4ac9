/**
 * Which test files share a process differs from run to run, and `allStatements` has what any of them declares: a name belongs to one file,
 * since two that declare the same one cannot both be loaded, and the tests' own begin with `test_`, since others leave these out.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const DECLARED = /^(?:export )?\s*(?:const \w+ = )?(?:statement|joinedStatement)\(\s*['`]([^'`]+)['`]/gm

const declarations = globSync('{src,test,bench,proofs}/**/*.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(new URL(file, root), 'utf8').matchAll(DECLARED)].map(([, name]) => ({ name: name!, file })),
)

it('each SQL statement has a unique name', () => {
  expect(declarations.length).toBeGreaterThan(300)
  const byName = Map.groupBy(declarations, ({ name }) => name)
  const shared = [...byName].map(([name, all]) => [name, [...new Set(all.map(({ file }) => file))]] as const)
  expect(shared.filter(([, inFiles]) => inFiles.length > 1)).toEqual([])
})

it('names of SQL statements in tests have the prefix test', () => {
  const ofTests = declarations.filter(({ file }) => file.startsWith('test/'))
  expect(ofTests.length).toBeGreaterThan(10)
  expect(ofTests.filter(({ name }) => !name.startsWith('test_'))).toEqual([])
})
