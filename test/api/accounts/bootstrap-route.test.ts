/** The first requests of the phone app, the widget and old scripts. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

describe.each(['', '/api/v3'])('REST %s/auth/devices/', (prefix) => {
  it.each(['/', ''])('device registration returns 201 with the request body (path ends in "%s")', async (end) => {
    const json = { fcm_token: 'x'.repeat(4_000), platform: 'android', device_identifier: 'd1', more: { a: [1] } }
    const answer = await user.rest('POST', `${prefix}/auth/devices${end}`, { json })
    expect([answer.status, answer.body]).toEqual([201, json])
  })

  it('device registration requires an access token, and rejects an FCM token over 10,000 characters', async () => {
    expectError(await app.rest('POST', `${prefix}/auth/devices/`, { json: {} }), 'NOT_AUTHENTICATED')
    const json = { fcm_token: 'x'.repeat(10_001) }
    expectError(await user.rest('POST', `${prefix}/auth/devices/`, { json }), 'VALIDATION_FAILED')
  })
})

it.each(['app-info', 'services/app-info/'])('REST %s never asks a phone app to update itself', async (path) => {
  const answer = await app.rest('GET', path, { headers: { 'x-api-key': 'nonsense' } })
  expect(expectOk(answer)).toEqual({ latest_app_version: '0.0.0', update_urgency: 'low' })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})

describe('download endpoint', () => {
  it('the REST download endpoint returns the download URL of the file', async () => {
    const { id } = await user.register()
    const { url } = expectOk(await user.rest('POST', `assets/${id}/download/`, { multipart: { field: 'asset_file' } }))
    const bytes = await fetch(url)
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(expectOk(await user.rest('POST', `assets/${id}/download`)).url).toContain(id)
  })

  it('the REST download endpoint returns 404 for an asset that the caller cannot see', async () => {
    expectError(await app.rest('POST', `assets/${(await user.register()).id}/download/`), 'NOT_FOUND')
  })
})

describe('endpoint for Content Credentials', () => {
  const small = { width: 40, height: 30 }

  it('POST assets/{nid}/c2pa/ returns the URL and CID of the file with Content Credentials', async () => {
    const { id } = await user.register({ asset_file: await newPicture(small), public_access: 'true' })
    const { url, cid, ...rest } = expectOk(await app.rest('POST', `assets/${id}/c2pa/`))
    expect([url, rest]).toEqual([`${app.url}/ipfs/${cid}`, {}])
    const file = await fetch(url)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    const bytes = Buffer.from(await file.arrayBuffer())
    expect(bytes.equals((await user.rest('GET', `assets/${id}/c2pa/`)).bytes)).toBe(true)
    expect(expectOk(await user.rest('POST', `assets/${id}/c2pa`, { json: {} }))).toEqual({ url, cid })
  })

  it('POST assets/{nid}/c2pa/ returns a URL that works without a token for a private file', async () => {
    const owner = await app.newUser()
    const hidden = await owner.register({ asset_file: await newPicture(small) })
    const first = expectOk(await owner.rest('POST', `assets/${hidden.id}/c2pa/`, { multipart: {} }))
    expect([(await fetch(first.url)).status, (await fetch(`${app.url}/ipfs/${first.cid}`)).status]).toEqual([200, 404])
    for (const stranger of [app, user])
      expectError(await stranger.rest('POST', `assets/${hidden.id}/c2pa/`), 'NOT_FOUND')
    const shown = await owner.register({ asset_file: await newPicture(small), public_access: 'true' })
    expectOk(await owner.rest('PATCH', 'auth/users/me/', { json: { allow_c2pa_download: false } }))
    const second = expectOk(await owner.rest('POST', `assets/${shown.id}/c2pa/`))
    expect([(await fetch(second.url)).status, (await fetch(`${app.url}/ipfs/${second.cid}`)).status]).toEqual([
      200, 404,
    ])
    expectError(await user.rest('POST', `assets/${shown.id}/c2pa/`), 'NOT_FOUND')
  })

  it('POST assets/{nid}/c2pa/ rejects a file type that does not support Content Credentials', async () => {
    const { id } = await user.register()
    expectError(await user.rest('POST', `assets/${id}/c2pa/`), 'VALIDATION_FAILED')
  })
})

describe.each(['wallets/num-wallet/', 'wallets/asset-wallet/'])('REST %s', (path) => {
  it('the wallet endpoint returns the address and the balance of the caller', async () => {
    const rich = await app.newUser({ num: '2.50' })
    const wallet = { address: rich.address, num_balance: { num: '2.5', eth_num: '0' } }
    expect(expectOk(await rich.rest('GET', path))).toEqual(wallet)
    expect(expectOk(await rich.rest('GET', path.slice(0, -1)))).toEqual(wallet)
    const poor = await app.newUser({ num: '0' })
    expect(expectOk(await poor.rest('GET', path)).num_balance).toEqual({ num: '0.0', eth_num: '0' })
  })

  it('the wallet endpoint returns 401 to anonymous callers', async () => {
    expectError(await app.rest('GET', path), 'NOT_AUTHENTICATED')
  })

  it('the wallet endpoint rejects an import of a private key with 405', async () => {
    const multipart = { private_key: `0x${'1'.repeat(64)}` }
    expectError(await user.rest('POST', path, { multipart }), 'METHOD_NOT_ALLOWED')
  })
})
