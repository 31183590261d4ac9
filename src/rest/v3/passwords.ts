import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'

const requestReset = defineRoute({
  method: 'POST',
  path: 'auth/users/reset_password',
  action: 'password:reset',
  admit: ({ services, actor }) => services.passwords.admitResetRequest(actor),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {
      requestPasswordReset(input: $input) {
        email
      }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.text('email') ?? '' } }),
  status: 201,
  present: () => ({}),
})

const reset = defineRoute({
  method: 'POST',
  path: 'auth/users/reset_password_confirm',
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
      newPassword: body.text('new_password') ?? '',
    },
  }),
  status: 204,
  present: () => undefined,
})

const change = defineRoute({
  method: 'POST',
  path: 'auth/users/set_password',
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
    input: { currentPassword: body.text('current_password') ?? '', newPassword: body.text('new_password') ?? '' },
  }),
  status: 204,
  present: () => undefined,
})

/** Passwords: reset by mail, and changed. */
export const passwordRoutes = [requestReset, reset, change]
