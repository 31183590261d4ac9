/** What the phone app, the widget and old scripts ask for before they do anything else. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const emptyPage = { count: 0, next: null, previous: null, results: [] }

describe.each(['', '/api/v3'])('a device at %s/auth/devices/', (prefix) => {
  it.each(['/', ''])('is answered with what was sent (ending in "%s")', async (end) => {
    const json = { fcm_token: 'x'.repeat(4_000), platform: 'android', device_identifier: 'd1', more: { a: [1] } }
    const answer = await user.rest('POST', `${prefix}/auth/devices${end}`, { json })
    expect([answer.status, answer.body]).toEqual([201, json])
  })

  it('needs a token, and is bounded', async () => {
    expectError(await app.rest('POST', `${prefix}/auth/devices/`, { json: {} }), 'NOT_AUTHENTICATED')
    const json = { fcm_token: 'x'.repeat(10_001) }
    expectError(await user.rest('POST', `${prefix}/auth/devices/`, { json }), 'VALIDATION_FAILED')
  })
})

it.each(['app-info', 'services/app-info/'])('%s never asks an app to update itself', async (path) => {
  const answer = await app.rest('GET', path, { headers: { 'x-api-key': 'nonsense' } })
  expect(expectOk(answer)).toEqual({ latest_app_version: '0.0.0', update_urgency: 'low' })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
})

describe('a list that Annal does not have', () => {
  const own = ['contacts', 'inbox', 'transactions', '/api/v2/transactions']
  const open = ['series', 'products', 'store/products']

  it.each([...own, ...open])('%s is empty for who is signed in, with or without its slash', async (path) => {
    for (const end of ['', '/', '/?limit=0&offset=3']) {
      const answer = await user.rest('GET', path + end)
      expect(expectOk(answer)).toEqual(emptyPage)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  it.each(open)('%s is empty for anybody', async (path) => {
    expect(expectOk(await app.rest('GET', path))).toEqual(emptyPage)
  })

  it.each(own)('%s needs a token', async (path) => {
    expectError(await app.rest('GET', path), 'NOT_AUTHENTICATED')
  })
})

describe('the download of an asset', () => {
  it('is answered with where its bytes are', async () => {
    const { id } = await user.register()
    const { url } = expectOk(await user.rest('POST', `assets/${id}/download/`, { multipart: { field: 'asset_file' } }))
    const bytes = await fetch(url)
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(expectOk(await user.rest('POST', `assets/${id}/download`)).url).toContain(id)
  })

  it('of an asset that one may not see is not found', async () => {
    const { id } = await user.register()
    expectError(await app.rest('POST', `assets/${id}/download/`), 'NOT_FOUND')
  })
})

it('nothing takes a wallet’s private key', async () => {
  const multipart = { private_key: `0x${'1'.repeat(64)}` }
  for (const path of ['wallets/asset-wallet/', 'wallets/num-wallet/']) {
    expectError(await user.rest('POST', path, { multipart }), 'NOT_FOUND')
  }
})
