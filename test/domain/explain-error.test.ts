import { expect, it } from 'vitest'
import { unavailable } from '../../src/domain/errors.ts'
import { explainError } from '../../src/domain/explain-error.ts'

it('an outage is explained by what was behind it, anything else by its own sentence', () => {
  const outage = unavailable('The chain', new Error('node:8545 did not answer'))
  expect(explainError(outage)).toBe(`${outage.message} (node:8545 did not answer)`)
  expect(explainError(new Error('outer', { cause: new Error('inner') }))).toBe('outer')
  expect(explainError('text')).toBe('text')
})
