import { defineCommand, defineRoute, post } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import {
  givenEmail,
  neededText,
  newPassword,
  objectOf,
  presentPassword,
  same,
  sameFields,
} from '../../http/rest/values.ts'
import { assertMayRequestMail } from './mailed-links.ts'

const changeEmail = defineCommand({
  ...post('auth/users/set_email', 'changeEmail', 'Account', 'Change one’s e-mail address'),
  description: 'A verified address stays in use until the new one is verified.',
  errors: ['DUPLICATE_EMAIL'],
  body: objectOf('ChangeEmail', 'The password and the new address.', {
    ...sameFields('ChangeEmailInput', { current_password: presentPassword, new_email: givenEmail }),
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeEmail($input: ChangeEmailInput!) { changeEmail(input: $input) { user { id } } }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newEmail: body.exactText('new_email') ?? '' },
  }),
})

const changeUsername = defineCommand({
  ...post('auth/users/set_username', 'changeUsername', 'Account', 'Change one’s username'),
  errors: ['DUPLICATE_USERNAME'],
  body: objectOf('ChangeUsername', 'The password and the new username.', {
    ...sameFields('ChangeUsernameInput', { current_password: presentPassword, new_username: neededText(21) }),
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeUsername($input: ChangeUsernameInput!) { changeUsername(input: $input) { user { id } } }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newUsername: body.text('new_username') ?? '' },
  }),
})

const verifyEmail = defineCommand({
  ...post('auth/users/activation', 'verifyEmail', 'Account', 'Verify an e-mail address with the link of a mail'),
  errors: ['DUPLICATE_EMAIL', 'INVALID_TOKEN'],
  body: objectOf('VerifyEmail', 'The values of the mailed link.', {
    uid: same('VerifyEmailInput.uid', neededText()),
    token: same('VerifyEmailInput.token', neededText()),
  }),
  action: 'email:verify',
  operation: graphql(/* GraphQL */ `
    mutation RestVerifyEmail($input: VerifyEmailInput!) { verifyEmail(input: $input) { user { id } } }
  `),
  variables: ({ body }) => ({ input: { uid: body.text('uid') ?? '', token: body.text('token') ?? '' } }),
})

const requestVerification = defineCommand({
  ...post('auth/users/resend_activation', 'requestEmailVerification', 'Account'),
  summary: 'Ask for another link to verify an e-mail address',
  description: 'For a signed-in caller: the address of the account. Otherwise the address in the body.',
  errors: ['NOT_AUTHENTICATED'],
  body: objectOf('RequestEmailVerification', 'The e-mail address.', {
    email: same('RequestEmailVerificationInput.email', givenEmail).optional(),
  }),
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
  ...post('auth/users/reset_password', 'requestPasswordReset', 'Account', 'Ask for a link to set another password'),
  description: 'The answer is the same whether or not an account has the address.',
  body: objectOf('RequestPasswordReset', 'The account with the lost password.', {
    email: same('RequestPasswordResetInput.email', givenEmail),
  }),
  action: 'password:reset',
  admit: (context) => assertMayRequestMail(context, 'password-reset'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {
      requestPasswordReset(input: $input) { email }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.exactText('email') ?? '' } }),
  status: 201,
  answer: objectOf('Accepted', 'The call is accepted. The response has no body.', {}),
  present: () => ({}),
})

const resetPassword = defineCommand({
  ...post('auth/users/reset_password_confirm', 'resetPassword', 'Account'),
  summary: 'Set another password with the link of a mail',
  description: 'Ends every session of the account.',
  errors: ['INVALID_TOKEN'],
  body: objectOf('ResetPassword', 'The values of the mailed link, and the new password.', {
    ...sameFields('ResetPasswordInput', { uid: neededText(), token: neededText(), new_password: newPassword }),
  }),
  action: 'password:reset',
  operation: graphql(/* GraphQL */ `
    mutation RestResetPassword($input: ResetPasswordInput!) { resetPassword(input: $input) { user { id } } }
  `),
  variables: ({ body }) => {
    const link = { uid: body.text('uid') ?? '', token: body.text('token') ?? '' }
    return { input: { ...link, newPassword: body.exactText('new_password') ?? '' } }
  },
})

const changePassword = defineCommand({
  ...post('auth/users/set_password', 'changePassword', 'Account', 'Change one’s password'),
  body: objectOf('ChangePassword', 'The present password and the new one.', {
    ...sameFields('ChangePasswordInput', { current_password: presentPassword, new_password: newPassword }),
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangePassword($input: ChangePasswordInput!) { changePassword(input: $input) { user { id } } }
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
