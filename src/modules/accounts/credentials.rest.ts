import { z } from 'zod'
import { defineCommand, defineRoute, del, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { validationFailed } from '../../shared/errors.ts'
import { snakeCase } from '../../shared/text.ts'
import { assertMayRequestMail } from './mailed-links.ts'
import { assertMaySignIn } from './sessions.ts'
import { assertMaySignUp } from './sign-up.ts'

/** Returns body and variables of a route. The GraphQL input `<name>Input` has these fields, which are texts. */
const inputOf = <Name extends string>(name: string, description: string, fields: Record<Name, z.ZodType>) => {
  const entries = Object.entries<z.ZodType>(fields)
  const shape = entries.map(
    ([field, schema]) => [snakeCase(field), values.same(`${name}Input.${field}`, schema)] as const,
  )
  const read = (body: values.Fields, field: string, schema: z.ZodType) => {
    // Converting a number to text could change a password.
    const text = body[/password|email/i.test(field) ? 'exactText' : 'text'](snakeCase(field))
    return text ?? (schema instanceof z.ZodOptional ? undefined : '')
  }
  return {
    body: values.objectOf(name, description, Object.fromEntries(shape)),
    variables: ({ body }: RestRequest) => ({
      input: Object.fromEntries(entries.map(([field, schema]) => [field, read(body, field, schema)])) as Record<
        Name,
        string
      >,
    }),
  }
}

const changeEmail = defineCommand({
  ...post('auth/users/set_email', 'changeEmail', 'Account', 'Change your e-mail address'),
  ...inputOf('ChangeEmail', 'The password and the new address.', {
    currentPassword: values.presentPassword,
    newEmail: values.givenEmail,
  }),
  description: 'Your verified address stays in use until the new address is verified.',
  errors: ['DUPLICATE_EMAIL'],
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeEmail($input: ChangeEmailInput!) { changeEmail(input: $input) { user { id } } }
  `),
})

const changeUsername = defineCommand({
  ...post('auth/users/set_username', 'changeUsername', 'Account', 'Change your username'),
  ...inputOf('ChangeUsername', 'The password and the new username.', {
    currentPassword: values.presentPassword,
    newUsername: values.neededText(21),
  }),
  errors: ['DUPLICATE_USERNAME'],
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangeUsername($input: ChangeUsernameInput!) { changeUsername(input: $input) { user { id } } }
  `),
})

const changePassword = defineCommand({
  ...post('auth/users/set_password', 'changePassword', 'Account', 'Change your password'),
  ...inputOf('ChangePassword', 'The current password and the new password.', {
    currentPassword: values.presentPassword,
    newPassword: values.newPassword,
  }),
  action: 'account:update',
  operation: graphql(/* GraphQL */ `
    mutation RestChangePassword($input: ChangePasswordInput!) { changePassword(input: $input) { user { id } } }
  `),
})

const verifyEmail = defineCommand({
  ...post('auth/users/activation', 'verifyEmail', 'Account', 'Verify an e-mail address with the link of a mail'),
  ...inputOf('VerifyEmail', 'The values of the mailed link.', { uid: values.neededText(), token: values.neededText() }),
  errors: ['DUPLICATE_EMAIL', 'INVALID_TOKEN'],
  action: 'email:verify',
  operation: graphql(/* GraphQL */ `
    mutation RestVerifyEmail($input: VerifyEmailInput!) { verifyEmail(input: $input) { user { id } } }
  `),
})

const requestVerification = defineCommand({
  ...post('auth/users/resend_activation', 'requestEmailVerification', 'Account'),
  ...inputOf('RequestEmailVerification', 'The e-mail address.', { email: values.givenEmail.optional() }),
  summary: 'Request a new link to verify an e-mail address',
  description: 'Verifies the address of a signed-in caller. Anonymous callers send the address in the body.',
  errors: ['NOT_AUTHENTICATED'],
  action: 'email:verify',
  admit: (context) => assertMayRequestMail(context, 'verification'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {
      requestEmailVerification(input: $input) { email }
    }
  `),
})

const requestPasswordReset = defineRoute({
  ...post('auth/users/reset_password', 'requestPasswordReset', 'Account', 'Request a link to set a new password'),
  ...inputOf('RequestPasswordReset', 'The account with the lost password.', { email: values.givenEmail }),
  description: 'The response does not show whether an account has the address.',
  action: 'password:reset',
  admit: (context) => assertMayRequestMail(context, 'reset'),
  operation: graphql(/* GraphQL */ `
    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {
      requestPasswordReset(input: $input) { email }
    }
  `),
  status: 201,
  answer: values.objectOf('Accepted', 'The request was accepted. The response has no body.', {}),
  present: () => ({}),
})

const resetPassword = defineCommand({
  ...post('auth/users/reset_password_confirm', 'resetPassword', 'Account'),
  ...inputOf('ResetPassword', 'The values of the mailed link, and the new password.', {
    ...{ uid: values.neededText(), token: values.neededText(), newPassword: values.newPassword },
  }),
  summary: 'Set a new password with the link of a mail',
  description: 'Ends all sessions of the account.',
  errors: ['INVALID_TOKEN'],
  action: 'password:reset',
  operation: graphql(/* GraphQL */ `
    mutation RestResetPassword($input: ResetPasswordInput!) { resetPassword(input: $input) { user { id } } }
  `),
})

const signUp = defineRoute({
  ...post('auth/users', 'signUp', 'Account', 'Sign up'),
  ...inputOf('SignUp', 'A new account.', {
    ...{ username: values.neededText(21), email: values.givenEmail, password: values.newPassword },
    ...{ language: values.givenText(16).optional(), referralCode: values.givenText(64).optional() },
  }),
  description: 'Creates an account with a wallet and the initial points. A mail contains a link to verify the address.',
  apiKey: 'possible',
  errors: ['DUPLICATE_EMAIL', 'DUPLICATE_USERNAME'],
  action: 'account:create',
  admit: assertMaySignUp,
  operation: graphql(/* GraphQL */ `
    mutation RestSignUp($input: SignUpInput!) { signUp(input: $input) { email user { id username } } }
  `),
  status: 201,
  answer: values.objectOf('SignedUpUser', 'The new account.', {
    ...values.sameFields('User', { id: z.string(), username: z.string() }),
    email: z.string().describe('The stored e-mail address. The address is not verified yet.'),
  }),
  present: ({ signUp: { user, email } }) => ({ id: user.id, username: user.username, email }),
})

/** Shortens a device name and removes control characters. Existing callers send invalid names. */
const sessionName = (text = '') => [...text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '')].slice(0, 100).join('')

/** Returns the device name of a sign-in. Some apps send an object, which is ignored. */
function deviceOf(body: values.Fields): string | undefined {
  try {
    return body.text('device')
  } catch {
    return undefined
  }
}

const login = defineRoute({
  ...post('auth/token/login', 'signIn', 'Sessions', 'Sign in'),
  description: 'Starts a session. Send its token as `Authorization: Bearer <token>` or `Authorization: token <token>`.',
  errors: ['AUTHENTICATION_FAILED', 'EMAIL_NOT_VERIFIED', 'INCORRECT_LOGIN_CREDENTIALS'],
  body: values.objectOf('SignIn', 'Credentials.', {
    ...values.sameFields('SignInInput', { email: values.givenEmail, password: values.presentPassword }),
    device: z.string().optional().describe('Name of the session in the list of sessions. Defaults to the User-Agent.'),
  }),
  action: 'session:create',
  admit: assertMaySignIn,
  operation: graphql(/* GraphQL */ `mutation RestLogin($input: SignInInput!) { signIn(input: $input) { token } }`),
  variables: ({ body, header }) => ({
    input: {
      email: body.exactText('email') ?? '',
      password: body.exactText('password') ?? '',
      name: sessionName(deviceOf(body) || header('user-agent')),
    },
  }),
  answer: values.objectOf('Token', 'The credentials of a sign-in.', {
    auth_token: values.same('SignInPayload.token', z.string()),
  }),
  present: ({ signIn }) => ({ auth_token: signIn.token }),
})

const logout = defineCommand({
  ...post('auth/token/logout', 'signOut', 'Sessions', 'Sign out'),
  description: 'Ends the session of this request. Its token becomes invalid.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `mutation RestLogout { signOut }`),
})

const list = defineList({
  ...get('auth/sessions', 'listSessions', 'Sessions', 'List the devices on which you are signed in, newest first'),
  action: 'session:read',
  record: values.objectOf('Session', 'A device on which a user is signed in.', {
    ...values.sameFields('Session', { id: z.string(), name: z.string(), created_at: values.time }),
    ...values.sameFields('Session', { last_used_at: values.time.nullable(), expires_at: values.time.nullable() }),
    ...values.sameFields('Session', { is_current: z.boolean() }),
  }),
  plural: 'Sessions',
  searched: 'the name',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor }
        nodes { id name createdAt lastUsedAt expiresAt isCurrent }
      }
    }
  `),
  present: values.snakeCased,
})

const revoke = defineCommand({
  ...del('auth/sessions/:id', 'revokeSession', 'Sessions', 'End a session'),
  params: values.sessionParam,
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeSession($input: RevokeSessionInput!) { revokeSession(input: $input) { id } }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

// This is not `DELETE auth/sessions/`, because a caller whose identifier is empty would send that by mistake.
const revokeOthers = defineCommand({
  ...post('auth/sessions/revoke-others', 'revokeOtherSessions', 'Sessions', 'End all other sessions'),
  description: 'Also ends your sessions on the pages for administrators.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `mutation RestRevokeOtherSessions { revokeOtherSessions { session { id } } }`),
})

/** Maximum size of a device as JSON, in characters. Apps send a few hundred. */
const MAX_DEVICE_LENGTH = 10_000

const registerDevice = defineRoute({
  ...post('auth/devices', 'registerDevice', 'Earlier apps', 'Register a device'),
  description: 'The service sends no push notifications, so the device is not stored.',
  deprecated: true,
  body: z.looseObject({}).meta({ id: 'RegisterDevice', description: 'Data of the device.' }),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `query RestDevice { me { id } }`),
  variables: ({ body }) => {
    const nonFieldErrors = [`Ensure this request has no more than ${MAX_DEVICE_LENGTH} characters.`]
    if (JSON.stringify(body.all()).length > MAX_DEVICE_LENGTH) throw validationFailed({ nonFieldErrors })
    return {}
  },
  status: 201,
  answer: values.anyObject.meta({ id: 'Device', description: 'The received values of the device.' }),
  // The phone app does not start without this response.
  present: (_, { body }) => body.all(),
})

export const credentialRoutes = [
  ...[signUp, login, logout, list, revoke, revokeOthers, registerDevice],
  ...[requestPasswordReset, resetPassword, changePassword, changeEmail, changeUsername],
  ...[verifyEmail, requestVerification],
]
