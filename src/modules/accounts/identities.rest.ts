import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { givenEmail, neededText, nothing, presentPassword, same } from '../../http/rest/values.ts'
import { assertMayRequestMail } from './mailed-links.ts'

const changeEmail = defineRoute({
  method: 'POST',
  path: 'auth/users/set_email',
  operationId: 'changeEmail',
  tag: 'Account',
  summary: 'Change one’s e-mail address',
  description: 'An address that is verified stands until the new one is verified, too.',
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
      changeEmail(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newEmail: body.exactText('new_email') ?? '' },
  }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const changeUsername = defineRoute({
  method: 'POST',
  path: 'auth/users/set_username',
  operationId: 'changeUsername',
  tag: 'Account',
  summary: 'Change one’s username',
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
      changeUsername(input: $input) {
        user {
          id
        }
      }
    }
  `),
  variables: ({ body }) => ({
    input: { currentPassword: body.exactText('current_password') ?? '', newUsername: body.text('new_username') ?? '' },
  }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const verify = defineRoute({
  method: 'POST',
  path: 'auth/users/activation',
  operationId: 'verifyEmail',
  tag: 'Account',
  summary: 'Verify an e-mail address with the link of a mail',
  errors: ['DUPLICATE_EMAIL', 'INVALID_TOKEN'],
  body: z
    .object({
      uid: same('VerifyEmailInput.uid', neededText()),
      token: same('VerifyEmailInput.token', neededText()),
    })
    .meta({ id: 'VerifyEmail', description: 'What the link says.' }),
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
  answer: nothing,
  present: () => undefined,
})

const requestVerification = defineRoute({
  method: 'POST',
  path: 'auth/users/resend_activation',
  operationId: 'requestEmailVerification',
  tag: 'Account',
  summary: 'Ask for another link to verify an e-mail address',
  description: 'Signed in, for one’s own address; else for the one that is sent.',
  errors: ['NOT_AUTHENTICATED'],
  body: z
    .object({ email: same('RequestEmailVerificationInput.email', givenEmail).optional() })
    .meta({ id: 'RequestEmailVerification', description: 'Which address.' }),
  action: 'email:verify',
  admit: (context) => assertMayRequestMail(context, 'email-verification'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {
      requestEmailVerification(input: $input) {
        email
      }
    }
  `),
  variables: ({ body }) => ({ input: { email: body.exactText('email') } }),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

/** Address and username of an account. */
export const identityRoutes = [changeEmail, changeUsername, verify, requestVerification]
