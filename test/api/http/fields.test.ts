import { expect, it } from 'vitest'
import { createFields } from '../../../src/http/rest/fields.ts'
import { DomainError } from '../../../src/shared/errors.ts'

function outcomeOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof DomainError) return error.code
    throw error
  }
}

const noFlags: unknown[] = [[true], [1], {}, { toString: 1, valueOf: {} }, { value: true }, 2, 'perhaps']

it.each(noFlags.map((field) => ({ field })))('rejects $field as a boolean field', ({ field }) => {
  expect(outcomeOf(() => createFields({ field }).flag('field'))).toBe('VALIDATION_FAILED')
})

const flags = [
  { flag: true, fields: [true, 'true', 'True', 1, '1', 'on', 'yes'] },
  { flag: false, fields: [false, 'false', 'NO', 0, '0', 'off'] },
  { flag: undefined, fields: ['', null, undefined] },
].flatMap(({ flag, fields }) => fields.map((field) => ({ field, flag })))

it.each(flags)('converts the field value $field to the boolean $flag', ({ field, flag }) => {
  expect(createFields({ field }).flag('field')).toBe(flag)
})

it.each([
  [1e-7, '0.0000001'],
  [1.5e-10, '0.00000000015'],
  [123456.75, '123456.75'],
  [0, '0'],
])('converts the number %d to the amount %s', (field, amount) => {
  expect(createFields({ field }).amount('field')).toBe(amount)
})

it('rejects numbers that are negative, too large or too precise as amounts', () => {
  for (const field of [-1e-7, 1e-19, 1e21]) {
    expect(outcomeOf(() => createFields({ field }).amount('field'))).toBe('VALIDATION_FAILED')
  }
})
