import { expect, it } from 'vitest'
import { createFields, lenientFields } from '../../../src/http/rest/read-body.ts'

const sent = { mode: 'FIXED', other: 'rubbish', text: 'a', price: 'x', flag: 'perhaps', object: '[]', list: '{' }
const modes = { fixed: 1, free: 2 }

it('reads the valid fields of a dry run and collects errors for the others', () => {
  const unread = {}
  const fields = lenientFields(createFields(sent), unread)
  expect(fields.choice('mode', modes)).toBe(1)
  expect(fields.choice('other', modes)).toBeUndefined()
  expect(fields.choice('missing', modes)).toBeUndefined()
  expect([fields.text('text'), fields.textOrNull('text')]).toEqual(['a', 'a'])
  expect([fields.amount('price'), fields.flag('flag'), fields.object('object')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(unread).toEqual({
    other: ['Expected one of: fixed, free.'],
    price: [expect.any(String)],
    flag: [expect.any(String)],
    object: [expect.any(String)],
  })
})
