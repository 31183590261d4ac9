import { expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()

const LIST = `query ($userId: ID, $everybody: Boolean, $first: Int, $after: String) {
  auditEntries(userId: $userId, everybody: $everybody, first: $first, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes { id action subject address createdAt user { id username email } }
  }
}`
const read = async (user: SignedIn, variables = {}) => expectOk(await user.graphql(LIST, variables)).auditEntries

it('tells you your own trail, newest first, with who did it', async () => {
  const user = await app.newUser()
  const { totalCount, nodes } = await read(user)
  const node = async (who: { graphql: SignedIn['graphql'] }) =>
    expectOk(await who.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', { id: nodes[0].id })).node
  const entry = { __typename: 'AuditEntry', id: nodes[0].id }
  expect([await node(user), await node(admin)]).toEqual([entry, entry])
  expect([await node(app), await node(await app.newUser())]).toEqual([null, null])
  expect(totalCount).toBe(2)
  expect(nodes).toMatchObject([
    { action: 'session.started', subject: expect.stringMatching(/^session_/), user: { id: user.publicId } },
    { action: 'account.created', subject: null, user: { id: user.publicId } },
  ])
  expect(await read(user, { userId: user.publicId })).toMatchObject({ totalCount, nodes })
})

it('is paged by cursor', async () => {
  const user = await app.newUser()
  const first = await read(user, { first: 1 })
  expect(first).toMatchObject({ nodes: [{ action: 'session.started' }], pageInfo: { hasNextPage: true } })
  const second = await read(user, { first: 1, after: first.pageInfo.endCursor })
  expect(second).toMatchObject({ nodes: [{ action: 'account.created' }], pageInfo: { hasNextPage: false } })
  expectError(await user.graphql(LIST, { after: 'rubbish' }), 'VALIDATION_FAILED')
})

it('lets administrators read one person’s trail, or everybody’s, without what is private', async () => {
  const user = await app.newUser()
  const theirs = await read(admin, { userId: user.publicId })
  expect(theirs).toMatchObject({ totalCount: 2, nodes: [{ user: { id: user.publicId, email: null } }, {}] })
  const context = { key: undefined, replayed: false }
  await app.services.apiKeys.issue({ kind: 'system' }, { name: 'By the system' }, context)
  const [newest, ...others] = (await read(admin, { everybody: true })).nodes
  expect(newest).toMatchObject({ action: 'api-key.issued', address: null, user: null })
  expect(others.map((entry: { user: { id: string } | null }) => entry.user?.id)).toContain(user.publicId)
})

it('keeps others’ trails from everybody else', async () => {
  const [user, other] = [await app.newUser(), await app.newUser()]
  expectError(await app.graphql(LIST), 'NOT_AUTHENTICATED')
  expectError(await app.graphql(LIST, { userId: user.publicId }), 'NOT_AUTHENTICATED')
  expectError(await other.graphql(LIST, { userId: user.publicId }), 'PERMISSION_DENIED')
  expectError(await other.graphql(LIST, { userId: 'rubbish' }), 'PERMISSION_DENIED')
  expectError(await other.graphql(LIST, { everybody: true }), 'PERMISSION_DENIED')
  expectError(await admin.graphql(LIST, { userId: 'rubbish' }), 'NOT_FOUND')
})
