import { verifyMessage } from 'ethers'
import { describe, expect, it } from 'vitest'
import { checkInvariants } from '../../../src/db/invariants/check-invariants.ts'
import { cleanUpDeletedAccounts } from '../../../src/modules/accounts/delete-account.ts'
import { fromId } from '../../../src/shared/ids.ts'
import { poll } from '../../support/eventually.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { deposit } from '../../support/person.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const { database, custody } = app.installation

const remove = (user: SignedIn, options = {}) => user.rest('DELETE', 'auth/users/me/', options)
const rowOf = async <Row>(text: string, id: string) => (await app.sql<Row>(text, [id]))[0]
const countOf = async (table: string, column: string, id: string) =>
  (await rowOf<{ n: number }>(`select count(*)::int as n from ${table} where ${column} = $1::uuid`, id))!.n
const brokenInvariants = async () => (await checkInvariants(database)).filter(({ rows }) => rows.length > 0)
const forfeited = async (userId: string) =>
  app.sql<{ reference: string; currency: string; amount: string }>(
    `select t.reference, e.currency::text, trim_scale(e.amount)::text as amount
     from transfers t join entries e on e.transfer_id = t.id
     where t.reference like 'forfeit:' || $1 || '%' and e.book = 'FORFEITED' order by t.created_at, e.position`,
    [userId],
  )

describe('account deletion', () => {
  it('account deletion transfers the balance to the platform and keeps the ledger balanced', async () => {
    const user = await app.newUser({ num: '7.5' })
    expect((await remove(user)).status).toBe(204)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
    const reference = `forfeit:${user.id}`
    expect(await forfeited(user.id)).toEqual([
      { reference, currency: 'POINTS', amount: '12' },
      { reference, currency: 'NUM', amount: '7.5' },
    ])
    expect(await brokenInvariants()).toEqual([])
  })

  it('account deletion erases the key, the tokens and all personal fields', async () => {
    const user = await app.newUser()
    const profile = { display_name: 'Ada Lovelace', description: 'Countess' }
    expectOk(await user.rest('PATCH', 'auth/users/profile/', { json: profile }))
    await app.sql(
      `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
       values ($1::uuid, 'PASSWORD_RESET', uuidv7(), sha256('secret'), 'ada@example.org', now() + interval '1 hour')`,
      [user.id],
    )
    const tables = ['user_keys', 'access_tokens', 'one_time_tokens']
    const counts = () => Promise.all(tables.map((table) => countOf(table, 'user_id', user.id)))
    expect(await counts()).toEqual([1, 1, 1])
    expect((await remove(user)).status).toBe(204)
    expect(await counts()).toEqual([0, 0, 0])
    const tombstone = await rowOf<object>(
      `select username, email, password_hash, display_name, description, default_tag, referral_code, language
       from users where id = $1::uuid`,
      user.id,
    )
    expect(tombstone).toEqual({
      username: expect.stringMatching(/^deleted_[0-9a-z]{13}$/),
      email: expect.stringMatching(/^[0-9a-f-]{36}@deleted\.invalid$/),
      display_name: 'Deleted account',
      ...{ password_hash: '', description: '', default_tag: '', referral_code: '', language: 'en-us' },
    })
    const trail = await app.sql(
      'select action, address from audit_entries where user_id = $1::uuid order by id desc limit 1',
      [user.id],
    )
    expect(trail).toEqual([{ action: 'account.deleted', address: null }])
  })

  it('account deletion makes the wallet key unusable, even with an older copy of the database', async () => {
    const user = await app.newUser()
    const copied = (await database.prisma.userKey.findUnique({ where: { userId: user.id } }))!
    expect(await custody.sign(user.id, copied, 'text')).toMatch(/^0x/)
    expect((await remove(user)).status).toBe(204)
    await expect(custody.sign(user.id, copied, 'text')).rejects.toThrow()
  })

  it('account deletion erases the stored responses of idempotency keys', async () => {
    const username = `u${process.pid}answers`
    const account = { username, email: `${username}@example.org`, password: PASSWORD }
    const headers = { 'Idempotency-Key': username }
    const { id } = expectOk(await app.rest('POST', 'auth/users/', { json: account, headers }))
    const kept = () =>
      app.sql('select scope from idempotency_keys where result = $1 and answer is not null', [fromId(id)!.uuid])
    expect(await kept()).toHaveLength(1)
    const actor = { token: expectOk(await app.rest('POST', 'auth/token/login/', { json: account })).auth_token }
    expect((await app.rest('DELETE', 'auth/users/me/', { actor })).status).toBe(204)
    expect(await kept()).toEqual([])
    // The username and email address are available again.
    expectError(await app.rest('POST', 'auth/token/login/', { json: account }), 'INCORRECT_LOGIN_CREDENTIALS')
    const again = expectOk(await app.rest('POST', 'auth/users/', { json: account }))
    expect(again).toMatchObject({ username, email: account.email })
  })

  it('account deletion erases a large account in several SQL statements', async () => {
    const user = await app.newUser({ num: '100' })
    const assets = await Promise.all(Array.from({ length: 60 }, () => user.register({ caption: 'Mine' })))
    await app.sql(
      `insert into audit_entries (user_id, action, address)
       select $1::uuid, 'session.started', '192.0.2.1' from generate_series(1, 12000)`,
      [user.id],
    )
    expect((await remove(user)).status).toBe(204)
    const reported = `select nid from assets where owner_id = $1::uuid and (deleted_at is null or caption <> '')`
    expect(await app.sql(reported, [user.id])).toEqual([])
    expect(await countOf('assets', 'owner_id', user.id)).toBe(assets.length)
    expect(
      await app.sql('select 1 from audit_entries where user_id = $1::uuid and address is not null', [user.id]),
    ).toEqual([])
  })

  it('account deletion deletes the assets, and garbage collection deletes their files', async () => {
    const user = await app.newUser()
    const stranger = await app.newUser()
    const file = newFile()
    const asset = await user.register({ asset_file: file, caption: 'Mine', public_access: 'true' })
    expect((await stranger.rest('GET', `assets/${asset.id}/`)).status).toBe(200)
    expect((await remove(user)).status).toBe(204)
    expectError(await stranger.rest('GET', `assets/${asset.id}/`), 'NOT_FOUND')
    expectError(await app.rest('GET', `/ipfs/${asset.id}`), 'NOT_FOUND')
    const left = await app.sql('select caption, file_name from assets where nid = $1', [asset.id])
    expect(left).toEqual([{ caption: '', file_name: '' }])
    expect(await app.sql('select cid from pins where cid = $1', [asset.id])).toEqual([])
    const { contentStore } = app.installation
    const pins = await app.sql<{ cid: string }>('select distinct cid from pins')
    async function* kept() {
      for (const { cid } of pins) yield cid
    }
    expect(await contentStore.size(asset.id)).toBe(file.size)
    await contentStore.collectGarbage(kept(), 0)
    await expect(contentStore.size(asset.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    // Another user may register the file now.
    expect((await stranger.register({ asset_file: file })).id).toBe(asset.id)
  })

  it('account deletion cancels open orders and erases the arguments of paid orders', async () => {
    const store = await createStore(app)
    const user = await app.newUser()
    expectOk(await store.confirm(user, (await store.order(user, { action_args: { secret: 'one' } })).id))
    const open = [await store.order(user, { action_args: { secret: 'two' } }), await store.order(user)]
    expect((await remove(user)).status).toBe(204)
    const orders = await app.sql(
      'select status::text, action_args from orders where buyer_id = $1::uuid order by created_at',
      [user.id],
    )
    expect(orders).toEqual(['SUCCESS', 'CANCELLED', 'CANCELLED'].map((status) => ({ status, action_args: null })))
    const reported = await app.sql(
      `select count(*)::int as n from events where owner_id = $1::uuid and type = 'order.cancelled'`,
      [user.id],
    )
    expect(reported).toEqual([{ n: open.length }])
    expect(await brokenInvariants()).toEqual([])
  })

  it('account deletion waits for a concurrent update of a network app', async () => {
    const { owner, appId } = await createStore(app)
    const row = `network_apps where id = '${fromId(appId)!.uuid}'`
    const { change, deletion } = await whileHeld(app, `select from ${row} for no key update`, async () => {
      const change = owner.rest('PATCH', `store/network-apps/${appId}/`, { json: { price: '3' } })
      await waiting(app, 1)
      const deletion = remove(owner)
      await waiting(app, 2)
      return { change, deletion }
    })
    expect([(await change).status, (await deletion).status]).toEqual([200, 204])
  })
})

it('account deletion keeps the arguments of an order until its webhook delivery ends', async () => {
  const store = await createStore(app)
  await app.sql(
    `update network_apps set webhook_url = 'https://receiver.example', webhook_secret = 'x' where name = $1`,
    [store.name],
  )
  const user = await app.newUser()
  const order = await store.order(user, { action_args: { secret: 'late' } })
  expect(expectOk(await store.confirm(user, order.id)).status).toBe('pending')
  expect((await remove(user)).status).toBe(204)
  expect((await remove(store.owner)).status).toBe(204)
  const look = () =>
    app.sql(
      `select o.action_args is null as erased, a.webhook_secret is null as unsigned
       from orders o join network_apps a on a.id = o.network_app_id where o.buyer_id = $1::uuid`,
      [user.id],
    )
  await cleanUpDeletedAccounts(app.context)
  expect(await look()).toEqual([{ erased: false, unsigned: false }])
  await app.sql(
    `with given_up as (
       update webhook_deliveries d set status = 'GIVEN_UP', settled_at = now(), next_attempt_at = null
       from orders o where o.id = d.order_id and o.buyer_id = $1::uuid returning o.id
     )
     update orders set status = 'FAILURE', settled_at = now() from given_up where orders.id = given_up.id`,
    [user.id],
  )
  await cleanUpDeletedAccounts(app.context)
  expect(await look()).toEqual([{ erased: true, unsigned: true }])
})

it('a deposit to a deleted account is transferred to the platform exactly once', async () => {
  const user = await app.newUser({ points: '0' })
  expect((await remove(user)).status).toBe(204)
  await app.installation.database.query(deposit, { user: user.id, amount: '3' })
  await Promise.all([cleanUpDeletedAccounts(app.context), cleanUpDeletedAccounts(app.context)])
  expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  expect((await forfeited(user.id)).map(({ amount }) => amount)).toEqual(['3'])
  expect(await brokenInvariants()).toEqual([])
})

it('account deletion repeats the deletion of the key share in a background job', async () => {
  const user = await app.newUser()
  expect((await remove(user)).status).toBe(204)
  const jobs = await app.sql<{ data: { userId: string } }>(
    `select data from jobs.job where name = 'forget-key' and data ->> 'userId' = $1`,
    [user.id],
  )
  expect(jobs).toHaveLength(1)
  await app.jobs['forget-key'](jobs[0]!.data)
})

it('an account is deleted once despite 50 concurrent deletions, changes and payments', async () => {
  const store = await createStore(app, { price: '0.1' })
  const user = await app.newUser({ num: '50' })
  const asset = await user.register()
  const orders: { id: string }[] = []
  for (let n = 0; n < 50; n += 1) orders.push(await store.order(user))
  const json = { network_app: store.appId }
  const sends: Record<string, (n: number) => ReturnType<SignedIn['rest']>> = {
    confirm: (n) => store.confirm(user, orders[n]!.id),
    change: (n) => user.rest('PATCH', `assets/${asset.id}/`, { json: { caption: `Words ${n}` } }),
    order: () => user.rest('POST', 'store/network-app-orders/', { json, headers: store.service }),
    register: () => user.rest('POST', 'assets/', { multipart: { asset_file: newFile() } }),
    profile: (n) => user.rest('PATCH', 'auth/users/profile/', { json: { display_name: `Name ${n}` } }),
    signIn: () => app.rest('POST', 'auth/token/login/', { json: { email: user.email, password: PASSWORD } }),
    delete: () => remove(user),
  }
  const codes = new Map<string, string[]>(Object.keys(sends).map((kind) => [kind, []]))
  const send = async (kind: string, n: number) => {
    // On a slow machine, some requests are rejected because of the limit of concurrent requests per caller.
    const answer = await poll(() => sends[kind]!(n)).until(({ status }) => status !== 503 && status !== 429)
    codes.get(kind)!.push(codeOf(answer) ?? 'done')
  }
  const signIns = Array.from({ length: 4 }, (_, n) => send('signIn', n))
  const writes = ['confirm', 'change', 'order', 'register', 'profile'].flatMap((kind) =>
    orders.map((_, n) => send(kind, n)),
  )
  await Promise.race(writes)
  await Promise.all([...signIns, ...writes, ...orders.map((_, n) => send('delete', n))])
  const allowed = [
    'done',
    'AUTHENTICATION_FAILED',
    'NOT_FOUND',
    'CONFLICT',
    'UNABLE_TO_CONFIRM_ORDER',
    'INCORRECT_LOGIN_CREDENTIALS',
  ]
  expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect([...codes.values()].flat().filter((code) => !allowed.includes(code))).toEqual([])
  expect(codes.get('delete')!.toSorted()).toEqual([...Array(49).fill('AUTHENTICATION_FAILED'), 'done'])
  expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
  expect(await brokenInvariants()).toEqual([])
})

interface Relayed {
  status: string
  address: string
  tree: string
  tree_sha256: string
  tree_signature: string
}

it('accepted commits of a deleted account are still relayed, signed by their author', async () => {
  const users = await Promise.all(Array.from({ length: 8 }, () => app.newUser()))
  const leave = async (user: SignedIn) => {
    const { id } = await user.register({ caption: 'Paid for' })
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'Paid for, too' } }))
    expect((await remove(user)).status).toBe(204)
  }
  // Half of the accounts are deleted before the relay sees their commits, the others during signing.
  await Promise.all(users.slice(0, 4).map(leave))
  app.chain.relay.start()
  await Promise.all(users.slice(4).map(leave))
  const commits = await poll(() =>
    app.sql<Relayed>(
      `select r.status::text, r.tree_signature, c.tree_sha256, c.tree, w.address
         from commit_relays r join commits c on c.id = r.commit_id join wallets w on w.user_id = c.author_id
         where c.author_id = any($1::uuid[])`,
      [users.map(({ id }) => id)],
    ),
  ).until((rows) => rows.length === 16 && rows.every(({ status }) => status === 'FINAL'))
  for (const { tree_sha256, tree_signature, tree, address } of commits) {
    expect([verifyMessage(tree_sha256, tree_signature), tree]).toEqual([address, ''])
  }
  expect(await app.sql(`select reference from transfers where reference like 'refund:%'`)).toEqual([])
})

it('account deletion erases webhook responses that contain data of the buyer', async () => {
  const store = await createStore(app)
  const [user, other] = [await app.newUser(), await app.newUser()]
  for (const buyer of [user, other]) {
    const { id } = await store.order(buyer)
    expectOk(await store.confirm(buyer, id))
    await app.sql(
      `with reported as (
         insert into webhook_deliveries (event_id, network_app_id, order_id, status, attempt_count, next_attempt_at, settled_at)
         select e.id, o.network_app_id, o.id, 'DELIVERED', 1, null, now()
         from orders o join events e on e.order_id = o.id and e.type = 'order.paid' and e.owner_id = o.buyer_id
         where o.id = $1::uuid returning id
       )
       insert into webhook_attempts (delivery_id, number, duration, status_code, response)
       select id, 1, 5, 200, 'Sent to ' || $2 from reported`,
      [fromId(id)!.uuid, buyer.username],
    )
  }
  expect((await remove(user)).status).toBe(204)
  await cleanUpDeletedAccounts(app.context)
  const answers = await app.sql(
    `select a.status_code, a.response from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
       join orders o on o.id = d.order_id where o.buyer_id = any ($1::uuid[]) order by a.response`,
    [[user.id, other.id]],
  )
  expect(answers).toEqual([
    { status_code: 200, response: '' },
    { status_code: 200, response: `Sent to ${other.username}` },
  ])
})
