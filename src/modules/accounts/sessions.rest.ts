import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineCommand, defineRoute, endpoint } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import type { Fields } from '../../http/rest/read-body.ts'
import {
  anyObject,
  givenEmail,
  givenText,
  moment,
  neededText,
  newPassword,
  presentPassword,
  same,
  sessionParam,
} from '../../http/rest/values.ts'
import { validationFailed } from '../../shared/errors.ts'
import { assertMaySignIn } from './sign-in.ts'
import { assertMaySignUp } from './sign-up.ts'

const newUserRecord = z
  .object({
    id: same('User.id', z.string()),
    username: same('User.username', z.string()),
    email: z.string().describe('The stored address. It is not verified yet.'),
  })
  .meta({ id: 'SignedUpUser', description: 'The account that was made.' })

const tokenRecord = z
  .object({ auth_token: same('SignInPayload.token', z.string()) })
  .meta({ id: 'Token', description: 'The credentials of a sign-in.' })

const signUp = defineRoute({
  ...endpoint('POST', 'auth/users', 'signUp', 'Account', 'Sign up'),
  description: 'Makes an account with a wallet and a few points. A mail asks to verify the address.',
  apiKey: 'possible',
  errors: ['DUPLICATE_EMAIL', 'DUPLICATE_USERNAME'],
  body: z
    .object({
      username: same('SignUpInput.username', neededText(21)),
      email: same('SignUpInput.email', givenEmail),
      password: same('SignUpInput.password', newPassword),
      language: same('SignUpInput.language', givenText(16)).optional(),
      referral_code: same('SignUpInput.referralCode', givenText(64)).optional(),
    })
    .meta({ id: 'SignUp', description: 'A new account.' }),
  action: 'account:create',
  admit: assertMaySignUp,
  operation: graphql(/* GraphQL */ `
    mutation RestSignUp($input: SignUpInput!) {
      signUp(input: $input) { email user { id username } }
    }
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
  ...endpoint('POST', 'auth/token/login', 'signIn', 'Sessions', 'Sign in'),
  description: 'Begins a session. Send its token as `Authorization: Bearer <token>` (or `token <token>`) from then on.',
  errors: ['AUTHENTICATION_FAILED', 'EMAIL_NOT_VERIFIED', 'INCORRECT_LOGIN_CREDENTIALS'],
  body: z
    .object({
      email: same('SignInInput.email', givenEmail),
      password: same('SignInInput.password', presentPassword),
      device: z
        .string()
        .optional()
        .describe('Name of the session in the list of sessions. Defaults to the User-Agent.'),
    })
    .meta({ id: 'SignIn', description: 'Credentials.' }),
  action: 'session:create',
  admit: assertMaySignIn,
  operation: graphql(/* GraphQL */ `
    mutation RestLogin($input: SignInInput!) {
      signIn(input: $input) { token }
    }
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
  ...endpoint('POST', 'auth/token/logout', 'signOut', 'Sessions', 'Sign out'),
  description: 'Ends the session of this request.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestLogout {
      signOut
    }
  `),
})

const sessionRecord = z
  .object({
    id: same('Session.id', z.string()),
    name: same('Session.name', z.string()),
    created_at: same('Session.createdAt', moment),
    last_used_at: same('Session.lastUsedAt', moment.nullable()),
    expires_at: same('Session.expiresAt', moment.nullable()),
    is_current: same('Session.isCurrent', z.boolean()),
  })
  .meta({ id: 'Session', description: 'A device on which a user is signed in.' })

const list = defineList({
  path: 'auth/sessions',
  operationId: 'listSessions',
  tag: 'Sessions',
  summary: 'List the devices on which you are signed in, newest first',
  action: 'session:read',
  record: sessionRecord,
  plural: 'Sessions',
  searched: 'the name',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo { startCursor endCursor }
        nodes { id name createdAt lastUsedAt expiresAt isCurrent }
      }
    }
  `),
  variables: (_request, part) => part,
  connectionOf: ({ sessions }) => sessions,
  present: (session) => ({
    ...{ id: session.id, name: session.name, created_at: session.createdAt, last_used_at: session.lastUsedAt },
    ...{ expires_at: session.expiresAt, is_current: session.isCurrent },
  }),
})

const revoke = defineCommand({
  ...endpoint('DELETE', 'auth/sessions/:id', 'revokeSession', 'Sessions', 'End a session'),
  params: sessionParam,
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeSession($input: RevokeSessionInput!) {
      revokeSession(input: $input) { id }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
})

/** Has its own path, because a caller that lost an identifier sends `DELETE auth/sessions/`. */
const revokeOthers = defineCommand({
  ...endpoint(
    'POST',
    'auth/sessions/revoke-others',
    'revokeOtherSessions',
    'Sessions',
    'End every session but this one',
  ),
  description: 'An administrator’s sessions at the pages for administrators end, too.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestRevokeOtherSessions {
      revokeOtherSessions { session { id } }
    }
  `),
})

/** Characters of JSON text; what apps send of a device is a few hundred. */
const MAX_DEVICE_LENGTH = 10_000

const registerDevice = defineRoute({
  ...endpoint('POST', 'auth/devices', 'registerDevice', 'Earlier apps', 'Register a device'),
  description: 'The service sends no push notifications, so the device is not stored.',
  deprecated: true,
  body: z.looseObject({}).meta({ id: 'RegisterDevice', description: 'Data of the device.' }),
  action: 'account:read',
  operation: graphql(/* GraphQL */ `
    query RestDevice {
      me { id }
    }
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
