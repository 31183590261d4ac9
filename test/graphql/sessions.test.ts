import { expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()

const SIGN_IN = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String) {
  sessions(first: $first, after: $after, last: $last, before: $before) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { id name createdAt lastUsedAt expiresAt isCurrent }
  }
}`
const REVOKE = 'mutation ($input: RevokeSessionInput!) { revokeSession(input: $input) { id } }'
const REVOKE_OTHERS = 'mutation { revokeOtherSessions { session { id isCurrent } } }'

const signIn = async ({ email }: SignedIn, name?: string): Promise<string> =>
  expectOk(await app.graphql(SIGN_IN, { input: { email, password: PASSWORD, name } })).signIn.token
const read = async (user: SignedIn, page = {}) => expectOk(await user.graphql(LIST, page)).sessions

it('tells the sessions with their names, newest first', async () => {
  const user = await app.newUser()
  await signIn(user, ' Laptop ')
  await signIn(user)
  expect(await read(user)).toMatchObject({
    totalCount: 3,
    nodes: [{ name: '', isCurrent: false }, { name: 'Laptop', isCurrent: false, expiresAt: null }, { isCurrent: true }],
  })
})

it('pages by cursor from both ends', async () => {
  const user = await app.newUser()
  for (const name of ['b', 'a']) await signIn(user, name)
  const first = await read(user, { first: 2 })
  expect(first).toMatchObject({ nodes: [{ name: 'a' }, { name: 'b' }], pageInfo: { hasNextPage: true } })
  const rest = await read(user, { first: 2, after: first.pageInfo.endCursor })
  expect(rest).toMatchObject({ nodes: [{ isCurrent: true }], pageInfo: { hasNextPage: false } })
  const last = await read(user, { last: 2 })
  expect(last).toMatchObject({ nodes: [{ name: 'b' }, { isCurrent: true }], pageInfo: { hasPreviousPage: true } })
  expectError(await user.graphql(LIST, { after: 'rubbish' }), 'VALIDATION_FAILED')
})

it('refuses a name over 100 characters', async () => {
  const { email } = await app.newUser()
  const input = { email, password: PASSWORD, name: 'x'.repeat(101) }
  expectError(await app.graphql(SIGN_IN, { input }), 'VALIDATION_FAILED')
})

it('revokes one session, and then all others', async () => {
  const user = await app.newUser()
  const tokens = [await signIn(user), await signIn(user), await signIn(user)]
  const [{ id }] = (await read(user)).nodes
  expect(expectOk(await user.graphql(REVOKE, { input: { id } })).revokeSession).toEqual({ id })
  expectError(await user.graphql(REVOKE, { input: { id } }), 'NOT_FOUND')
  expectError(await app.graphql('{ me { id } }', {}, { actor: { token: tokens[2]! } }), 'AUTHENTICATION_FAILED')
  expect(expectOk(await user.graphql(REVOKE_OTHERS)).revokeOtherSessions.session).toMatchObject({ isCurrent: true })
  expect(await read(user)).toMatchObject({ totalCount: 1, nodes: [{ isCurrent: true }] })
})

it.each([
  [LIST, {}],
  [REVOKE, { input: { id: 'session_01h455vb4pex5vsknk084sn02q' } }],
  [REVOKE_OTHERS, {}],
])('needs somebody who is signed in: %s', async (document, variables) => {
  expectError(await app.graphql(document, variables), 'NOT_AUTHENTICATED')
})

it('lets nobody revoke another’s session', async () => {
  const [user, admin] = [await app.newUser(), await app.admin()]
  const [{ id }] = (await read(user)).nodes
  const node = async (who: SignedIn) =>
    expectOk(await who.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', { id })).node
  expect(await node(user)).toEqual({ __typename: 'Session', id })
  expect(await node(admin)).toBeNull()
  expectError(await admin.graphql(REVOKE, { input: { id } }), 'NOT_FOUND')
  expect(await read(user)).toMatchObject({ totalCount: 1 })
})
