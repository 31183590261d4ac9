import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()

it('myData returns all stored data of the user, without secrets', async () => {
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

it('myData returns the same withdrawals and events as the API', async () => {
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
