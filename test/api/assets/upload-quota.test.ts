import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Actor } from '../../../src/shared/policy.ts'
import { eventually, poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formType, partHead } from '../../support/form-parts.ts'
import { openRequest } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { LIMITS: 'upload-megabytes=1' } })
const [user, other] = [await app.newUser(), await app.newUser()]
const assets = `${app.url}/api/v3/assets/`
const registerAsset = 'mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id } } }'
const fileOf = (bytes: number) => new File([randomBytes(bytes)], 'a.png', { type: 'image/png' })

function hasRoom(bytes: number): boolean {
  try {
    app.context.uploads.assertRoom({ kind: 'user', id: user.id } as Actor, bytes)
    return true
  } catch {
    return false
  }
}

it('concurrent uploads of one account share a byte limit over both APIs, without affecting other accounts', async () => {
  const begun = openRequest(assets, { token: user.token, headers: { 'Content-Type': formType } })
  begun.write(partHead('asset_file', 'a.png'))
  begun.write(randomBytes(800_000))
  await poll(() => hasRoom(300_000)).until((room) => !room)
  const another = () => user.rest('POST', 'assets/', { multipart: { asset_file: fileOf(300_000) } })
  expect(expectError(await another(), 'THROTTLED').headers.get('retry-after')).toBe('10')
  const input = () => ({ assetFile: fileOf(300_000) })
  expectError(await user.graphql(registerAsset, { input: input() }), 'THROTTLED')
  expectOk(await other.graphql(registerAsset, { input: input() }))
  begun.abort()
  await eventually(another, ({ status }) => status === 201)
})

it('rejects an upload whose Content-Length exceeds the limit before reading the body', async () => {
  const headers = { 'Content-Type': formType, 'Content-Length': '1000001' }
  const request = openRequest(assets, { token: user.token, headers })
  expectError(await request.answer, 'THROTTLED')
  request.abort()
})

it('a completed registration no longer counts towards the upload limit', async () => {
  for (let i = 0; i < 4; i++) {
    expectOk(await user.rest('POST', 'assets/', { multipart: { asset_file: fileOf(600_000) } }))
  }
})

it('rejects a file over the maximum size with 413 before reading the body', async () => {
  const roomy = await createTestApp({ env: { LIMITS: 'upload-megabytes=1000' } })
  const { token } = await roomy.newUser()
  const headers = { 'Content-Type': formType, 'Content-Length': '1073741824' }
  const request = openRequest(`${roomy.url}/api/v3/assets/`, { token, headers })
  request.write(partHead('asset_file', 'a.png'))
  expectError(await request.answer, 'PAYLOAD_TOO_LARGE')
  request.abort()
})
