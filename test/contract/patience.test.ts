/** How long a test may take is said once, in `vitest.config.ts`, for the slowest machine: what is right there is right everywhere. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** A file, a suite or a test with a time of its own. */
const ownTime = /\b(testTimeout|hookTimeout)\b|^\s*(it|test|describe)\b.*\{\s*timeout:/m

it('no test file sets a time limit of its own', () => {
  const files = globSync('**/*.{test,processes}.ts', { cwd: root }).filter(
    (file) => file !== join('contract', 'patience.test.ts'),
  )
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => ownTime.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
