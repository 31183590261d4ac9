import { z } from 'zod'
import { defineCommand, defineRoute, endpoint } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { givenEmail, neededText, newPassword, presentPassword, same } from '../../http/rest/values.ts'
import { assertMayRequestMail } from './mailed-links.ts'

const changeEmail = defineCommand({
  ...endpoint('POST', 'auth/users/set_email', 'changeEmail', 'Account', 'Change one’s e-mail address'),
  description: 'A verified address stays in use until the new one is verified.',
  errors: ['DUPLICATE_EMAIL'],
  body: z
    .object({
      current_password: same('ChangeEmailInput.currentPassword', presentPassword),
      new_email: same('ChangeEmailInput.newEmail', givenEmail),
    })
    .meta({ id: 'ChangeEmail', description: 'The password and the new address.' }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeEmail($input: ChangeEmailInput!) {
      changeEmail(input: $input) { user { id } }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newEmail: body.exactText('new_email') ?? '' },
  }),
})

const changeUsername = defineCommand({
  ...endpoint('POST', 'auth/users/set_username', 'changeUsername', 'Account', 'Change one’s username'),
  errors: ['DUPLICATE_USERNAME'],
  body: z
    .object({
      current_password: same('ChangeUsernameInput.currentPassword', presentPassword),
      new_username: same('ChangeUsernameInput.newUsername', neededText(21)),
    })
    .meta({ id: 'ChangeUsername', description: 'The password and the new username.' }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeUsername($input: ChangeUsernameInput!) {
      changeUsername(input: $input) { user { id } }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newUsername: body.text('new_username') ?? '' },
  }),
})

const verifyEmail = defineCommand({
  ...endpoint(
    'POST',
    'auth/users/activation',
    'verifyEmail',
    'Account',
    'Verify an e-mail address with the link of a mail',
  ),
  errors: ['DUPLICATE_EMAIL', 'INVALID_TOKEN'],
  body: z
    .object({ uid: same('VerifyEmailInput.uid', neededText()), token: same('VerifyEmailInput.token', neededText()) })
    .meta({ id: 'VerifyEmail', description: 'The values of the mailed link.' }),
  action: 'email:verify',
  operation: graphql(/* GraphQL */ `
    mutation RestVerifyEmail($input: VerifyEmailInput!) {
      verifyEmail(input: $input) { user { id } }
    }
  `),
  variables: ({ body }) => ({ input: { uid: body.text('uid') ?? '', token: body.text('token') ?? '' } }),
})

const requestVerification = defineCommand({
  ...endpoint(
    'POST',
    'auth/users/resend_activation',
    'requestEmailVerification',
    'Account',
    'Ask for another link to verify an e-mail address',
  ),
  description: 'For a signed-in caller: the address of the account. Otherwise the address in the body.',
  errors: ['NOT_AUTHENTICATED'],
  body: z
    .object({ email: same('RequestEmailVerificationInput.email', givenEmail).optional() })
    .meta({ id: 'RequestEmailVerification', description: 'The e-mail address.' }),
  action: 'email:verify',
  admit: (context) => assertMayRequestMail(context, 'email-verification'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {
      requestEmailVerification(input: $input) { email }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.exactText('email') } }),
})

const requestPasswordReset = defineRoute({
  ...endpoint(
    'POST',
    'auth/users/reset_password',
    'requestPasswordReset',
    'Account',
    'Ask for a link to set another password',
  ),
  description: 'The answer is the same whether or not an account has the address.',
  body: z
    .object({ email: same('RequestPasswordResetInput.email', givenEmail) })
    .meta({ id: 'RequestPasswordReset', description: 'The account with the lost password.' }),
  action: 'password:reset',
  admit: (context) => assertMayRequestMail(context, 'password-reset'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {
      requestPasswordReset(input: $input) { email }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.exactText('email') ?? '' } }),
  status: 201,
  answer: z.object({}).meta({ id: 'Accepted', description: 'The call is accepted. The response has no body.' }),
  present: () => ({}),
})

const resetPassword = defineCommand({
  ...endpoint(
    'POST',
    'auth/users/reset_password_confirm',
    'resetPassword',
    'Account',
    'Set another password with the link of a mail',
  ),
  description: 'Ends every session of the account.',
  errors: ['INVALID_TOKEN'],
  body: z
    .object({
      uid: same('ResetPasswordInput.uid', neededText()),
      token: same('ResetPasswordInput.token', neededText()),
      new_password: same('ResetPasswordInput.newPassword', newPassword),
    })
    .meta({ id: 'ResetPassword', description: 'The values of the mailed link, and the new password.' }),
  action: 'password:reset',
  operation: graphql(/* GraphQL */ `
    mutation RestResetPassword($input: ResetPasswordInput!) {
      resetPassword(input: $input) { user { id } }
    }
  `),
  variables: ({ body }) => {
    const link = { uid: body.text('uid') ?? '', token: body.text('token') ?? '' }
    return { input: { ...link, newPassword: body.exactText('new_password') ?? '' } }
  },
})

const changePassword = defineCommand({
  ...endpoint('POST', 'auth/users/set_password', 'changePassword', 'Account', 'Change one’s password'),
  body: z
    .object({
      current_password: same('ChangePasswordInput.currentPassword', presentPassword),
      new_password: same('ChangePasswordInput.newPassword', newPassword),
    })
    .meta({ id: 'ChangePassword', description: 'The present password and the new one.' }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangePassword($input: ChangePasswordInput!) {
      changePassword(input: $input) { user { id } }
    }
  `),
  variables: ({ body }) => {
    const currentPassword = body.exactText('current_password') ?? ''
    return { input: { currentPassword, newPassword: body.exactText('new_password') ?? '' } }
  },
})

export const credentialRoutes = [
  requestPasswordReset,
  resetPassword,
  changePassword,
  changeEmail,
  changeUsername,
  verifyEmail,
  requestVerification,
]
