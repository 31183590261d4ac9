/** Accounts whose key cannot be decrypted, and accounts that are deleted while their commits are prepared. */

import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../src/chain/lease.ts'
import { createCpuThrottle } from '../../../src/chain/poller.ts'
import { createCommitSigner } from '../../../src/chain/relay/commit-signer.ts'
import type { Custody } from '../../../src/keys/envelope-encryption.ts'
import { noopTracer } from '../../../src/telemetry/telemetry-types.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const { vault, custody, database } = app.installation

const commitsOf = (user: SignedIn) =>
  app.sql<{ status: string; signed: boolean; failure: string | null }>(
    `select r.status::text, r.tree_signature is not null as signed, r.failure from commit_relays r
     join commits c on c.id = r.commit_id where c.author_id = $1::uuid order by c.id`,
    [user.id],
  )
const moved = (user: SignedIn, kind: string) =>
  app.sql<{ amount: string }>(
    `select trim_scale(sum(e.amount))::text as amount from entries e join transfers t on t.id = e.transfer_id
     where e.wallet_id = $1::uuid and t.reference like $2 || ':%' group by t.id order by t.id`,
    [user.id, kind],
  )
const remove = (user: SignedIn) => user.rest('DELETE', 'auth/users/me/')
const troubles = () => app.log.lines.splice(0)

async function prepareWhile(signs: Custody['sign'], work: () => Promise<unknown>) {
  const stopping = new AbortController()
  const lease: Pick<Lease, 'acquire' | 'write'> = {
    acquire: async () => true,
    write: (_name, statement, parameters) => database.query(statement, parameters),
  }
  const signer = createCommitSigner({
    ...app.installation,
    custody: { ...custody, sign: signs },
    lease: lease as Lease,
    log: app.log,
    tracer: noopTracer,
    cpu: createCpuThrottle(),
    stopping,
    idlePause: 20,
    reconcileFromChain: async () => false,
    onReady() {},
  })
  signer.start()
  await work().finally(() => signer.stop())
}

describe('accounts with an unreadable wallet key', () => {
  it('an account with an unreadable key can be deleted, and the platform gets the refund of its failed commits', async () => {
    const user = await app.newUser()
    expectOk(await user.rest('PATCH', `assets/${(await user.register()).id}/`, { json: { caption: 'Never signed' } }))
    await vault.forget(user.id)
    troubles()
    expect((await remove(user)).status).toBe(204)
    expect(await commitsOf(user)).toEqual(
      Array(2).fill({ status: 'FAILED', signed: false, failure: expect.stringContaining('could not be decrypted') }),
    )
    expect(await moved(user, 'refund')).toEqual([{ amount: '0.179' }, { amount: '0.179' }])
    expect(await moved(user, 'forfeit')).toEqual([{ amount: '-12' }])
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
    expect(troubles()).toMatchObject([{ level: 'error', fields: { user: user.publicId } }])
    expectError(await remove(user), 'AUTHENTICATION_FAILED')
  })

  it('the relay fails and refunds the commits of an account with an unreadable key after about three days', async () => {
    const user = await app.newUser()
    await user.register()
    await vault.forget(user.id)
    await app.sql(
      `update commit_relays r set attempts = 80 from commits c where c.id = r.commit_id and c.author_id = $1::uuid`,
      [user.id],
    )
    await prepareWhile(custody.sign, () => poll(() => commitsOf(user)).until(([commit]) => commit?.status === 'FAILED'))
    expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
  })
})

it('the relay logs no error if the author of a commit is deleted during the signing', async () => {
  const user = await app.newUser()
  await user.register()
  troubles()
  let tries = 0
  await prepareWhile(
    async (userId, key, text) => {
      if (userId !== user.id) return custody.sign(userId, key, text)
      tries += 1
      // The key was read, but no longer exists when it is used.
      expect((await remove(user)).status).toBe(204)
      return custody.sign(userId, key, text)
    },
    () => poll(() => commitsOf(user)).until(([commit]) => commit?.signed === true && tries > 0),
  )
  expect(await commitsOf(user)).toEqual([{ status: 'PENDING', signed: true, failure: null }])
  expect([tries, troubles()]).toEqual([1, []])
})
