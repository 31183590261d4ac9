/** Operator commands for a user who cannot sign in. They have the same effect as the user's own actions. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { checkInvariants } from '../../../src/db/invariants/check-invariants.ts'
import { streamExportAsOperator } from '../../../src/modules/accounts/export-account.ts'
import { annalHere, type HereOptions } from '../../support/annal-command.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const reason = 'Asked for by letter, our file 117'
const annal = (args: string[], options?: HereOptions) => annalHere(app.env, ['users', ...args], options)
const lock = async ({ publicId }: SignedIn) =>
  expect(await annal(['lock', publicId, '--reason', 'Lost'])).toMatchObject({ code: 0 })

async function newFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'annal-person-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

async function newPerson() {
  const user = await app.newUser({ num: '9' })
  const store = await createStore(app)
  const { id: nid } = await user.register({ caption: 'Mine' })
  expectOk(await user.rest('PATCH', `assets/${nid}/`, { json: { caption: 'Mine still' } }))
  expectOk(await store.confirm(user, (await store.order(user, { action_args: { prompt: 'a cat' } })).id))
  await store.order(user)
  const link = expectOk(await user.rest('POST', `assets/${nid}/links/`, { json: { label: 'For Ann' } }))
  const withdrawal = { amount: '2', to: Wallet.createRandom().address, current_password: PASSWORD }
  expectOk(await user.rest('POST', 'wallet/withdrawals/', { json: withdrawal }))
  return { user, store, nid, secrets: [user.token, new URL(link.url).searchParams.get('signature')!] }
}

interface Entry {
  action: string
  user_id: string | null
  subject: string | null
  reason: string | null
}

const entriesOf = ({ id, publicId }: SignedIn, action: string) =>
  app.sql<Entry>(
    `select action, user_id::text, subject, reason, address from audit_entries
     where action = $3 and (user_id = $1::uuid or subject = $2) order by user_id nulls last`,
    [id, publicId, action],
  )
const reported = ({ id, publicId }: SignedIn, action: string) => [
  { action, user_id: id, subject: null, reason, address: null },
  { action, user_id: null, subject: publicId, reason, address: null },
]

describe('command for the export of a user', () => {
  it('`annal users export` writes the same export that the user can request, without secrets', async () => {
    const { user, secrets } = await newPerson()
    const other = await newPerson()
    const own = expectOk(await user.rest('GET', 'auth/users/me/export'))
    await lock(user)
    const said = await annal(['export', user.username, '--reason', reason])
    expect(said).toMatchObject({ code: 0, stderr: '' })
    const { exportedAt, auditEntries, ...taken } = JSON.parse(said.stdout)
    const { exportedAt: before, auditEntries: entries, sessions: _, ...rest } = own
    expect(exportedAt > before).toBe(true)
    // A lock ends all sessions.
    expect(taken).toEqual({ ...rest, sessions: [] })
    expect(Object.keys(JSON.parse(said.stdout))).toEqual(Object.keys(own))
    expect(auditEntries.slice(0, entries.length)).toEqual(entries)
    expect(auditEntries.slice(entries.length)).toMatchObject([
      { action: 'account.locked' },
      { action: 'account.exported', subject: null, address: null, reason },
    ])
    for (const text of [...secrets, ...other.secrets, other.nid, other.user.username, other.user.email])
      expect(said.stdout).not.toContain(text)
    expect(await entriesOf(user, 'account.exported')).toEqual([
      expect.objectContaining({ user_id: user.id, subject: null, reason: null }),
      ...reported(user, 'account.exported'),
    ])
  })

  it('`annal users export` writes exports that are too large for one GraphQL response', async () => {
    const user = await app.newUser()
    await app.sql(
      `insert into audit_entries (user_id, action) select $1::uuid, 'profile.changed' from generate_series(1, 10001)`,
      [user.id],
    )
    const refused = expectError(await user.graphql('{ myData }'), 'VALIDATION_FAILED')
    expect(refused.text).toContain('/api/v3/auth/users/me/export')
    const { stdout } = await annal(['export', user.email, '--reason', reason])
    const { auditEntries } = JSON.parse(stdout) as { auditEntries: Entry[] }
    expect(auditEntries.filter(({ action }) => action === 'profile.changed')).toHaveLength(10_001)
    expect(auditEntries.at(-1)).toMatchObject({ action: 'account.exported', reason })
  })

  it('`annal users export` creates a file with mode 0600, and never overwrites a file', async () => {
    const [user, dir] = [await app.newUser(), await newFolder()]
    const out = join(dir, 'person.json')
    const said = await annal(['export', user.publicId, '--reason', reason, '--out', out, '--json'])
    expect(said).toMatchObject({ code: 0, stderr: '' })
    const text = await readFile(out, 'utf8')
    expect(JSON.parse(said.stdout)).toEqual({ id: user.publicId, path: out, bytes: Buffer.byteLength(text) })
    expect(JSON.parse(text).account.id).toBe(user.publicId)
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    const again = await annal(['export', user.publicId, '--reason', reason, '--out', out])
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('already exists') })
    const nowhere = await annal(['export', user.publicId, '--reason', reason, '--out', join(dir, 'no/person.json')])
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('no such file or directory') })
    expect(await readFile(out, 'utf8')).toBe(text)
    expect(await readdir(dir)).toEqual(['person.json'])
    // Rejected exports write no audit entries.
    expect(await entriesOf(user, 'account.exported')).toEqual(reported(user, 'account.exported'))
  })

  it('`annal users export` removes the file of an interrupted export', async () => {
    const dir = await newFolder()
    const out = join(dir, 'person.json')
    const interrupted = AbortSignal.abort(new Error('Interrupted.'))
    const user = await app.newUser()
    const said = await annal(['export', user.publicId, '--reason', reason, '--out', out], { interrupted })
    expect(said).toMatchObject({ code: 1, stdout: '', stderr: 'Interrupted.\n' })
    expect(await readdir(dir)).toEqual([])
  })

  it('`annal users export` fails if the account is deleted during the export', async () => {
    const user = await app.newUser()
    const taken: string[] = []
    const taking = streamExportAsOperator(asSystem(app.context), { userId: user.publicId, reason }, async (texts) => {
      for await (const text of texts) {
        if (taken.length === 0) expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
        taken.push(text)
      }
    })
    await expect(taking).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(() => JSON.parse(taken.join(''))).toThrow()
  })
})

describe('command for the deletion of a user', () => {
  it('`annal users delete` lists the data to delete, and deletes nothing without --yes', async () => {
    const { user, store } = await newPerson()
    const said = await annal(['delete', user.username, '--reason', reason])
    expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') })
    const { num, points } = await app.wallet(user)
    for (const line of [
      `account +${user.publicId} \\(${user.username}, ${user.email}\\)`,
      `balance +${num} NUM and ${points} points: lost`,
      'tokens +0 at the address',
      'assets +1 asset: ',
      'open orders +1 order: canceled',
      'withdrawals +1 in progress with 2 NUM',
      'apps for sale +0 apps',
    ])
      expect(said.stdout).toMatch(new RegExp(`^${line}`, 'm'))
    expect(said.stdout).not.toContain(user.token)
    expect(JSON.parse((await annal(['delete', user.username, '--reason', reason, '--json'])).stdout)).toEqual({
      ...{ id: user.publicId, username: user.username, email: user.email, deletedAt: null, isDeleted: false },
      ...{ num, points, tokens: '0', assets: 1, openOrders: 1, networkApps: 0, withdrawals: 1, withdrawn: '2' },
    })
    const seller = JSON.parse((await annal(['delete', store.owner.email, '--reason', reason, '--json'])).stdout)
    expect(seller).toMatchObject({ networkApps: 1, isDeleted: false })
    expectOk(await user.rest('GET', 'auth/users/me/'))
    expect(await entriesOf(user, 'account.deleted')).toEqual([])
  })

  it('`annal users delete` asks for the username at a terminal', async () => {
    const user = await app.newUser()
    for (const input of ['y\n', '\n', '', `${user.publicId}\n`]) {
      const said = await annal(['delete', user.email, '--reason', reason], { input, isTTY: true })
      expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining(`Type ${user.username} to delete`) })
    }
    expectOk(await user.rest('GET', 'auth/users/me/'))
    // Without output there is no prompt, and input that is not from a terminal is no answer.
    const unseen = await annal(['delete', user.email, '--reason', reason, '--json'], {
      input: `${user.username}\n`,
      isTTY: true,
    })
    expect(JSON.parse(unseen.stdout)).toMatchObject({ id: user.publicId, isDeleted: false })
    expect(await annal(['delete', user.email, '--reason', reason], { input: `${user.username}\n` })).toMatchObject({
      code: 1,
    })
    expectOk(await user.rest('GET', 'auth/users/me/'))
    const said = await annal(['delete', user.email, '--reason', reason], { input: `${user.username}\n`, isTTY: true })
    expect(said).toMatchObject({ code: 0, stderr: expect.stringContaining(`Deleted ${user.publicId}.`) })
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
  })

  it('`annal users delete` has the same effect as a deletion by the user, and writes two audit entries', async () => {
    const [one, other] = [await newPerson(), await newPerson()]
    await lock(other.user)
    await app.sql(
      `insert into audit_entries (user_id, action, address) select id::uuid, 'profile.changed', '192.0.2.1' from unnest(array[$1, $2]) id`,
      [one.user.id, other.user.id],
    )
    expect((await one.user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    const said = await annal(['delete', other.user.username, '--reason', reason, '--yes'])
    expect(said.code).toBe(0)
    for (const secret of other.secrets) expect(said.stdout + said.stderr).not.toContain(secret)
    const leftOf = async ({ id }: SignedIn) => {
      const [left] = await app.sql(
        `select u.email like '%@deleted.invalid' as "hasNoAddress", u.username like 'deleted\\_%' as "hasNoName", u.display_name, u.password_hash,
           u.deleted_at is not null as deleted, w.num::text, w.points::text, w.closed_at is not null as closed,
           (select count(*) from user_keys k where k.user_id = u.id) as keys,
           (select count(*) from access_tokens t where t.user_id = u.id) as tokens,
           (select json_agg(o.status order by o.status) from orders o where o.buyer_id = u.id) as orders,
           (select json_agg(i.status) from withdrawals i where i.wallet_id = u.id) as withdrawals,
           (select json_agg(a.deleted_at is not null) from assets a where a.owner_id = u.id) as assets,
           (select json_agg(r.tree_signature is not null) from commit_relays r join commits c on c.id = r.commit_id where c.author_id = u.id) as signed,
           (select count(*) from audit_entries e where e.user_id = u.id and e.address is not null) as addresses,
           (select count(*) from jobs.job j where j.name = 'forget-key' and j.data->>'userId' = u.id::text) as jobs
         from users u join wallets w on w.user_id = u.id where u.id = $1::uuid`,
        [id],
      )
      return left
    }
    const left = await leftOf(other.user)
    expect(left).toEqual(await leftOf(one.user))
    expect(left).toMatchObject({ deleted: true, keys: 0n, assets: [true], signed: [true, true], addresses: 0n })
    expect((await checkInvariants(app.installation.database)).filter(({ rows }) => rows.length > 0)).toEqual([])
    expect(await entriesOf(other.user, 'account.deleted')).toEqual(reported(other.user, 'account.deleted'))
    expect(await entriesOf(one.user, 'account.deleted')).toEqual([
      expect.objectContaining({ user_id: one.user.id, subject: null, reason: null }),
    ])
  })

  it('`annal users delete` can be repeated by ID, and does not find a deleted account by name', async () => {
    const user = await app.newUser()
    const again = ['delete', user.publicId, '--reason', reason, '--yes']
    expect((await annal(again)).code).toBe(0)
    expect(await annal(again)).toEqual({ code: 0, stdout: '', stderr: `${user.publicId} was already deleted.\n` })
    // No confirmation is needed when nothing would be lost.
    expect((await annal(again.slice(0, -1), { isTTY: true })).code).toBe(0)
    const byName = await annal(['delete', user.username, '--reason', reason, '--yes'])
    expect(byName).toEqual({ code: 1, stdout: '', stderr: 'User not found.\n' })
    const never = await annal(['delete', 'user_01h455vb4pex5vsknk084sn02q', '--reason', reason, '--yes'])
    expect(never).toEqual({ code: 1, stdout: '', stderr: 'User not found.\n' })
    expect(await annal(['export', user.publicId, '--reason', reason])).toEqual(never)
    expect(await entriesOf(user, 'account.deleted')).toEqual(reported(user, 'account.deleted'))
  })

  it('two concurrent `annal users delete` commands and a user request delete the account once', async () => {
    const user = await app.newUser({ num: '3' })
    const deed = ['delete', user.publicId, '--reason', reason, '--yes']
    const [own, ...said] = await Promise.all([user.rest('DELETE', 'auth/users/me/'), annal(deed), annal(deed)])
    expect(said.map(({ code }) => code)).toEqual([0, 0])
    expect(said.filter(({ stderr }) => stderr.startsWith('Deleted ')).length + Number(own.status === 204)).toBe(1)
  })
})

it('`annal users delete` is rejected on another chain, and warns if the chain does not respond', async () => {
  const user = await app.newUser()
  const deed = ['users', 'delete', user.publicId, '--reason', reason, '--yes']
  const chainId = (await app.sql(`select value from key_values where key = 'chain:id'`))[0]?.value
  await app.sql(
    `insert into key_values (key, value) values ('chain:id', '137') on conflict (key) do update set value = excluded.value`,
  )
  const refused = await annalHere(app.env, deed)
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('on chain 137, but the node') })
  if (chainId === undefined) await app.sql(`delete from key_values where key = 'chain:id'`)
  else await app.sql(`update key_values set value = $1 where key = 'chain:id'`, [chainId])
  expectOk(await user.rest('GET', 'auth/users/me/'))
  const said = await annalHere({ ...app.env, CHAIN_RPC_URL: 'http://127.0.0.1:1' }, deed)
  expect(said).toMatchObject({ code: 0, stderr: expect.stringMatching(/^The chain does not answer\. Coins /) })
  expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
})

it('`annal users delete` is rejected if a wrapping key is missing', async () => {
  const user = await app.newUser()
  await app.sql(`update user_keys set vault_key_id = 'local:lost' where user_id = $1::uuid`, [user.id])
  const said = await annal(['delete', user.publicId, '--reason', reason, '--yes'])
  expect(said).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('lacks keys') })
  expectOk(await user.rest('GET', 'auth/users/me/'))
})
