/** JSON texts are returned exactly as submitted, so that hashes and large numbers stay correct. */
import { expect, it } from 'vitest'
import { createTestApp, newFile, registerWith } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })

const meta =
  '{ "t": 1683286764123456789, "one": 1.0, "b": 1e400, "2": -0, "a": "\\u0000kept JSON: [\\"\\\\n\\"", "a": {} }'
const signature = '[ {"at": 0.10000000000000000001}, "\\u0041" ]'

it('returns the signed metadata and signatures of an asset unchanged in all responses', async () => {
  const fields = { asset_file: newFile(), meta, signature, signed_metadata: meta }
  const send = () => user.rest('POST', 'assets/', { multipart: fields, key: 'kept' })
  const first = await send()
  expect(first.status).toBe(201)
  expect(first.text).toContain(`"information":${meta},"parsed_meta":${meta},"signature":${signature},`)
  expect(first.body.signed_metadata).toBe(meta)
  const again = await send()
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.text).toBe(first.text)
  const { text } = await user.rest('GET', 'assets/')
  expect(text).toContain(`"information":${meta},"parsed_meta":${meta},"signature":${signature},`)
})

it('returns the signatures of an updated asset unchanged', async () => {
  const { body } = await registerWith(user.rest, {})
  const { text } = await user.rest('PATCH', `assets/${body.id}/`, { urlencoded: { signature } })
  expect(text).toContain(`"signature":${signature},`)
})

it('returns text that resembles the stored form of JSON as text', async () => {
  const caption = '\\u0000kept JSON: [1]'
  expect((await registerWith(user.rest, { caption })).body.caption).toBe(caption)
})
