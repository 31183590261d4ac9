/**
 * A statement's name belongs to one file: two modules of one process that declare the same one cannot both be loaded, and which test
 * files share a process differs from run to run.
 */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const DECLARED = /\bstatement\(\s*['`]([^'`]+)['`]/g

const declarations = globSync('{src,test,bench,proofs}/**/*.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(new URL(file, root), 'utf8').matchAll(DECLARED)].map(([, name]) => ({ name: name!, file })),
)

it('each statement has a name that no other file declares', () => {
  expect(declarations.length).toBeGreaterThan(300)
  const byName = Map.groupBy(declarations, ({ name }) => name)
  const shared = [...byName].map(([name, all]) => [name, [...new Set(all.map(({ file }) => file))]] as const)
  expect(shared.filter(([, inFiles]) => inFiles.length > 1)).toEqual([])
})
