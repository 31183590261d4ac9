import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { description } from '../support/described.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

/** Whether the description has it that a header may say this. */
function isDescribed(parameter: string, value: string): boolean {
  const { schema } = description.components.parameters![parameter] as { schema: object }
  return new Ajv2020().compile(schema)(value)
}

describe('what a header may say is described as it is judged', () => {
  it.each([
    ['0-0', true],
    ['1-16B374D848', true],
    ['999999999-FFFFFFFFFFFFFFFF', true],
    ['', false],
    ['0', false],
    ['-1-0', false],
    ['1-16b374d848', false],
    ['1-0-0', false],
    ['1000000000-0', false],
    ['1-10000000000000000', false],
  ])('Annal-Read-After of "%s"', async (value, isTaken) => {
    const { status } = await app.rest('GET', 'auth/users/me/', { actor: user, headers: { 'Annal-Read-After': value } })
    expect([status, isDescribed('ReadAfter', value)]).toEqual([isTaken ? 200 : 400, isTaken])
  })

  it.each([
    [1, true],
    [255, true],
    [0, false],
    [256, false],
  ])('Idempotency-Key of %i characters', async (length, isTaken) => {
    const value = 'k'.repeat(length)
    const json = { display_name: 'Ada' }
    const headers = { 'Idempotency-Key': value }
    const { status } = await app.rest('PATCH', 'auth/users/profile/', { actor: user, json, headers })
    expect([status, isDescribed('IdempotencyKey', value)]).toEqual([isTaken ? 200 : 400, isTaken])
  })
})
