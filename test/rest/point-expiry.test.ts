/** Points that expire: when they can be spent, which of them go first, and that one wallet holds up no other. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { failCommit } from '../../src/domain/asset/fail-commit.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { expireGrants } from '../support/grants.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { createStore, type TestStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const admin = await app.admin()
const store = await createStore(app, { price: '1' })
const { grants } = app.services

const give = async (user: SignedIn, amount: string, hours?: number): Promise<string> => {
  const expires_at = hours === undefined ? undefined : new Date(Date.now() + hours * 3_600_000).toISOString()
  const json = { user_id: user.publicId, amount, reason: 'A present', expires_at }
  return expectOk(await admin.rest('POST', 'store/point-grants/', { json })).id
}

/** What remains of a user's grants, soonest to expire first. */
const remains = async (user: SignedIn) =>
  (
    await app.sql<{ remaining: string | null }>(
      'select trim_scale(remaining)::text as remaining from point_grants where wallet_id = $1::uuid order by expires_at',
      [user.id],
    )
  ).map(({ remaining }) => remaining)

/** Points that a user's transfers of one kind moved. */
const moved = async (user: SignedIn, kind: string) =>
  (
    await app.sql<{ amount: string }>(
      `select trim_scale(e.amount)::text as amount from entries e join transfers t on t.id = e.transfer_id
       where e.wallet_id = $1::uuid and e.currency = 'POINTS' and t.reference like $2 || ':%' order by t.id`,
      [user.id, kind],
    )
  ).map(({ amount }) => amount)

const confirmAll = async (user: SignedIn, count: number, shop: TestStore = store) => {
  const orders = await Promise.all(Array.from({ length: count }, () => shop.order(user)))
  return Promise.all(orders.map(({ id }) => shop.confirm(user, id)))
}

describe('points whose time is over', () => {
  it('pay for nothing from that moment on, though no sweep has come, and are shown nowhere', async () => {
    const user = await app.newUser({ points: '0' })
    await give(user, '5', 1)
    const orders = await Promise.all(Array.from({ length: 6 }, () => store.order(user)))
    const { id: nid } = await user.register()
    await expireGrants(app, user)

    const confirms = await Promise.all(orders.map(({ id }) => store.confirm(user, id)))
    for (const answer of confirms) {
      const { body } = expectError(answer, 'INSUFFICIENT_FUND')
      expect(body.error.details).toMatch(/^Available 0, missing 1\./)
    }
    expectError(
      await user.rest('PATCH', `assets/${nid}/`, { json: { caption: 'Late' } }),
      'ASSET_COMMIT_INSUFFICIENT_FUND',
    )
    const request = { json: { network_app: store.appId }, headers: store.service }
    expectError(await user.rest('POST', 'store/network-app-orders/', request), 'INSUFFICIENT_FUND')

    const me = expectOk(await user.rest('GET', 'auth/users/me/'))
    expect([me.points, me.user_wallet.points]).toEqual(['0.000', '0.000'])
    const { wallet } = expectOk(await user.graphql('{ me { wallet { points spendable } } }')).me
    expect(wallet).toEqual({ points: '0', spendable: '0' })
    const quote = 'query ($input: QuoteInput!) { quote(input: $input) { points available missing } }'
    expect(
      expectOk(await user.graphql(quote, { input: { updateAssetMetadata: { id: nid, caption: 'x' } } })).quote,
    ).toEqual({ points: '0', available: '0', missing: '0.179' })
    expect(expectOk(await user.rest('GET', 'auth/users/me/export/')).wallet.points).toBe('0')

    // The books say so when the sweep has come.
    expect(await app.wallet(user)).toEqual({ num: '0', points: '4.821' })
    expect(await grants.sweep()).toBe(1)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '0' })
    expect([await moved(user, 'order'), await moved(user, 'grant-expiry')]).toEqual([[], ['-4.821']])
  })

  it('leave what never expires to be spent, to the last of it', async () => {
    const user = await app.newUser({ points: '2', num: '0.5' })
    await give(user, '5', 1)
    await expireGrants(app, user)
    const answers = await confirmAll(user, 4)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(await app.wallet(user)).toEqual({ num: '0.5', points: '5' })
    await grants.sweep()
    expect(await app.wallet(user)).toEqual({ num: '0.5', points: '0' })
  })
})

describe('grants are spent', () => {
  it('soonest to expire first, then points that never expire, however many charges come at once', async () => {
    const user = await app.newUser()
    await give(user, '3', 2)
    await give(user, '2', 1)
    await give(user, '7')
    const answers = await confirmAll(user, 4)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await remains(user)).toEqual(['0', '1', null])
    expect(await app.wallet(user)).toEqual({ num: '0', points: '20' })
    await confirmAll(user, 3)
    expect(await remains(user)).toEqual(['0', '0', null])
    await expireGrants(app, user)
    expect(await grants.sweep()).toBe(2)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '17' })
    expect(await moved(user, 'grant-expiry')).toEqual([])
  })

  it('by commits as by orders', async () => {
    const user = await app.newUser()
    await give(user, '0.2', 1)
    const { id } = await user.register()
    expect(await remains(user)).toEqual(['0.021'])
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'New' } }))
    expect(await remains(user)).toEqual(['0'])
    expect(await app.wallet(user)).toEqual({ num: '0', points: '11.842' })
  })

  it('and get back what a refund returns, as long as they are valid', async () => {
    const [valid, late] = [await app.newUser(), await app.newUser()]
    for (const user of [valid, late]) {
      await give(user, '1', 1)
      await user.register()
      expect(await remains(user)).toEqual(['0.821'])
    }
    await expireGrants(app, late)
    const commits = await app.sql<{ id: string; author_id: string }>(
      'select id::text, author_id::text from commits where author_id in ($1::uuid, $2::uuid)',
      [valid.id, late.id],
    )
    expect(commits).toHaveLength(2)
    for (const { id } of commits)
      await app.installation.database.query(failCommit, { commit: id, reason: 'for a test' })
    expect([await remains(valid), await remains(late)]).toEqual([['1'], ['0.821']])
    await grants.sweep()
    // What came back after the grant's time never expires.
    expect([await app.wallet(valid), await app.wallet(late)]).toEqual([
      { num: '0', points: '13' },
      { num: '0', points: '12.179' },
    ])
  })

  it('and get back what the refund of an order returns, also that of one who buys from themselves', async () => {
    const receiver = await startReceiver(onTestFinished, answerWith(410))
    const seller = await app.admin()
    const buyer = await app.newUser({ points: '0', num: '2' })
    const json = {
      name: 'gone',
      price_mode: 'fixed',
      price: '2',
      webhook_url: receiver.url,
      delivery_failure_policy: 'refund',
    }
    const { id: network_app } = expectOk(await seller.rest('POST', 'store/network-apps/', { json }))
    await give(buyer, '1.5', 1)
    await give(seller, '2', 1)
    for (const person of [buyer, seller]) {
      const order = await store.order(person, { network_app })
      expectOk(await store.confirm(person, order.id))
    }
    expect([await remains(buyer), await remains(seller)]).toEqual([['0'], ['0']])
    // What the seller earned and has spent since is not taken of what comes back.
    const spent = await confirmAll(seller, 3)
    expect(spent.filter(({ status }) => status === 200)).toHaveLength(3)
    for (const { id } of await app.sql<{ id: string }>('select id::text from webhook_deliveries order by id')) {
      await app.jobs.webhookDelivery({ deliveryId: id })
      await app.sql(`update network_apps set webhook_disabled_at = null where name = 'gone'`)
    }
    const statuses = await app.sql('select distinct status::text from orders where network_app_name = $1', ['gone'])
    expect(statuses).toEqual([{ status: 'REFUNDED' }])
    expect(await remains(buyer)).toEqual(['1.5'])
    expect(await app.wallet(buyer)).toEqual({ num: '2', points: '1.5' })
    const [kept] = await remains(seller)
    expect(Number(kept)).toBeLessThanOrEqual(Number((await app.wallet(seller)).points))
  })

  it('and end with the account, whose points are forfeited', async () => {
    const user = await app.newUser({ points: '1' })
    await give(user, '2', 1)
    expect((await user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect(await remains(user)).toEqual(['0'])
    expect([await app.wallet(user), await moved(user, 'forfeit')]).toEqual([{ num: '0', points: '0' }, ['-3']])
    expect(await grants.sweep()).toBe(0)
  })
})

describe('the sweep', () => {
  it('closes the grants of everybody else when one wallet fails, and leaves that one alone for a while', async () => {
    const [bad, good] = [await app.newUser(), await app.newUser()]
    await give(bad, '1', 1)
    await expireGrants(app, bad)
    await give(good, '1', 1)
    await expireGrants(app, good)
    await app.sql(`create function test_refuse() returns trigger language plpgsql as
      $$ begin if new.user_id = tg_argv[0]::uuid then raise exception 'for a test'; end if; return new; end $$`)
    await app.sql(
      `create trigger test_refuse before update on wallets for each row execute function test_refuse('${bad.id}')`,
    )
    const complaints = () => app.log.lines.filter(({ message }) => message.startsWith('Sweep failed for some items'))
    expect(await grants.sweep()).toBe(1)
    expect(await grants.sweep()).toBe(0)
    expect(complaints()).toMatchObject([{ level: 'error', fields: { sweep: 'expire-points', items: [bad.publicId] } }])
    expect([await remains(bad), await remains(good)]).toEqual([['1'], ['0']])
    await app.sql('drop trigger test_refuse on wallets')
  })
})
