import { expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const MAX_ANSWER = 10_000_000

const app = await createTestApp()
const user = await app.newUser()
for (let i = 0; i < 6; i++) await user.register({ public_access: 'true' })
// Longer than they may be now, as if they were from another time.
await app.sql(`update assets set meta = to_jsonb(repeat('"', 1500000))::text`)

it('a page of large assets ends early, and links tell where the next one begins', async () => {
  const seen: string[] = []
  const sizes: number[] = []
  for (let path: string | undefined = '/api/v3/assets/?limit=4'; path; ) {
    const answer = await user.rest('GET', path)
    const { count, next, results } = expectOk(answer)
    expect(answer.text.length).toBeLessThan(MAX_ANSWER)
    expect(count).toBe(6)
    seen.push(...results.map(({ id }: { id: string }) => id))
    sizes.push(results.length)
    path = next?.slice(app.url.length)
  }
  expect(sizes.every((size) => size > 0 && size < 4)).toBe(true)
  expect(seen).toHaveLength(6)
  expect(new Set(seen).size).toBe(6)
})

it('a text that is kept as it was sent has a size at most', async () => {
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))
  expectError(await user.rest('POST', 'assets/', { json: { meta: text(65_537) } }), 'VALIDATION_FAILED')
  const { id } = await user.register({ meta: text(65_536) })
  for (const field of ['signature', 'signed_metadata']) {
    const refused = await user.rest('PATCH', `assets/${id}/`, { json: { [field]: text(32_769) } })
    expect(expectError(refused, 'VALIDATION_FAILED').body.error.details).toEqual({
      [field]: ['Ensure this field has no more than 32 KB.'],
    })
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { [field]: text(32_768) } }))
  }
})

it('strangers come so far by position, owners to the end', async () => {
  const refused = expectError(await app.rest('GET', 'assets/?offset=10001'), 'VALIDATION_FAILED')
  expect(refused.body.error.details.offset[0]).toMatch(/10000 or less/)
  expectError(await user.rest('GET', `assets/?owner=${user.email.replace('u', 'v')}&offset=10001`), 'VALIDATION_FAILED')
  expectOk(await app.rest('GET', 'assets/?offset=10000'))
  expectOk(await user.rest('GET', 'assets/?offset=99000'))
  expectOk(await user.rest('GET', `assets/?owner=${user.email}&offset=99000`))
  expectError(await app.graphql('{ assets(offset: 10001) { nodes { id } } }'), 'VALIDATION_FAILED')
})
