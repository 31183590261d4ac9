import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { givenEmail, neededText, newPassword, nothing, presentPassword, same } from '../../http/rest/values.ts'
import { assertMayRequestMail } from './mailed-links.ts'

const requestReset = defineRoute({
  method: 'POST',
  path: 'auth/users/reset_password',
  operationId: 'requestPasswordReset',
  tag: 'Account',
  summary: 'Ask for a link to set another password',
  description: 'The answer is the same whether or not an account has the address.',
  body: z
    .object({ email: same('RequestPasswordResetInput.email', givenEmail) })
    .meta({ id: 'RequestPasswordReset', description: 'Whose password is forgotten.' }),
  action: 'password:reset',
  admit: (context) => assertMayRequestMail(context, 'password-reset'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {
      requestPasswordReset(input: $input) {
        email
      }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.exactText('email') ?? '' } }),
  status: 201,
  answer: z.object({}).meta({ id: 'Accepted', description: 'It is under way; there is nothing to tell.' }),
  present: () => ({}),
})

const reset = defineRoute({
  method: 'POST',
  path: 'auth/users/reset_password_confirm',
  operationId: 'resetPassword',
  tag: 'Account',
  summary: 'Set another password with the link of a mail',
  description: 'Ends every session of the account.',
  errors: ['INVALID_TOKEN'],
  body: z
    .object({
      uid: same('ResetPasswordInput.uid', neededText()),
      token: same('ResetPasswordInput.token', neededText()),
      new_password: same('ResetPasswordInput.newPassword', newPassword),
    })
    .meta({ id: 'ResetPassword', description: 'What the link says, and the new password.' }),
  action: 'password:reset',
  operation: graphql(/* GraphQL */ `
    mutation RestResetPassword($input: ResetPasswordInput!) {
      resetPassword(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: {
      uid: body.text('uid') ?? '',
      token: body.text('token') ?? '',
      newPassword: body.exactText('new_password') ?? '',
    },
  }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const change = defineRoute({
  method: 'POST',
  path: 'auth/users/set_password',
  operationId: 'changePassword',
  tag: 'Account',
  summary: 'Change one’s password',
  body: z
    .object({
      current_password: same('ChangePasswordInput.currentPassword', presentPassword),
      new_password: same('ChangePasswordInput.newPassword', newPassword),
    })
    .meta({ id: 'ChangePassword', description: 'The present password and the new one.' }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangePassword($input: ChangePasswordInput!) {
      changePassword(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: {
      currentPassword: body.exactText('current_password') ?? '',
      newPassword: body.exactText('new_password') ?? '',
    },
  }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

/** Passwords: reset by mail, and changed. */
export const passwordRoutes = [requestReset, reset, change]
