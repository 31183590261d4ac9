import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'

const changeEmail = defineRoute({
  method: 'POST',
  path: 'auth/users/set_email',
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeEmail($input: ChangeEmailInput!) {
      changeEmail(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.text('current_password') ?? '', newEmail: body.text('new_email') ?? '' },
  }),
  status: 204,
  present: () => undefined,
})

const changeUsername = defineRoute({
  method: 'POST',
  path: 'auth/users/set_username',
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeUsername($input: ChangeUsernameInput!) {
      changeUsername(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.text('current_password') ?? '', newUsername: body.text('new_username') ?? '' },
  }),
  status: 204,
  present: () => undefined,
})

const verify = defineRoute({
  method: 'POST',
  path: 'auth/users/activation',
  action: 'email:verify',
  operation: graphql(/* GraphQL */ `
    mutation RestVerifyEmail($input: VerifyEmailInput!) {
      verifyEmail(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({ input: { uid: body.text('uid') ?? '', token: body.text('token') ?? '' } }),
  status: 204,
  present: () => undefined,
})

const requestVerification = defineRoute({
  method: 'POST',
  path: 'auth/users/resend_activation',
  action: 'email:verify',
  admit: ({ services, actor }) => services.identities.admitVerificationRequest(actor),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {
      requestEmailVerification(input: $input) {
        email
      }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.text('email') } }),
  status: 204,
  present: () => undefined,
})

/** Address and username of an account. */
export const identityRoutes = [changeEmail, changeUsername, verify, requestVerification]
