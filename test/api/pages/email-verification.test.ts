import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/http-client.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { createMailedApp } from './mailbox.ts'

const app = await createMailedApp({ env: { EMAIL_VERIFICATION: 'on' } })
const user = await app.newUser()
const path = await app.newLink(user, 'email-verification')

const titleOf = ({ text }: Answer) => /<title>(.*)<\/title>/.exec(text)?.[1]
const confirm = (to: string, headers = {}) => app.rest('POST', to, { urlencoded: {}, headers })
const isVerified = async (person: SignedIn): Promise<boolean> =>
  (await person.rest('GET', 'auth/users/me/')).body.email_verified

describe('page of a valid verification link', () => {
  it('the e-mail verification page has one button, and opening the page changes nothing', async () => {
    for (const method of ['GET', 'HEAD', 'GET']) expect((await app.rest(method, path)).status).toBe(200)
    const page = await app.rest('GET', path)
    expect(titleOf(page)).toBe('Confirm your e-mail address')
    expect(page.text).toContain(
      `Confirm that ${user.email} is your address, and that the account ${user.username} is yours.`,
    )
    expect(page.text.match(/<button/g)).toHaveLength(1)
    expect(page.text).toContain('<form method="post">')
    expect(page.text).not.toContain(path.split('/').at(-1)!)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(await isVerified(user)).toBe(false)
  })

  it('the button of the verification page verifies the address once', async () => {
    const page = await confirm(path)
    expect(page.status, page.text).toBe(200)
    expect(titleOf(page)).toBe('Your e-mail address is confirmed')
    expect(await isVerified(user)).toBe(true)
    for (const again of [await app.rest('GET', path), await confirm(path)]) {
      expect(again.status).toBe(410)
      expect(again.text).toContain('If you have already confirmed this address, you do not have to do anything.')
    }
  })
})

it.each([
  ['/account/email-verification/user_01h455vb4pex5vsknk084sn02q/wrong'],
  ['/account/email-verification/%3Cscript%3E/%22%3E%3Cimg%3E'],
])('an invalid verification link shows an error page with the next step: %s', async (bad) => {
  for (const page of [await app.rest('GET', bad), await confirm(bad)]) {
    expect(page.status, page.text).toBe(410)
    expect(page.text).toContain('request a new mail on the sign-in page')
    expect(page.text).not.toMatch(/<script|<img|<form/)
  }
})

it('the log contains no token of a verification link', () => {
  expect(JSON.stringify(app.log.lines)).not.toContain(path.split('/').at(-1)!)
})
