import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineCommand, defineRoute, del, get, post } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import type { Fields } from '../../http/rest/read-body.ts'
import {
  anyObject,
  givenEmail,
  givenText,
  moment,
  neededText,
  newPassword,
  objectOf,
  presentPassword,
  same,
  sameFields,
  sessionParam,
  snakeCased,
} from '../../http/rest/values.ts'
import { validationFailed } from '../../shared/errors.ts'
import { assertMaySignIn } from './sign-in.ts'
import { assertMaySignUp } from './sign-up.ts'

const newUserRecord = objectOf('SignedUpUser', 'The account that was made.', {
  ...sameFields('User', { id: z.string(), username: z.string() }),
  email: z.string().describe('The stored address. It is not verified yet.'),
})

const tokenRecord = objectOf('Token', 'The credentials of a sign-in.', {
  auth_token: same('SignInPayload.token', z.string()),
})

const signUp = defineRoute({
  ...post('auth/users', 'signUp', 'Account', 'Sign up'),
  description: 'Makes an account with a wallet and a few points. A mail asks to verify the address.',
  apiKey: 'possible',
  errors: ['DUPLICATE_EMAIL', 'DUPLICATE_USERNAME'],
  body: objectOf('SignUp', 'A new account.', {
    ...sameFields('SignUpInput', { username: neededText(21), email: givenEmail, password: newPassword }),
    ...sameFields('SignUpInput', { language: givenText(16).optional(), referral_code: givenText(64).optional() }),
  }),
  action: 'account:create',
  admit: assertMaySignUp,
  operation: graphql(/* GraphQL */ `
    mutation RestSignUp($input: SignUpInput!) { signUp(input: $input) { email user { id username } } }
  `),
  variables: ({ body }) => ({
    input: {
      username: body.text('username') ?? '',
      email: body.exactText('email') ?? '',
      password: body.exactText('password') ?? '',
      language: body.text('language'),
      referralCode: body.text('referral_code'),
    },
  }),
  status: 201,
  answer: newUserRecord,
  present: ({ signUp: { user, email } }) => ({ id: user.id, username: user.username, email }),
})

/** Shortens a device name and removes control characters. Old callers send invalid names, which must not be rejected. */
const sessionName = (text = '') => [...text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '')].slice(0, 100).join('')

/** Returns the device name of a sign-in. Some apps send an object, which is ignored. */
function deviceOf(body: Fields): string | undefined {
  try {
    return body.text('device')
  } catch {
    return undefined
  }
}

const login = defineRoute({
  ...post('auth/token/login', 'signIn', 'Sessions', 'Sign in'),
  description: 'Begins a session. Send its token as `Authorization: Bearer <token>` (or `token <token>`) from then on.',
  errors: ['AUTHENTICATION_FAILED', 'EMAIL_NOT_VERIFIED', 'INCORRECT_LOGIN_CREDENTIALS'],
  body: objectOf('SignIn', 'Credentials.', {
    ...sameFields('SignInInput', { email: givenEmail, password: presentPassword }),
    device: z.string().optional().describe('Name of the session in the list of sessions. Defaults to the User-Agent.'),
  }),
  action: 'session:create',
  admit: assertMaySignIn,
  operation: graphql(/* GraphQL */ `
    mutation RestLogin($input: SignInInput!) { signIn(input: $input) { token } }
  `),
  variables: ({ body, header }) => ({
    input: {
      email: body.exactText('email') ?? '',
      password: body.exactText('password') ?? '',
      name: sessionName(deviceOf(body) || header('user-agent')),
    },
  }),
  answer: tokenRecord,
  present: ({ signIn }) => ({ auth_token: signIn.token }),
})

const logout = defineCommand({
  ...post('auth/token/logout', 'signOut', 'Sessions', 'Sign out'),
  description: 'Ends the session of this request.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestLogout { signOut }
  `),
})

const sessionRecord = objectOf('Session', 'A device on which a user is signed in.', {
  ...sameFields('Session', { id: z.string(), name: z.string(), created_at: moment }),
  ...sameFields('Session', { last_used_at: moment.nullable(), expires_at: moment.nullable() }),
  ...sameFields('Session', { is_current: z.boolean() }),
})

const list = defineList({
  ...get('auth/sessions', 'listSessions', 'Sessions', 'List the devices on which you are signed in, newest first'),
  action: 'session:read',
  record: sessionRecord,
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
  present: snakeCased,
})

const revoke = defineCommand({
  ...del('auth/sessions/:id', 'revokeSession', 'Sessions', 'End a session'),
  params: sessionParam,
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeSession($input: RevokeSessionInput!) { revokeSession(input: $input) { id } }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

/** Has its own path, because a caller that lost an identifier sends `DELETE auth/sessions/`. */
const revokeOthers = defineCommand({
  ...post('auth/sessions/revoke-others', 'revokeOtherSessions', 'Sessions', 'End every session but this one'),
  description: 'An administrator’s sessions at the pages for administrators end, too.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeOtherSessions { revokeOtherSessions { session { id } } }
  `),
})

/** Characters of JSON text; what apps send of a device is a few hundred. */
const MAX_DEVICE_LENGTH = 10_000

const registerDevice = defineRoute({
  ...post('auth/devices', 'registerDevice', 'Earlier apps', 'Register a device'),
  description: 'The service sends no push notifications, so the device is not stored.',
  deprecated: true,
  body: z.looseObject({}).meta({ id: 'RegisterDevice', description: 'Data of the device.' }),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestDevice { me { id } }
  `),
  variables: ({ body }) => {
    const nonFieldErrors = [`Ensure this request has no more than ${MAX_DEVICE_LENGTH} characters.`]
    if (JSON.stringify(body.all()).length > MAX_DEVICE_LENGTH) throw validationFailed({ nonFieldErrors })
    return {}
  },
  status: 201,
  answer: anyObject.meta({ id: 'Device', description: 'The received values.' }),
  // The phone app stops at its start without an answer. Nothing is pushed to devices, so nothing of them is kept.
  present: (_, { body }) => body.all(),
})

export const sessionRoutes = [signUp, login, logout, list, revoke, revokeOthers, registerDevice]
