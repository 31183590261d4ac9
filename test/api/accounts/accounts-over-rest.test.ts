import { describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()

describe('REST auth/users/me/', () => {
  it('REST auth/users/me/ returns exactly the documented fields, and each balance in two places', async () => {
    const user = await app.newUser({ num: '5' })
    await user.register()
    const { results, ...record } = expectOk(await user.rest('GET', 'auth/users/me/?show_num_balance=true'))
    expect(results).toEqual([record])
    expect(record).toEqual({
      id: user.publicId,
      username: user.username,
      email: user.email,
      address: user.address,
      language: 'en-us',
      email_verified: false,
      pending_email: null,
      phone_verified: false,
      asset_count: 1,
      referral_code: '',
      default_tag: '',
      allow_c2pa_download: true,
      profile: {
        display_name: user.username,
        description: '',
        phone_number: '',
        profile_picture: null,
        profile_picture_thumbnail: null,
        profile_background: null,
        profile_background_thumbnail: null,
      },
      user_wallet: {
        asset_wallet: user.address,
        asset_wallet_num: '5.0',
        integrity_wallet: user.address,
        integrity_wallet_num: null,
        points: '11.821',
        num_wallet_name: '',
        billed_num: '0',
      },
      asset_wallet_num: '5.0',
      points: '11.821',
    })
    expect(record.address).toMatch(/^0x[0-9a-fA-F]{40}$/)
  })

  it('sign-up and sign-in accept the device object of the phone app', async () => {
    const device = { fcm_token: 'token', platform: 'ios', device_identifier: 'id' }
    const json = { username: 'phone', email: 'phone@example.org', password: 'correct horse battery', device }
    expect((await app.rest('POST', '/auth/users/', { json })).status).toBe(201)
    expectOk(await app.rest('POST', '/auth/token/login/', { json }))
  })
})
