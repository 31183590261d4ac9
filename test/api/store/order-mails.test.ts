import { beforeAll, describe, expect, it } from 'vitest'
import { type Jobs, startJobs } from '../../../src/jobs/jobs.ts'
import { fromId, toId } from '../../../src/shared/ids.ts'
import { atEnd } from '../../support/at-end.ts'
import { poll } from '../../support/eventually.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { type ParsedMail, parseMail } from '../../support/parse-mail.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import { createTestApp, type SignedIn, type TestApp } from '../../support/test-app.ts'

let server: MailServer
let app: TestApp
let owner: SignedIn
let apiKey: string
let jobs: Jobs
let goneUrl: string

beforeAll(async () => {
  server = await startMailServer(atEnd)
  app = await createTestApp({ env: { SMTP_URL: server.url, ALLOW_INSECURE_WEBHOOKS: 'true' } })
  owner = await app.admin()
  apiKey = (await owner.rest('POST', 'store/api-keys/', { json: { name: 'shop' } })).body.key
  jobs = await startJobs({ databaseUrl: app.installation.databaseUrl, log: app.log })
  // Registered after the application, because hooks run in reverse order.
  atEnd(() => jobs.stop())
  await jobs.work('mail', { concurrency: 2, pollEvery: 0.5 }, app.jobs.mail)

  goneUrl = (await startReceiver(atEnd, answerWith(410))).url
})

let apps = 0
async function newApp(fields: Record<string, unknown> = {}): Promise<{ id: string; name: string }> {
  apps += 1
  const json = { name: `Upscale ${apps}`, price_mode: 'fixed', price: '5.25', ...fields }
  const answer = await owner.rest('POST', 'store/network-apps/', { json })
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

async function buy(buyer: SignedIn, networkApp: string): Promise<string> {
  const headers = { 'x-api-key': apiKey }
  const made = await buyer.rest('POST', 'store/network-app-orders/', { headers, json: { network_app: networkApp } })
  const paid = await buyer.rest('POST', `store/network-app-orders/${made.body.id}/confirm/`, { headers })
  expect(paid.status, paid.text).toBe(200)
  return paid.body.id
}

const mailsTo = (person: SignedIn, orderId: string): ParsedMail[] =>
  server.mails
    .filter(({ to }) => to.includes(person.email))
    .map(({ source }) => parseMail(source))
    .filter(({ text }) => text.includes(orderId))

async function mailTo(person: SignedIn, orderId: string, template: string): Promise<ParsedMail> {
  const isIt = ({ headers }: ParsedMail) => headers['message-id']?.[0] === `<${template}-${orderId}@localhost>`
  const mails = await poll(() => mailsTo(person, orderId).filter(isIt)).until((found) => found.length > 0)
  return mails[0]!
}

const speak = (person: SignedIn, language: string) =>
  app.sql('update users set language = $2 where id = $1::uuid', [person.id, language])

const uuidOf = (orderId: string) => fromId(orderId, 'order')!.uuid

const transferOf = async (reference: string): Promise<string> => {
  const [row] = await app.sql<{ id: string }>('select id::text from transfers where reference = $1', [reference])
  return toId('transfer', row!.id)
}

async function callWebhook(orderId: string) {
  const rows = await app.sql<{ id: string }>('select id::text from webhook_deliveries where order_id = $1::uuid', [
    uuidOf(orderId),
  ])
  for (const { id } of rows) await app.jobs['webhook-delivery']({ deliveryId: id })
}

describe('mails about payments', () => {
  it('a payment sends the buyer a receipt with the transfer ID and the currencies used', async () => {
    const buyer = await app.newUser({ points: '3', num: '10' })
    const { id, name } = await newApp()
    const order = await buy(buyer, id)
    const { subject, text, html, headers } = await mailTo(buyer, order, 'receipt')
    const charge = await transferOf(`order:${uuidOf(order)}`)
    expect(subject).toBe(`Your receipt for ${name}`)
    for (const part of [text, html]) expect(part).toContain(charge)
    expect(text).toContain('Paid in points: 3\nPaid in NUM: 2.25\n')
    expect(headers['auto-submitted']).toEqual(['auto-generated'])
    expect(headers['content-language']).toEqual(['en'])
  })

  it("a payment sends the app owner the earnings after the platform's share", async () => {
    const buyer = await app.newUser({ points: '3', num: '10' })
    const { subject, text } = await mailTo(owner, await buy(buyer, (await newApp()).id), 'sale')
    expect(subject).toMatch(/^You sold Upscale/)
    expect(text).toContain('Platform’s share: 0.63 NUM\nEarned in points: 2.64\nEarned in NUM: 1.98\n')
    expect(text).not.toContain(buyer.username)
  })

  it("a payment sends the receipt in the buyer's language", async () => {
    const buyer = await app.newUser({ points: '12' })
    await speak(buyer, 'zh-TW')
    const order = await buy(buyer, (await newApp()).id)
    const { subject, text, html } = await mailTo(buyer, order, 'receipt')
    expect(subject).toMatch(/^Upscale \d+ 的收據$/)
    expect(text).toContain('以點數支付: 5.25')
    expect(html).toContain('<html lang="zh-TW"')
  })

  it('a payment of 0 sends a receipt that says "free of charge"', async () => {
    const buyer = await app.newUser()
    const order = await buy(buyer, (await newApp({ price: '0' })).id)
    expect((await mailTo(buyer, order, 'receipt')).text).toContain('The order is free of charge.')
  })
})

describe('orders with a failed webhook delivery', () => {
  it('a failed order stays paid if the app keeps payments, and the buyer receives a contact address', async () => {
    const buyer = await app.newUser()
    const order = await buy(buyer, (await newApp({ webhook_url: goneUrl })).id)
    await callWebhook(order)
    const { subject, text } = await mailTo(buyer, order, 'order-failed')
    expect(subject).toMatch(/could not be delivered$/)
    expect(text).toContain(`write to ${owner.email}`)
  })

  it('a failed order is refunded if the app refunds failures, and the buyer is notified of the amounts', async () => {
    const buyer = await app.newUser({ points: '3', num: '10' })
    const { id } = await newApp({ webhook_url: goneUrl })
    await owner.graphql(
      `mutation ($input: UpdateNetworkAppInput!) { updateNetworkApp(input: $input) { networkApp { id } } }`,
      { input: { id, deliveryFailurePolicy: 'REFUND' } },
    )
    const order = await buy(buyer, id)
    await callWebhook(order)
    const { subject, text } = await mailTo(buyer, order, 'automatic-refund')
    expect(subject).toMatch(/was returned$/)
    expect(text).toContain('Returned in points: 3\nReturned in NUM: 2.25\n')
    expect(text).toContain(`Refund: ${await transferOf(`order-refund:${uuidOf(order)}`)}`)
  })
})

describe('refunds by administrators', () => {
  it("each partial refund sends the buyer a mail with the reason, in the buyer's language", async () => {
    const buyer = await app.newUser({ points: '3', num: '10' })
    const { id, name } = await newApp()
    const order = await buy(buyer, id)
    const giveBack = async (json: object) => {
      const answer = await owner.rest('POST', `store/network-app-orders/${order}/refunds/`, { json })
      expect(answer.status, answer.text).toBe(201)
      return answer.body
    }
    const mailOf = async (refund: { id: string }) => {
      const isIt = ({ headers }: ParsedMail) =>
        headers['message-id']?.[0] === `<administrator-refund-${refund.id}@localhost>`
      return (await poll(() => mailsTo(buyer, order).filter(isIt)).until((found) => found.length > 0))[0]!
    }
    const part = await giveBack({ amount: '3.25', reason: 'The picture <b>is</b> blurred.' })
    const { subject, text, html } = await mailOf(part)
    expect(subject).toBe(`You received a refund for ${name}`)
    expect(text).toContain('A part of your payment')
    expect(text).toContain('Reason: The picture <b>is</b> blurred.\nReturned in points: 1\nReturned in NUM: 2.25\n')
    expect(text).toContain(`Refund: ${part.transfer_id}`)
    expect(html).not.toContain('<b>is</b>')
    await speak(buyer, 'zh-TW')
    const rest = await mailOf(await giveBack({ reason: '照片模糊' }))
    expect(rest.subject).toBe(`${name} 的退款通知`)
    expect(rest.text).toContain('原因: 照片模糊')
  })
})

describe('mail jobs for orders', () => {
  it('an order mail is retried when the mail server recovers, and is sent once', async () => {
    const buyer = await app.newUser()
    const { id } = await newApp()
    server.mood = '451'
    const order = await buy(buyer, id)
    await poll(() => app.sql(`select id::text from jobs.job where name = 'mail' and state = 'retry'`)).until(
      (rows) => rows.length === 2,
    )
    server.mood = 'accept'
    await app.sql(`update jobs.job set start_after = now() where name = 'mail' and state = 'retry'`)
    await mailTo(buyer, order, 'receipt')
    await mailTo(owner, order, 'sale')
    await poll(() => app.sql(`select id::text from jobs.job where name = 'mail' and state <> 'completed'`)).until(
      (rows) => rows.length === 0,
    )
    expect([mailsTo(buyer, order).length, mailsTo(owner, order).length]).toEqual([1, 1])
  })

  it('a mail job completes without a mail if the order is missing or the buyer is deleted', async () => {
    const before = server.visits
    await app.jobs.mail({ template: 'receipt', orderId: '01890000-0000-7000-8000-000000000000' })
    const buyer = await app.newUser()
    const order = await buy(buyer, (await newApp()).id)
    await mailTo(buyer, order, 'receipt')
    await mailTo(owner, order, 'sale')
    const visits = server.visits
    expect(visits).toBe(before + 2)
    for (const email of [`erased-${buyer.id}@erased.invalid`, `erased-${buyer.id}`]) {
      await app.sql('update users set email = $2 where id = $1::uuid', [buyer.id, email])
      await app.jobs.mail({ template: 'receipt', orderId: uuidOf(order) })
    }
    expect(server.visits).toBe(visits)
  })

  it('sends no receipt for an unpaid order, and no refund mail without a refund', async () => {
    const buyer = await app.newUser()
    const { id } = await newApp()
    const paid = await buy(buyer, id)
    await mailTo(buyer, paid, 'receipt')
    await mailTo(owner, paid, 'sale')
    const open = await buyer.rest('POST', 'store/network-app-orders/', {
      headers: { 'x-api-key': apiKey },
      json: { network_app: id },
    })
    const visits = server.visits
    await app.jobs.mail({ template: 'receipt', orderId: uuidOf(open.body.id) })
    await app.jobs.mail({ template: 'automatic-refund', orderId: uuidOf(paid) })
    expect(server.visits).toBe(visits)
  })

  it('order mail jobs log neither addresses nor mail texts', () => {
    expect(JSON.stringify(app.log.lines)).not.toMatch(/@example\.org|Upscale/)
  })
})
