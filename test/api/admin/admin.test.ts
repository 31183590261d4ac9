/** The pages for administrators. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromId } from '../../../src/shared/ids.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { PASSWORD } from '../../support/user.ts'
import { guarded, hiddenIn, openAdminScene, type Seen } from './admin-scene.ts'

const { app, admin, store, signIn, sell } = await openAdminScene()

describe('admin pages', () => {
  it('the admin pages show the statistics of the service, with a table for each plot', async () => {
    await sell()
    const { ask } = await signIn()
    const { text } = await ask('/admin?days=7')
    for (const title of ['Revenue', 'Orders', 'Commits', 'Relay lag', 'Webhook outcomes', 'Sign-ups'])
      expect(text).toContain(`>${title}</h2>`)
    expect(text.match(/<svg class="plot"/g)).toHaveLength(6)
    const [earned] = await app.sql(
      `select trim_scale(sum(amount) filter (where currency = 'NUM'))::text as num, trim_scale(sum(amount) filter (where currency = 'POINTS'))::text as points
       from entries where book = 'REVENUE'`,
    )
    expect(text).toContain(`<td class="number">${earned!.num}</td><td class="number">${earned!.points}</td>`)
  })

  it('the admin pages show an order without its arguments, and refund it once after the password is entered', async () => {
    const { buyer, id } = await sell()
    const { ask, submit } = await signIn()
    expect((await ask('/admin/orders?status=SUCCESS')).text).toContain(id)
    const page = await ask(`/admin/orders/${id}`)
    expect(page.text).toContain(buyer.username)
    expect(page.text).not.toContain('live-token')
    const at = `/admin/orders/${id}/refund`
    expect((await ask(at)).text).toContain('2.5 can be refunded')
    const wrong = await submit(at, { amount: '1', reason: 'It <b>broke</b>', 'current-password': 'wrong' })
    expect([wrong.status, wrong.text.includes('This is not your password.')]).toEqual([400, true])
    const more = await submit(at, { amount: '3', reason: 'x', ...guarded })
    expect([more.status, more.text.includes('which can still be refunded')]).toEqual([400, true])
    const form = { ...hiddenIn((await ask(at)).text), amount: '1', reason: 'It <b>broke</b>', ...guarded }
    const sent = await Promise.all([ask(at, form), ask(at, form)])
    expect(sent.map(({ headers }) => headers.get('location'))).toEqual(
      Array(2).fill(`/admin/orders/${id}?done=refunded`),
    )
    const after = await ask(`/admin/orders/${id}?done=refunded`)
    expect(after.text).toContain('The order was refunded.')
    expect(after.text).toContain('It &lt;b&gt;broke&lt;/b&gt;')
    expect(await app.wallet(buyer)).toEqual({ num: '9.5', points: '0' })
  })

  it('the admin pages reject a changed form with a used idempotency key, and accept a second submission', async () => {
    const { buyer, id } = await sell()
    const { ask } = await signIn()
    const at = `/admin/orders/${id}/refund`
    const page = hiddenIn((await ask(at)).text)
    const first = { ...guarded, amount: '0.1', reason: 'Late' }
    for (const _ of [1, 2]) expect((await ask(at, { ...first, ...page })).status).toBe(303)
    const { num } = await app.wallet(buyer)
    const second = { ...first, amount: '0.2' }
    const refused = await ask(at, { ...second, ...page })
    expect([refused.status, refused.text.includes('This form was already submitted')]).toEqual([422, true])
    expect((await app.wallet(buyer)).num).toBe(num)
    expect((await ask(at, { ...second, ...hiddenIn(refused.text) })).status).toBe(303)
    expect(Number((await app.wallet(buyer)).num)).toBeCloseTo(Number(num) + 0.2)
  })

  it('the admin pages create a network app, change it, rotate its secret and deactivate it', async () => {
    const { ask, submit } = await signIn()
    const fields = {
      name: 'Upscale',
      price: '1.5',
      webhookUrl: 'https://hook.example.org/',
      deliveryFailurePolicy: 'REFUND',
    }
    const bad = await submit('/admin/new-app', { ...fields, price: 'much' })
    expect(bad.status).toBe(400)
    expect(bad.text).toMatch(/aria-describedby="price-rule price-problem" aria-invalid="true"/)
    expect(bad.text).toContain('value="https://hook.example.org/"')
    const made = await submit('/admin/new-app', fields)
    expect(made.text).toMatch(/<p class="secret">whsec_[\w+/=]+<\/p>/)
    const at = /\/admin\/apps\/app_\w+/.exec(made.text)![0]
    expect(
      (await submit(`${at}/edit`, { ...fields, price: '2', webhookUrl: 'https://other.example.org/' })).status,
    ).toBe(303)
    expect((await ask(at)).text).toContain('https://other.example.org/')
    expect((await submit(`${at}/rotate-secret`, guarded)).text).toMatch(/whsec_/)
    expect((await submit(`${at}/deactivate`, guarded)).headers.get('location')).toBe(`${at}?done=deactivated`)
    expect((await ask('/admin/apps?sold=no')).text).toContain('Upscale')
  })

  it('the admin pages change only the edited fields of a network app, and re-enable its webhook on request', async () => {
    const { ask, submit } = await signIn()
    const name = 'Frequently edited'
    const json = { name, price_mode: 'fixed', price: '2.5', webhook_url: 'https://gone.example.org/' }
    const { id } = expectOk(await admin.rest('POST', 'store/network-apps/', { json }))
    await app.sql('update network_apps set webhook_disabled_at = now() where id = $1::uuid', [fromId(id)!.uuid])
    const at = `/admin/apps/${id}/edit`
    const fieldsIn = ({ text }: Seen) => {
      const form = text.slice(text.indexOf('<form class="form"'))
      const inputs = [...form.matchAll(/<input [^>]*name="([^"]+)"[^>]* value="([^"]*)"/g)]
      return {
        ...Object.fromEntries(inputs.map(([, field, value]) => [field!, value!])),
        deliveryFailurePolicy: 'KEEP',
      }
    }
    const loaded = fieldsIn(await ask(at))
    // Another user raises the price while the form is open.
    expectOk(await admin.rest('PATCH', `store/network-apps/${id}/`, { json: { price: '50' } }))
    const refused = fieldsIn(await ask(at, { ...loaded, name: 'x'.repeat(101) }))
    expect((await ask(at, { ...refused, name: 'Seldom edited' })).status).toBe(303)
    const document = 'query ($id: ID!) { networkApp(id: $id) { name price webhookUrl webhookDisabledAt } }'
    const read = async () => expectOk(await admin.graphql(document, { id })).networkApp
    const changed = { name: 'Seldom edited', price: '50', webhookUrl: json.webhook_url }
    expect(await read()).toEqual({ ...changed, webhookDisabledAt: expect.any(String) })
    expect((await submit(at, { ...fieldsIn(await ask(at)), receiver: 'resume' })).status).toBe(303)
    expect(await read()).toEqual({ ...changed, webhookDisabledAt: null })
    expect((await ask(at)).text).not.toContain('Stopped webhook calls')
    expect((await submit(at, { ...fieldsIn(await ask(at)), webhookUrl: '' })).status).toBe(303)
    expect((await read()).webhookUrl).toBeNull()
  })

  it('the admin pages create an API key, show it once, and revoke it', async () => {
    const { ask, submit } = await signIn()
    const { text } = await submit('/admin/new-key', { name: 'Phone app', ...guarded })
    const key = /<p class="secret">([^<]+)<\/p>/.exec(text)![1]!
    const list = await ask('/admin/keys')
    expect(list.text).toContain(key.split('.')[0])
    expect(list.text).not.toContain(key)
    const at = /\/admin\/keys\/key_\w+\/revoke(?=" aria-label="Revoke the key of Phone app)/.exec(list.text)![0]
    expect((await ask(at)).text).toContain('<bdi>Phone app</bdi>')
    expect((await ask('/admin/keys/none/revoke')).status).toBe(404)
    expect((await submit(at, guarded)).headers.get('location')).toBe('/admin/keys?done=revoked')
    const buyer = await app.newUser()
    const json = { network_app: store.appId }
    expectError(
      await buyer.rest('POST', 'store/network-app-orders/', { json, headers: { 'x-api-key': key } }),
      'UNTRUSTED_CLIENT',
    )
  })

  it('the admin pages find an account by ID, address or name, lock it with a reason, and unlock it', async () => {
    const user = await app.newUser()
    const { ask, submit } = await signIn()
    expect((await ask('/admin/users')).text).toContain('Enter a search')
    for (const search of [user.publicId, user.email, user.username.slice(0, -1)])
      expect((await ask(`/admin/users?${new URLSearchParams({ search })}`)).text).toContain(
        `href="/admin/users/${user.publicId}"`,
      )
    expect((await ask('/admin/users?search=nobody-at-all')).text).toContain('No results.')
    const namesake = await app.newUser({ username: `${user.username}-2` })
    const both = (await ask(`/admin/users?${new URLSearchParams({ search: user.username })}`)).text
    expect(both).toContain(namesake.username)
    expect(both, 'how many there are beyond what is shown is not known').not.toContain('in all')
    const long = await ask(`/admin/users?search=${'x'.repeat(300)}`)
    expect([long.status, /aria-describedby="search-problem" aria-invalid="true"/.test(long.text)]).toEqual([400, true])
    const at = `/admin/users/${user.publicId}`
    expect((await submit(`${at}/lock`, { reason: 'Stolen', 'current-password': 'x' })).status).toBe(400)
    expectOk(await user.rest('GET', 'auth/users/me/'))
    const locked = await submit(`${at}/lock`, { reason: 'Stolen <i>telephone</i>', ...guarded })
    expect(locked.headers.get('location')).toBe(`${at}?done=locked`)
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
    const page = (await ask(`${at}?done=locked`)).text
    for (const part of ['The account is locked', 'Stolen &lt;i&gt;telephone', 'Locked since', 'account.locked'])
      expect(page).toContain(part)
    const unlocked = await submit(`${at}/unlock`, { reason: 'Found again', ...guarded })
    expect(unlocked.headers.get('location')).toBe(`${at}?done=unlocked`)
    expectOk(await app.rest('POST', 'auth/token/login/', { json: { email: user.email, password: PASSWORD } }))
    const self = await submit(`/admin/users/${admin.publicId}/lock`, { reason: 'x', ...guarded })
    expect([self.status, self.text.includes('You cannot lock or unlock your own account.')]).toEqual([400, true])
    expect((await ask(`/admin/users/${admin.publicId}`)).text).not.toContain('/lock"')
  })

  it('the admin pages send a webhook test event, and show the request and the response', async () => {
    const { ask, submit } = await signIn()
    const receiver = await startReceiver(onTestFinished, answerWith(200, {}, 'thanks <3'))
    const json = { name: 'Tried', price_mode: 'fixed', price: '1', webhook_url: receiver.url }
    const { id } = expectOk(await (await app.admin()).rest('POST', 'store/network-apps/', { json }))
    expect((await ask(`/admin/apps/${id}`)).text).toContain(`/admin/apps/${id}/test`)
    const at = (await submit(`/admin/apps/${id}/test`, {})).headers.get('location')!
    expect(at).toMatch(/^\/admin\/webhooks\/delivery_\w+\?done=tested$/)
    expect((await ask(at)).text).toContain('The receiver was not called yet.')
    expect((await ask(at)).text).toContain('Reload the page to see the response.')
    const [row] = await app.sql('select id::text from webhook_deliveries order by id desc limit 1')
    await app.jobs['webhook-delivery']({ deliveryId: row!.id! })
    const { text } = await ask(at)
    for (const part of ['&quot;type&quot;: &quot;webhook.test&quot;', 'thanks &lt;3', '200 after', 'None (test event)'])
      expect(text).toContain(part)
    expect(text).not.toContain('Load the page again')
    expect(receiver.calls).toHaveLength(1)
    expect((await ask(`/admin/webhooks?networkAppId=${id}`)).text).toContain('webhook.test')
  })

  it('the admin pages show an error next to an invalid filter, and a link on an empty page', async () => {
    const { ask } = await signIn()
    const wrong = await ask('/admin/orders?buyerId=me')
    expect([wrong.status, /id="buyerId-problem"/.test(wrong.text)]).toEqual([400, true])
    expect((await ask('/admin/orders?offset=5000')).text).toContain('No results. <a href="/admin/orders">Show all</a>')
    for (const nobody of ['order_none', '__proto__', '%zz', '%00', 'x'.repeat(5_000)])
      expect((await ask(`/admin/users/${nobody}`)).status, nobody).toBe(404)
    for (const query of ['offset=-1', 'offset=1e99', 'offset=x', 'status=lost', 'days=__proto__', 'done=constructor'])
      expect((await ask(`/admin/orders?${query}`)).status, query).toBe(200)
  })

  it('the admin pages show held coins, pending withdrawals, and deposits and withdrawals by user', async () => {
    const person = await app.newUser({ num: '1000005' })
    const json = { amount: '1000', to: `0x${'e2'.repeat(20)}`, current_password: PASSWORD }
    const { id, total } = expectOk(await person.rest('POST', 'wallet/withdrawals/', { json }))
    await app.sql(`update withdrawals set due_at = now() where wallet_id = $1::uuid`, [person.id])
    await app.sql(
      `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, freezes, shortfall, frozen_at, credited_at)
       values ('deposit:0xf0:-1', 'COIN', 'FROZEN', '0xf0', $1::uuid, 3, 1, 2, now(), now())`,
      [person.id],
    )
    const { ask } = await signIn()
    const coins = (await ask('/admin/coins')).text
    const { address } = app.chain.treasury!
    expect(coins).toContain(`The treasury needs ${total} more. Send coins to <span class="id">${address}</span>`)
    expect(coins).toMatch(/Frozen deposits<\/a>: 1\. Their users owe \d/)
    const waiting = (await ask('/admin/coins/withdrawals?status=WAITING')).text
    expect(waiting).toContain(id)
    expect(waiting).toContain(`/admin/users/${person.publicId}`)
    expect((await ask('/admin/coins/withdrawals?status=CONFIRMED')).text).not.toContain(id)
    expect((await ask(`/admin/coins/deposits?status=FROZEN&userId=${person.publicId}`)).text).toContain('0xf0')
    expect((await ask('/admin/coins/deposits?status=CREDITED')).text).not.toContain('0xf0')
    expectError(await person.graphql('{ heldCoins { treasury } }'), 'PERMISSION_DENIED')
    expectError(await person.graphql('{ accountDeposits(first: 1) { nodes { amount } } }'), 'PERMISSION_DENIED')
    expectError(await person.graphql('{ accountWithdrawals(first: 1) { nodes { amount } } }'), 'PERMISSION_DENIED')
    await app.sql(
      `update deposits set status = 'PENDING', freezes = 0, shortfall = 0, frozen_at = null, credited_at = null, block_number = 1, block_hash = '0x' where wallet_id = $1::uuid`,
      [person.id],
    )
  })

  it('the admin pages grant points, and show the audit log of all users', async () => {
    const user = await app.newUser({ points: '0' })
    const { ask, submit } = await signIn()
    const fields = { userId: user.username, amount: '5', reason: 'A present', ...guarded }
    const place = (await submit('/admin/new-grant', fields)).headers.get('location')!
    expect(place).toMatch(/^\/admin\/grants\/grant_\w{26}\?done=granted$/)
    const reported = (await ask(place)).text
    expect(reported).toContain('The points were granted.')
    for (const fact of ['<dd>5</dd>', 'A present', `href="/admin/users/${user.publicId}"`])
      expect(reported).toContain(fact)
    expect((await ask('/admin/grants/grant_none')).status).toBe(404)
    expect((await ask(`/admin/grants/${user.publicId}`)).status).toBe(404)
    expect(await app.wallet(user)).toEqual({ num: '0', points: '5' })
    const astray = await submit('/admin/new-grant', { ...fields, userId: 'nobody-at-all' })
    expect(astray.status).toBe(404)
    expect(astray.text).toMatch(/id="userId-problem">User not found\./)
    expect(astray.text).toContain('A present')
    const few = await submit('/admin/new-grant', { ...fields, amount: 'few' })
    expect([few.status, /id="amount-problem">Expected a decimal number such as 0\.179/.test(few.text)]).toEqual([
      400,
      true,
    ])
    const trail = await poll(() => ask('/admin/audit')).until(({ text }) => text.includes('points.granted'))
    expect(trail.text).toContain('admin-session.started')
    expect(trail.text).toContain(`href="${place.split('?')[0]}"`)
    const nobodys = await ask('/admin/audit?userId=nobody-at-all')
    expect([nobodys.status, /id="userId-problem"/.test(nobodys.text)]).toEqual([404, true])
    expect((await ask('/admin/nowhere')).status).toBe(404)
    expect((await ask('/admin/orders/order_none')).status).toBe(404)
  })
})
