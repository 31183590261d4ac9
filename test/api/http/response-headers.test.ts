import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { description } from '../../support/described.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

/** Returns true if the OpenAPI document allows this header value. */
function isDescribed(parameter: string, value: string): boolean {
  const { schema } = description.components.parameters![parameter] as { schema: object }
  return new Ajv2020().compile(schema)(value)
}

describe('the OpenAPI schema of a request header', () => {
  it.each([
    [1, true],
    [255, true],
    [0, false],
    [256, false],
  ])('agrees with the validation of an Idempotency-Key of %i characters', async (length, isTaken) => {
    const value = 'k'.repeat(length)
    const json = { display_name: 'Ada' }
    const headers = { 'Idempotency-Key': value }
    const { status } = await app.rest('PATCH', 'auth/users/profile/', { actor: user, json, headers })
    expect([status, isDescribed('IdempotencyKey', value)]).toEqual([isTaken ? 200 : 400, isTaken])
  })
})
