import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const DELETE = 'mutation { deleteAccount { id } }'

it('deleteAccount needs to know whose', async () => {
  expectError(await app.graphql(DELETE), 'NOT_AUTHENTICATED')
})

it('deleteAccount ends the account and its sessions, and tells which one it was', async () => {
  const user = await app.newUser()
  expect(expectOk(await user.graphql(DELETE))).toEqual({ deleteAccount: { id: user.publicId } })
  expectError(await user.graphql(DELETE), 'AUTHENTICATION_FAILED')
  expectError(await user.graphql('{ me { id } }'), 'AUTHENTICATION_FAILED')
})

it('a deleted account is no node any more, also for administrators', async () => {
  const user = await app.newUser()
  const node = 'query ($id: ID!) { node(id: $id) { id } }'
  const admin = await app.admin()
  expect(expectOk(await admin.graphql(node, { id: user.publicId }))).toEqual({ node: { id: user.publicId } })
  expectOk(await user.graphql(DELETE))
  expect(expectOk(await admin.graphql(node, { id: user.publicId }))).toEqual({ node: null })
})

it('administrators lose what they sold, and orders for it cannot be paid', async () => {
  const admin = await app.admin()
  const create = 'mutation ($input: CreateNetworkAppInput!) { createNetworkApp(input: $input) { networkApp { id } } }'
  const input = { name: `soon-gone-${process.pid}`, price: '1' }
  const { id } = expectOk(await admin.graphql(create, { input })).createNetworkApp.networkApp
  expectOk(await admin.graphql(DELETE))
  const other = await app.admin()
  const app_ = 'query ($id: ID!) { node(id: $id) { ... on NetworkApp { isActive owner { displayName email } } } }'
  expect(expectOk(await other.graphql(app_, { id }))).toEqual({
    node: { isActive: false, owner: { displayName: 'Deleted account', email: null } },
  })
})

it('myData tells everything that is kept of a person, and nothing secret', async () => {
  const user = await app.newUser()
  const { id } = await user.register({ caption: 'Mine' })
  const { myData } = expectOk(await user.graphql('{ myData }'))
  expect(myData).toMatchObject({
    account: { id: user.publicId, username: user.username, email: user.email },
    wallet: { address: user.address, points: '11.821', num: '0' },
    assets: [{ nid: id, caption: 'Mine' }],
    commits: [{ nid: id, sequence: 1, id: expect.stringMatching(/^commit_/) }],
    auditEntries: expect.arrayContaining([expect.objectContaining({ action: 'account.exported' })]),
  })
  expect(JSON.stringify(myData)).not.toContain(user.token)
  expectError(await app.graphql('{ myData }'), 'NOT_AUTHENTICATED')
})

it('myData tells of withdrawals what their owner is told, and the feed', async () => {
  const user = await app.newUser({ num: '5' })
  const json = { amount: '1', to: Wallet.createRandom().address, current_password: PASSWORD }
  const { id } = expectOk(await user.rest('POST', 'wallet/withdrawals/', { json }))
  expectOk(await user.rest('POST', `wallet/withdrawals/${id}/cancel/`))
  const { myData } = expectOk(await user.graphql('{ myData }'))
  const told =
    '{ withdrawals(first: 1) { nodes { id amount fee to status transactionHash failure createdAt dueAt settledAt } } }'
  const { to: recipient, ...withdrawal } = expectOk(await user.graphql(told)).withdrawals.nodes[0]
  expect(myData.withdrawals).toEqual([{ ...withdrawal, recipient }])
  const feed = '{ events(first: 10) { nodes { id sequence type orderId commitId deliveryId transferId createdAt } } }'
  const { nodes } = expectOk(await user.graphql(feed)).events
  expect(nodes.map(({ type }: { type: string }) => type)).toEqual(['withdrawal.requested', 'withdrawal.cancelled'])
  expect(myData.events).toEqual(nodes)
})

it('myData names the file to those who have too much for one answer', async () => {
  const user = await app.newUser()
  await app.sql(
    `insert into audit_entries (user_id, action) select $1::uuid, 'profile.changed' from generate_series(1, 10001)`,
    [user.id],
  )
  const refused = expectError(await user.graphql('{ myData }'), 'VALIDATION_FAILED')
  expect(refused.text).toContain('/api/v3/auth/users/me/export')
})
