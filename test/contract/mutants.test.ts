/** The mutants of `npm run mutate` fit the sources as they are. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { applyMutant } from '../mutants/mutant.ts'
import { mutants } from '../mutants/mutants.ts'

const ROOT = join(import.meta.dirname, '../..')

it('each mutant changes one place of the sources as they are', () => {
  const misfits = mutants.flatMap((mutant) => {
    try {
      const text = readFileSync(join(ROOT, mutant.file), 'utf8')
      return applyMutant(mutant, text) === text ? [`${mutant.id}: changes nothing.`] : []
    } catch (error) {
      return [(error as Error).message]
    }
  })
  expect(misfits).toEqual([])
})

it('each mutant has a name of its own and tests that exist', () => {
  const ids = mutants.map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  const missing = mutants.flatMap(({ id, tests }) =>
    tests.filter((test) => !existsSync(join(ROOT, 'test', test))).map((test) => `${id}: ${test}`),
  )
  expect(missing).toEqual([])
})
