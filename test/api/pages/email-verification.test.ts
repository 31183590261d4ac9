import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/http-client.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { createMailedApp, type MailedApp } from './mailbox.ts'

let app: MailedApp
let user: SignedIn
let path: string

beforeAll(async () => {
  app = await createMailedApp({ env: { EMAIL_VERIFICATION: 'on' } })
  user = await app.newUser()
  path = await app.newLink(user, 'email-verification')
})

const titleOf = ({ text }: Answer) => /<title>(.*)<\/title>/.exec(text)?.[1]
const confirm = (to: string, headers = {}) => app.rest('POST', to, { urlencoded: {}, headers })
const isVerified = async (person: SignedIn): Promise<boolean> =>
  (await person.rest('GET', 'auth/users/me/')).body.email_verified

describe('the page of a good link', () => {
  it('has one button, and changes nothing by being opened', async () => {
    for (const method of ['GET', 'HEAD', 'GET']) expect((await app.rest(method, path)).status).toBe(200)
    const page = await app.rest('GET', path)
    expect(titleOf(page)).toBe('Confirm your e-mail address')
    expect(page.text).toContain(`Confirm that ${user.email} is your address, and the account ${user.username} yours.`)
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

  it('confirms the address by its button, once', async () => {
    const page = await confirm(path)
    expect(page.status, page.text).toBe(200)
    expect(titleOf(page)).toBe('Your e-mail address is confirmed')
    expect(await isVerified(user)).toBe(true)
    for (const again of [await app.rest('GET', path), await confirm(path)]) {
      expect(again.status).toBe(410)
      expect(again.text).toContain('If you have confirmed this address before, there is nothing to do.')
    }
  })

  it('says so of a form that is sent twice, as by a double click, and of no other', async () => {
    const person = await app.newUser()
    const link = await app.newLink(person, 'email-verification')
    const key = /name="key" value="([\w-]{36})"/.exec((await app.rest('GET', link)).text)![1]!
    const press = (urlencoded: Record<string, string>) => app.rest('POST', link, { urlencoded })
    const pages = [...(await Promise.all([press({ key }), press({ key })])), await press({ key })]
    expect(pages.map(titleOf)).toEqual(Array(3).fill('Your e-mail address is confirmed'))
    expect((await press({ key: 'another' })).status).toBe(410)
    expect((await app.rest('GET', link)).status).toBe(410)
  })

  it('speaks the language the browser asks for', async () => {
    expect(titleOf(await confirm(path, { 'Accept-Language': 'zh-TW' }))).toBe('這個連結已失效')
  })
})

describe('a link that is not good', () => {
  it.each([
    ['/account/email-verification/user_01h455vb4pex5vsknk084sn02q/wrong'],
    ['/account/email-verification/%3Cscript%3E/%22%3E%3Cimg%3E'],
  ])('is told with what to do next: %s', async (bad) => {
    for (const page of [await app.rest('GET', bad), await confirm(bad)]) {
      expect(page.status, page.text).toBe(410)
      expect(page.text).toContain('ask for a new mail where you sign in')
      expect(page.text).not.toMatch(/<script|<img|<form/)
    }
  })

  it('is one that lost its password', async () => {
    const other = await app.newUser()
    const reset = await app.newLink(other, 'password-reset')
    expect((await confirm(reset.replace('password-reset', 'email-verification'))).status).toBe(410)
    expect(await isVerified(other)).toBe(false)
  })
})

it('no token stands in the log', () => {
  expect(JSON.stringify(app.log.lines)).not.toContain(path.split('/').at(-1)!)
})
