import { beforeAll, describe, expect, it } from 'vitest'
import { type AccountMails, createAccountMails } from '../support/account-mails.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import type { TestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

let mails: AccountMails
let app: TestApp
beforeAll(async () => {
  mails = await createAccountMails({ LIMIT_RESETS_PER_IP: '12' })
  app = mails.app
})

const NEW_PASSWORD = 'staple battery horse'
const requestReset = `mutation ($input: RequestPasswordResetInput!) { requestPasswordReset(input: $input) { email } }`
const reset = `mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { user { id email } } }`
const change = `mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { user { id email } } }`
const changeEmail = `mutation ($input: ChangeEmailInput!) { changeEmail(input: $input) { user { email emailVerified } } }`
const changeUsername = `mutation ($input: ChangeUsernameInput!) { changeUsername(input: $input) { user { username } } }`
const requestVerification = `mutation ($input: RequestEmailVerificationInput!) {
  requestEmailVerification(input: $input) { email }
}`
const verify = `mutation ($input: VerifyEmailInput!) { verifyEmail(input: $input) { user { id emailVerified } } }`

const signIn = (email: string, password: string) =>
  app.graphql(`mutation ($input: SignInInput!) { signIn(input: $input) { token } }`, { input: { email, password } })

describe('a lost password', () => {
  it('is replaced by the mailed link, which works once', async () => {
    const user = await app.newUser()
    const asked = expectOk(await app.graphql(requestReset, { input: { email: user.email } }))
    expect(asked.requestPasswordReset.email).toBe(user.email)
    const input = { ...(await mails.awaitLink(user.email, 'password-reset')), newPassword: NEW_PASSWORD }
    const done = expectOk(await app.graphql(reset, { input }))
    // Who has the link is not signed in: what is private stays so.
    expect(done.resetPassword.user).toEqual({ id: user.publicId, email: null })
    expectOk(await signIn(user.email, NEW_PASSWORD))
    expectError(await signIn(user.email, PASSWORD), 'INCORRECT_LOGIN_CREDENTIALS')
    expectError(await user.graphql('{ me { id } }'), 'AUTHENTICATION_FAILED')
    expectError(await app.graphql(reset, { input }), 'INVALID_TOKEN')
    await mails.awaitMails(user.email, 'password-changed')
  })

  it('is asked for with the same answer by whom nobody knows', async () => {
    const email = 'nobody@example.org'
    expect(expectOk(await app.graphql(requestReset, { input: { email } }))).toEqual({ requestPasswordReset: { email } })
    const bad = expectError(await app.graphql(requestReset, { input: { email: 'nobody' } }), 'VALIDATION_FAILED')
    expect(Object.keys(bad.body.errors[0].extensions.details)).toEqual(['email'])
  })
})

describe('an account’s own changes', () => {
  it('of the password keep the session, and of address and name are shown as they are now', async () => {
    const user = await app.newUser()
    const changed = expectOk(
      await user.graphql(change, { input: { currentPassword: PASSWORD, newPassword: NEW_PASSWORD } }),
    )
    expect(changed.changePassword.user).toEqual({ id: user.publicId, email: user.email })
    const currentPassword = NEW_PASSWORD
    const newEmail = `new-${user.email}`
    const moved = expectOk(await user.graphql(changeEmail, { input: { currentPassword, newEmail } }))
    expect(moved.changeEmail.user).toEqual({ email: newEmail, emailVerified: false })
    await mails.awaitMails(user.email, 'email-changed')
    const newUsername = user.username.toUpperCase()
    const named = expectOk(await user.graphql(changeUsername, { input: { currentPassword, newUsername } }))
    expect(named.changeUsername.user).toEqual({ username: newUsername })
    const verified = expectOk(
      await user.graphql(verify, { input: await mails.awaitLink(newEmail, 'email-verification') }),
    )
    expect(verified.verifyEmail.user).toEqual({ id: user.publicId, emailVerified: true })
  })

  it.each([
    ['changePassword', change, { newPassword: NEW_PASSWORD }],
    ['changeEmail', changeEmail, { newEmail: 'other@example.org' }],
    ['changeUsername', changeUsername, { newUsername: 'other' }],
  ])('by %s need the password', async (_, document, fields) => {
    const user = await app.newUser()
    const input = { currentPassword: 'not the password', ...fields }
    const { body } = expectError(await user.graphql(document, { input }), 'VALIDATION_FAILED')
    expect(body.errors[0].extensions.details).toEqual({ currentPassword: ['Invalid password.'] })
    expectError(await app.graphql(document, { input }), 'NOT_AUTHENTICATED')
  })

  it('have the address verified when they ask for it', async () => {
    const user = await app.newUser()
    const asked = expectOk(await user.graphql(requestVerification, { input: {} }))
    expect(asked.requestEmailVerification.email).toBe(user.email)
    await mails.awaitLink(user.email, 'email-verification')
    expectError(await app.graphql(requestVerification, { input: {} }), 'NOT_AUTHENTICATED')
  })
})

it('resets from one address over the limit are refused, by both doors from one bucket', async () => {
  const ask = async (i: number) => {
    const email = `many-${i}@example.org`
    return i % 2
      ? app.graphql(requestReset, { input: { email } })
      : app.rest('POST', 'auth/users/reset_password/', { json: { email } })
  }
  const answers = []
  for (let i = 0; i < 14; i++) answers.push(await ask(i))
  expectError(answers.at(-1)!, 'THROTTLED')
  expectError(answers.at(-2)!, 'THROTTLED')
  expectOk(answers[0]!)
})
