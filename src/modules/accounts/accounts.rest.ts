import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import type { Fields } from '../../http/rest/read-body.ts'
import {
  givenEmail,
  givenText,
  neededText,
  newPassword,
  nothing,
  presentPassword,
  same,
} from '../../http/rest/values.ts'
import { meRecord, presentMe, presentUser, userRecord } from './present-user.ts'
import { assertMaySignIn } from './sign-in.ts'
import { assertMaySignUp } from './sign-up.ts'

const newUserRecord = z
  .object({
    id: same('User.id', z.string()),
    username: same('User.username', z.string()),
    email: z.string().describe('The address as it is kept; not verified yet.'),
  })
  .meta({ id: 'SignedUpUser', description: 'The account that was made.' })

const tokenRecord = z
  .object({ auth_token: same('SignInPayload.token', z.string()) })
  .meta({ id: 'Token', description: 'What a session is asked with.' })

const signUp = defineRoute({
  method: 'POST',
  path: 'auth/users',
  operationId: 'signUp',
  tag: 'Account',
  summary: 'Sign up',
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
      signUp(input: $input) {
        email
        user {
          id
          username
        }
      }
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
  method: 'POST',
  path: 'auth/token/login',
  operationId: 'signIn',
  tag: 'Sessions',
  summary: 'Sign in',
  description: 'Begins a session. Send its token as `Authorization: Bearer <token>` (or `token <token>`) from then on.',
  errors: ['AUTHENTICATION_FAILED', 'EMAIL_NOT_VERIFIED', 'INCORRECT_LOGIN_CREDENTIALS'],
  body: z
    .object({
      email: same('SignInInput.email', givenEmail),
      password: same('SignInInput.password', presentPassword),
      device: z
        .string()
        .optional()
        .describe('What the session is called in the list of sessions; else the User-Agent.'),
    })
    .meta({ id: 'SignIn', description: 'Credentials.' }),
  action: 'session:create',
  admit: assertMaySignIn,
  operation: graphql(/* GraphQL */ `
    mutation RestLogin($input: SignInInput!) {
      signIn(input: $input) {
        token
      }
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

const logout = defineRoute({
  method: 'POST',
  path: 'auth/token/logout',
  operationId: 'signOut',
  tag: 'Sessions',
  summary: 'Sign out',
  description: 'Ends the session whose token was sent.',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestLogout {
      signOut
    }
  `),
  variables: () => ({}),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const meOperation = graphql(/* GraphQL */ `
  query RestMe {
    me {
      ...UserRecord
    }
  }
`)

const me = defineRoute({
  method: 'GET',
  path: 'auth/users/me',
  operationId: 'getMe',
  tag: 'Account',
  summary: 'Read one’s own account',
  action: 'account:read',
  operation: meOperation,
  variables: () => ({}),
  answer: meRecord,
  present: ({ me }) => presentMe(me),
})

const deleteMe = defineRoute({
  method: 'DELETE',
  path: 'auth/users/me',
  operationId: 'deleteMe',
  tag: 'Account',
  summary: 'Delete one’s own account',
  description:
    'What was registered stays on the chain, with the messages of commits; the person, their files and what else they said are erased.',
  errors: ['CONFLICT'],
  action: 'account:delete',
  operation: graphql(/* GraphQL */ `
    mutation RestDeleteMe {
      deleteAccount {
        id
      }
    }
  `),
  variables: () => ({}),
  status: 204,
  answer: nothing,
  present: () => undefined,
})

const listUsers = defineList({
  path: 'auth/users',
  operationId: 'listUsers',
  tag: 'Account',
  summary: 'Read your own account as a list',
  description: 'The list holds only the caller.',
  deprecated: true,
  action: 'account:read',
  record: userRecord,
  plural: 'Users',
  searched: 'the username, the e-mail address or the display name',
  order: 'oldest',
  operation: meOperation,
  variables: () => ({}),
  connectionOf: ({ me }, { offset = 0, search = '' }) => {
    const texts = [me.username, me.email, me.displayName].join('\n').toLowerCase()
    const words = search.toLowerCase().split(/[\s,]+/)
    const found = words.every((word) => texts.includes(word)) ? [me] : []
    return {
      totalCount: found.length,
      pageInfo: { startCursor: null, endCursor: null },
      nodes: found.slice(offset),
    }
  },
  present: presentUser,
})

/** Signing up, in and out, and one's own record. */
export const accountRoutes = [signUp, login, logout, me, deleteMe, listUsers]
