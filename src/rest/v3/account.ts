import { defineRoute } from '../define-route.ts'
import type { Fields } from '../fields.ts'
import { graphql } from '../generated/index.ts'
import { presentPage } from '../pagination.ts'
import { presentMe, presentUser } from './present-user.ts'

const signUp = defineRoute({
  method: 'POST',
  path: 'auth/users',
  action: 'account:create',
  admit: ({ services, actor }) => services.accounts.admitSignUp(actor),
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
      email: body.text('email') ?? '',
      password: body.text('password') ?? '',
      language: body.text('language'),
      referralCode: body.text('referral_code'),
    },
  }),
  status: 201,
  present: ({ signUp: { user, email } }) => ({ id: user.id, username: user.username, email }),
})

/** What old callers send of their device is long at times, and was never refused. */
const sessionName = (text = '') => [...text.replaceAll(/\p{C}/gu, '')].slice(0, 100).join('')

/** Apps that send a device at sign-up send an object, which names nothing to a person. */
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
  action: 'session:create',
  admit: ({ services, actor }) => services.accounts.admitSignIn(actor),
  operation: graphql(/* GraphQL */ `
    mutation RestLogin($input: SignInInput!) {
      signIn(input: $input) {
        token
      }
    }
  `),
  variables: ({ body, header }) => ({
    input: {
      email: body.text('email') ?? '',
      password: body.text('password') ?? '',
      name: sessionName(deviceOf(body) || header('user-agent')),
    },
  }),
  present: ({ signIn }) => ({ auth_token: signIn.token }),
})

const logout = defineRoute({
  method: 'POST',
  path: 'auth/token/logout',
  action: 'session:end',
  operation: graphql(/* GraphQL */ `
    mutation RestLogout {
      signOut
    }
  `),
  variables: () => ({}),
  status: 204,
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
  action: 'account:read',
  operation: meOperation,
  variables: () => ({}),
  present: ({ me }) => presentMe(me),
})

const deleteMe = defineRoute({
  method: 'DELETE',
  path: 'auth/users/me',
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
  present: () => undefined,
})

const listUsers = defineRoute({
  method: 'GET',
  path: 'auth/users',
  action: 'account:read',
  operation: meOperation,
  variables: () => ({}),
  // Old callers ask for the list to learn of themselves; nobody else stands in it.
  present: ({ me }, request) => presentPage(request, 1, [presentUser(me)]),
})

/** Signing up, in and out, and one's own record. */
export const accountRoutes = [signUp, login, logout, me, deleteMe, listUsers]
