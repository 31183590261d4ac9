/** Every column with personal data is declared, filled by the test, exported and erased. */

import { createHash } from 'node:crypto'
import { Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { cleanUpDeletedAccounts } from '../../src/modules/accounts/delete-account.ts'
import { fromId } from '../../src/shared/ids.ts'
import { until } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { sampleMetadata } from '../support/metadata.ts'
import { newPicture } from '../support/pictures.ts'
import { createRest } from '../support/rest-client.ts'
import { createStore } from '../support/store.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'
import { columns } from './columns.ts'

const app = await createTestApp({ withChain: true })
const admin = await app.admin()
const store = await createStore(app)

const personal = Object.entries(columns).flatMap(([table, names]) =>
  Object.entries(names).flatMap(([column, declared]) =>
    declared ? [{ name: `${table}.${column}`, table, column, ...declared }] : [],
  ),
)

const namesOf = (declared: { name: string }[]) => declared.map(({ name }) => name)

const lists: Record<string, string> = {
  asset_links: 'assetLinks',
  ...{ users: 'account', wallets: 'wallet', assets: 'assets', commits: 'commits', orders: 'orders' },
  ...{ pictures: 'pictures', refunds: 'refunds', withdrawals: 'withdrawals' },
  ...{ access_tokens: 'sessions', audit_entries: 'auditEntries', transfers: 'transfers', network_apps: 'networkApps' },
}

async function whatStands(): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (const { name, table, column } of personal) {
    const rows = await app.sql<{ value: string }>(
      `select distinct ${column}::text as value from ${table} where ${column} is not null`,
    )
    found.set(name, new Set(rows.map(({ value }) => value)))
  }
  return found
}

async function live(name: string, { language, format }: { language: string; format: 'jpeg' | 'png' }) {
  const email = `${name}@example.org`
  const account = { username: name, email, referral_code: `${name} referral`, language }
  const { id } = expectOk(await app.rest('POST', 'auth/users/', { json: { ...account, password: PASSWORD } }))
  const credentials = { json: { email, password: PASSWORD }, headers: { 'User-Agent': `${name} agent` } }
  const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', credentials))
  const { uuid } = fromId(id, 'user')!
  await app.sql(
    `with paid as (update wallets set num = num + 5 where user_id = $1::uuid returning user_id),
     moved as (insert into transfers (reference) select 'deposit:' || gen_random_uuid() from paid returning id)
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select moved.id, line.* from moved, lateral (values
       (1, $1::uuid, null::book, 'NUM'::currency, 5::numeric), (2, null, 'DEPOSITS', 'NUM', -5)) as line`,
    [uuid],
  )
  const withdrawal = { amount: '1', to: Wallet.createRandom().address, current_password: PASSWORD }
  expectOk(await app.rest('POST', 'wallet/withdrawals/', { json: withdrawal, actor: { token } }))
  const rest = createRest(app.url, { actor: { token } })
  const profile = { display_name: `${name} display`, description: `${name} description` }
  const picture = { ...profile, profile_picture: await newPicture({ width: 40 + name.length, height: 40 }) }
  expectOk(await rest('PATCH', 'auth/users/profile/', { multipart: picture }))
  expectOk(await rest('PATCH', 'auth/users/me/', { json: { default_tag: `${name} tag` } }))
  const fields = {
    asset_file: new File(
      [await (await newPicture({ width: 50 + name.length, height: 40, format })).arrayBuffer()],
      `${name}.${format}`,
      { type: `image/${format}` },
    ),
    ...sampleMetadata((column) => `${name} ${column}`),
    nit_commit_custom: JSON.stringify({ [name]: 'custom' }),
    commit_message: `${name} message`,
  }
  expectOk(await rest('POST', 'assets/', { multipart: fields, headers: { 'Idempotency-Key': `${name} key` } }))
  const [asset] = await app.sql<{ id: string; nid: string }>(
    'select id::text, nid from assets where owner_id = $1::uuid',
    [uuid],
  )
  await app.jobs.thumbnail({ assetId: asset!.id })
  expect((await rest('GET', `assets/${asset!.nid}/c2pa/`)).status).toBe(200)
  expectOk(await rest('POST', `assets/${asset!.nid}/links/`, { json: { label: `${name} friend` } }))
  await app.sql('update assets set content_credentials = $2::jsonb where id = $1::uuid', [
    asset!.id,
    JSON.stringify({ creators: [`${name} in the file`] }),
  ])
  await app.sql(
    `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret, previous_secret)
     values (uuidv7(), $1::uuid, $2, 1, $3, $4::bytea, $4::bytea)`,
    [uuid, `${name} app`, `https://${name}.example.org/hook`, Buffer.from(`${name} sealed`)],
  )
  const order = { network_app: store.appId, action_args: { [name]: 'argument' } }
  expectOk(await rest('POST', 'store/network-app-orders/', { json: order, headers: store.service }))
  const bought = expectOk(await rest('POST', 'store/network-app-orders/', { json: order, headers: store.service })).id
  expectOk(await rest('POST', `store/network-app-orders/${bought}/confirm/`, { headers: store.service }))
  const refund = { amount: '1', reason: `${name} refund` }
  expectOk(await admin.rest('POST', `store/network-app-orders/${bought}/refunds/`, { json: refund }))
  await app.sql('update users set pending_email = $2 where id = $1::uuid', [uuid, `${name}-next@example.org`])
  await app.sql(
    `insert into audit_entries (user_id, action, address, reason) values ($1::uuid, 'profile.changed', $2, $3)`,
    [uuid, `${name} address`, `${name} reason`],
  )
  await app.sql('update access_tokens set name = $2 where user_id = $1::uuid', [uuid, `${name} session`])
  await app.sql(
    `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
     values ($1::uuid, 'PASSWORD_RESET', uuidv7(), $2::bytea, $3, now())`,
    [uuid, createHash('sha256').update(name).digest(), email],
  )
  await app.sql('insert into admin_sessions (user_id, hash, password_digest) values ($1::uuid, $2::bytea, $2::bytea)', [
    uuid,
    Buffer.from(`${name} admin session`),
  ])
  const grant = { user_id: id, amount: '5', reason: `${name} gift` }
  expectOk(await admin.rest('POST', 'store/point-grants/', { json: grant }))
  return { rest }
}

function textsOf(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [String(value)]
  return [JSON.stringify(value), ...Object.values(value).flatMap(textsOf)]
}

it('the list of personal data columns matches the database', async () => {
  const rows = await app.sql<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and table_name <> '_prisma_migrations'`,
  )
  const declared = Object.entries(columns).flatMap(([table, names]) =>
    Object.keys(names).map((name) => `${table}.${name}`),
  )
  expect(declared.toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
})

it('personal data is exported and erased with the account', async () => {
  await live('before', { language: 'en', format: 'png' })
  const baseline = await whatStands()
  const { rest } = await live('somebody', { language: 'zh-tw', format: 'jpeg' })
  const unsettled = () => app.sql(`select from commit_relays where status <> 'FINAL'`)
  await until('all commits are final', async () => (await unsettled()).length === 0)
  const filled = await whatStands()
  const ownOf = (name: string) => [...filled.get(name)!].filter((value) => !baseline.get(name)!.has(value))
  const isUnseen = ({ name }: { name: string }) => ownOf(name).length === 0
  expect(namesOf(personal.filter(isUnseen)), 'no test data').toEqual([])

  const { body } = await rest('GET', 'auth/users/me/export')
  const missing = personal.filter(({ name, table, exported }) => {
    const texts = textsOf(body[lists[table]!])
    const isGiven = (value: string) =>
      value.startsWith('\\x') || texts.some((text) => text === value || isSame(text, value))
    return exported === true && !ownOf(name).some(isGiven)
  })
  expect(namesOf(missing), 'missing in the export').toEqual([])

  expect((await rest('DELETE', 'auth/users/me/')).status).toBe(204)
  // The cleanup deletes data that a running delivery may still need.
  await cleanUpDeletedAccounts(app.context)
  const left = await whatStands()
  const stays = personal.filter(
    ({ name, erased }) => erased === true && ownOf(name).some((value) => left.get(name)!.has(value)),
  )
  expect(namesOf(stays), 'not erased').toEqual([])
})

function isSame(one: string, other: string): boolean {
  if (!/^[[{]/.test(one) || !/^[[{]/.test(other)) return false
  return JSON.stringify(sorted(JSON.parse(one))) === JSON.stringify(sorted(JSON.parse(other)))
}
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
