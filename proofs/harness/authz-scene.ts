/**
 * Four users with similar data, and unique words in all private values, so that a response reveals whose secret it contains. A fifth user
 * sells to all of them and buys from all of them.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { ManifestReport } from '../../src/modules/assets/content-credentials.graphql.ts'
import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'
import { webhookSecretContext } from '../../src/modules/store/network-apps.ts'
import { type IdPrefix, toId } from '../../src/shared/ids.ts'
import { until } from '../../test/support/eventually.ts'
import { trySend } from '../../test/support/http-client.ts'
import { sampleOf } from '../../test/support/metadata.ts'
import type { PageKeys } from './authz-doors.ts'
import type { Kind } from './authz-kinds.ts'
import type { Service } from './authz-service.ts'
import type { Call } from './client.ts'
import { fundSql } from './fund.ts'
import { runSql } from './run-sql.ts'

export type Name = 'other' | 'owner' | 'admin' | 'locked'

export interface Person {
  name: Name | 'seller'
  uuid: string
  id: string
  email: string
  username: string
  password: string
  token: string
  /** Secret of an admin page session that was opened while the user was an administrator. */
  pageSecret: string
  /** Valid mailed tokens. */
  resetToken: string
  verificationToken: string
  /** Nid of a private asset. Its tag, commit and tree are also private. */
  nid: string
  publicNid: string
  tag: string
  /** Link that reads the private file without credentials. */
  fileLink: string
  /** SHA-256 hash of the file, in hexadecimal. */
  proofHash: string
  commitId: string
  treeCid: string
  /** CID of a block of the private file. */
  blockCid: string
  /** ID of an unpaid order. */
  orderId: string
  /** ID of a paid and partly refunded order. */
  paidOrderId: string
  /** ID of a session other than the one of `token`. */
  sessionId: string
  /** ID of a share link to the private asset. */
  linkId: string
  auditId: string
  /** ID of the first event in the feed. */
  eventId: string
  /** ID of the first transfer in the statement. */
  transferId: string
  depositId: string
  grantId: string
  refundId: string
  withdrawalId: string
  /** ID of a webhook delivery for an order of the seller at this user's app. */
  deliveryId: string
  appId: string
}

/** A planted word that only these callers may see in a response. */
export interface Canary {
  what: string
  text: string
  sees: readonly Name[]
}

export interface Scene {
  people: Record<Name, Person>
  sellersApp: string
  /** API key of a trusted service. */
  apiKey: string
  apiKeyId: string
  /** Returns the credentials of a caller for the admin pages. Anonymous callers send an access token of the administrator. */
  pageKeysOf(kind: Kind): PageKeys
  canaries: Canary[]
  /** Public IDs that belong to exactly one user. */
  belongings: Map<string, Name>
  /** Owners of users and assets that everyone may find, but not with all fields. */
  owners: Map<string, Name | 'seller'>
}

/** Content that extends a file to several blocks. */
const SECOND_BLOCK = '\n'.repeat(256 * 1024)

/** Returns a unique word that has the same text in every encoding. */
const word = (name: string, what: string) =>
  `canary-${name}-${what.replaceAll(/[^a-z]+/gi, '-')}-${randomBytes(6).toString('hex')}`
const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Metadata fields that can contain such a word. */
const roomy = Object.values<MetadataField>({ ...metadataFields, ...registrationFields }).filter(
  ({ size }) => size > 100,
)

/** Returns a Content Credentials manifest with planted words. */
const manifestOf = (word: (what: string) => string): ManifestReport => ({
  ...{ state: 'VALID', trustList: word('trust list'), generator: word('generator'), title: word('title') },
  ...{ signer: word('signer'), issuer: word('issuer'), signedAt: word('time'), actions: [word('action')] },
  ...{ creators: [word('creator')], digitalSourceType: word('source'), mining: [word('mining')] },
  ...{
    problems: [word('problem')],
    notChecked: [word('unchecked')],
    manifestCount: 1,
    checkedAt: '2026-11-21T00:00:00.000Z',
    remoteManifestUrl: word('url'),
  },
})

export async function openScene({
  url,
  app,
  installation: { database, envelopeCipher },
  chain: { relay },
}: Service): Promise<Scene> {
  const canaries: Canary[] = []
  const belongings = new Map<string, Name>()
  const owners: Scene['owners'] = new Map()
  const sql = <Row = Record<string, string>>(text: string, values: unknown[] = []) =>
    runSql<Row>(database, text, values)
  async function ask<Body>(call: Call): Promise<Body> {
    const answer = await trySend(url, call)
    if (answer.status === 0 || answer.status >= 300)
      throw new Error(`${call.path} was answered with ${JSON.stringify(answer)}`)
    return answer.body
  }
  const plant = (name: Person['name'], what: string, sees: readonly Name[] = name === 'seller' ? [] : [name]) => {
    const text = word(name, what)
    canaries.push({ what: `${name}’s ${what}`, text, sees })
    return text
  }
  const own = (name: Name, what: string, text: string, sees: readonly Name[] = [name]) =>
    void canaries.push({ what: `${name}’s ${what}`, text, sees })

  const apiKey = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  canaries.push({ what: 'the API key', text: apiKey, sees: [] })
  const [key] = await sql<{ id: string }>(
    'insert into api_keys (name, prefix, hash) values ($1, $2, $3) returning id',
    [plant('admin', 'API key’s name'), apiKey.slice(0, 8), sha256(apiKey)],
  )

  async function openApp(person: Pick<Person, 'name' | 'uuid'>): Promise<string> {
    const id = randomUUID()
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    canaries.push({ what: `${person.name}’s webhook secret`, text: secret, sees: [] })
    // A user who is no longer an administrator still has it in their export.
    const seesWebhook: Name[] = person.name === 'seller' ? ['admin'] : [person.name, 'admin']
    const sealed = await envelopeCipher.seal(secret, webhookSecretContext(id))
    await sql(
      `insert into network_apps (id, owner_id, name, price, webhook_url, webhook_secret)
       values ($1::uuid, $2::uuid, $3, 1, $4, $5::bytea)`,
      [
        id,
        person.uuid,
        `app of ${person.name}`,
        `https://${plant(person.name, 'webhook', seesWebhook)}.example.org/`,
        sealed,
      ],
    )
    return toId('app', id)
  }

  /** Creates an order. Its arguments are visible to the buyer and to the owner of the app. */
  async function order(person: Person, appId: string, sees?: readonly Name[]): Promise<string> {
    const { id } = await ask<{ id: string }>({
      method: 'POST',
      path: '/api/v3/store/network-app-orders/',
      token: person.token,
      apiKey,
      json: { network_app: appId, action_args: { token: plant(person.name, 'order’s arguments', sees) } },
    })
    return id
  }
  const pay = (person: Person, orderId: string) =>
    ask({ method: 'POST', path: `/api/v3/store/network-app-orders/${orderId}/confirm/`, token: person.token, apiKey })

  async function register(person: Person, isPublic: boolean): Promise<string> {
    const secretly = (what: string) => (isPublic ? `${person.name}’s public ${what}` : plant(person.name, what))
    const multipart = {
      asset_file: new File([secretly('file'), isPublic ? '' : SECOND_BLOCK], `${secretly('file’s name')}.txt`, {
        type: 'text/plain',
      }),
      public_access: String(isPublic),
      ...Object.fromEntries(roomy.map((field) => [field.column, sampleOf(field, secretly(`first ${field.column}`))])),
      nit_commit_custom: JSON.stringify({ text: secretly('custom field') }),
      commit_message: secretly('first commit message'),
    }
    const path = '/api/v3/assets/'
    const { id } = await ask<{ id: string }>({ path, token: person.token, multipart })
    const json = { caption: secretly('caption'), commit_message: secretly('commit message') }
    await ask({ method: 'PATCH', path: `${path}${id}/`, token: person.token, json })
    return id
  }

  async function openPerson(name: Person['name']): Promise<Person> {
    const person = { name, username: name, password: `password of ${name}` } as Person
    person.email = `${plant(name, 'address')}@example.org`
    const account = { username: name, email: person.email, password: person.password, language: 'de-de' }
    const referral = { referral_code: plant(name, 'referral code') }
    await ask({ method: 'POST', path: '/api/v3/auth/users/', json: { ...account, ...referral } })
    const signIn = async () => {
      const credentials = { email: person.email, password: person.password, device: plant(name, 'session’s name') }
      const path = '/api/v3/auth/token/login/'
      const { auth_token } = await ask<{ auth_token: string }>({ method: 'POST', path, json: credentials })
      canaries.push({ what: `${name}’s access token`, text: auth_token, sees: [] })
      return auth_token
    }
    await signIn()
    person.token = await signIn()
    const { id } = await ask<{ id: string }>({ method: 'GET', path: '/api/v3/auth/users/me/', token: person.token })
    person.id = id
    const [{ uuid } = { uuid: '' }] = await sql<{ uuid: string }>(
      'select id::text as uuid from users where username = $1',
      [name],
    )
    person.uuid = uuid
    const json = { default_tag: plant(name, 'default tag') }
    await ask({ method: 'PATCH', path: '/api/v3/auth/users/me/', token: person.token, json })
    person.appId = await openApp(person)
    return person
  }

  /** Opens an admin page session, as if the user were still an administrator. */
  async function openPages(person: Person): Promise<void> {
    person.pageSecret = plant(person.name, 'secret of the pages', [])
    await sql(
      `insert into admin_sessions (user_id, hash, password_digest)
       select id, $2::bytea, sha256(convert_to(password_hash, 'UTF8')) from users where id = $1::uuid`,
      [person.uuid, sha256(person.pageSecret)],
    )
  }

  /** Returns the form token of the user's admin pages. */
  async function readFormToken({ pageSecret }: Person): Promise<string> {
    const { text } = await trySend(url, { path: '/admin', headers: { cookie: `annal-admin=${pageSecret}` } })
    const [, found] = /name="form-token" value="([^"]+)"/.exec(text) ?? []
    if (found === undefined) throw new Error(`The page has no form: ${text.slice(0, 300)}`)
    return found
  }

  async function give(person: Person, from: Person): Promise<void> {
    // A unique amount that no other wallet has.
    const amount = `1000.${randomBytes(4).readUInt32BE() % 900_000_000}7`
    // The administrator who grants points knows the reason.
    const sees: Name[] = person.name === 'seller' ? ['admin'] : [person.name, 'admin']
    const json = { user_id: person.id, amount, reason: plant(person.name, 'grant’s reason', sees) }
    await ask({ method: 'POST', path: '/api/v3/store/point-grants/', token: from.token, json })
  }

  async function refund(person: Person & { name: Name }): Promise<void> {
    const path = `/api/v3/store/network-app-orders/${person.paidOrderId}/refunds/`
    // The administrator who refunds knows the reason.
    const reason = plant(person.name, 'refund’s reason', [person.name, 'admin'])
    await ask({ method: 'POST', path, token: people.admin.token, json: { amount: '0.1', reason } })
  }

  async function link({ name, nid, token }: Person & { name: Name }): Promise<void> {
    const json = { label: plant(name, 'label of a link') }
    await ask({ method: 'POST', path: `/api/v3/assets/${nid}/links/`, token, json })
  }

  async function withdraw({ uuid, token, password }: Person & { name: Name }): Promise<void> {
    await sql(fundSql, [uuid])
    const json = { amount: '1', to: `0x${'e2'.repeat(20)}`, current_password: password }
    await ask({ method: 'POST', path: '/api/v3/wallet/withdrawals/', token, json })
  }

  async function equip(person: Person & { name: Name }, seller: Person, sellersApp: string): Promise<void> {
    const { name, uuid } = person
    await openPages(person)
    person.nid = await register(person, false)
    person.publicNid = await register(person, true)
    await link(person)
    person.paidOrderId = await order(person, sellersApp)
    await pay(person, person.paidOrderId)
    await refund(person)
    await withdraw(person)
    person.orderId = await order(person, sellersApp)
    await pay(seller, await order(seller, person.appId, [name]))
    person.resetToken = plant(name, 'reset token', [])
    person.verificationToken = plant(name, 'verification token', [])
    const pending = `${plant(name, 'pending address')}@example.org`
    await sql('update users set pending_email = $2 where id = $1::uuid', [uuid, pending])
    await sql(
      `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
       select u.id, t.purpose::token_purpose, uuidv7(), t.hash, t.address, now() + interval '1 day' from users u,
         (values ('PASSWORD_RESET', $2::bytea, $4), ('EMAIL_VERIFICATION', $3::bytea, $5)) as t (purpose, hash, address) where u.id = $1::uuid`,
      [uuid, sha256(person.resetToken), sha256(person.verificationToken), person.email, pending],
    )
    await sql(
      `insert into deposits (reference, kind, status, transaction_hash, wallet_id, amount, block_number, block_hash)
       values ('deposit:' || $2 || ':-1', 'COIN', 'PENDING', $2, $1::uuid, 3, 1, '0x')`,
      [uuid, plant(name, 'transaction of a deposit', [name, 'admin'])],
    )
    await sql('update assets set content_credentials = $2::jsonb where nid = $1', [
      person.nid,
      JSON.stringify(manifestOf((what) => plant(name, `manifest’s ${what}`))),
    ])
    const [delivery] = await sql<{ id: string }>(
      'select d.id from webhook_deliveries d join network_apps a on a.id = d.network_app_id where a.owner_id = $1::uuid',
      [uuid],
    )
    person.deliveryId = toId('delivery', delivery!.id)
    await sql(
      `insert into webhook_attempts (delivery_id, number, duration, status_code, failure, response)
       values ($1::uuid, 1, 5, 500, 'It did not answer.', $2)`,
      [delivery!.id, plant(name, 'receiver’s answer', ['admin'])],
    )
    await sql(
      `do $$ begin set local session_replication_role = replica;
         update audit_entries set address = '${plant(name, 'network address', [name, 'admin'])}' where user_id = '${uuid}'; end $$`,
    )
  }

  async function untilWritten(): Promise<void> {
    const waiting = `select 1 from commit_relays where status in ('PENDING', 'BROADCAST') limit 1`
    await until('all commits are on the chain', async () => (await sql(waiting)).length === 0, 60_000, 100)
  }

  /** Reads the IDs of all data of a user from the tables. */
  async function note(person: Person & { name: Name }): Promise<void> {
    const { name, uuid } = person
    const ids = async (prefix: IdPrefix, from: string) =>
      (await sql<{ id: string }>(`select x.id::text as id from ${from} order by x.id`, [uuid])).map(({ id }) =>
        toId(prefix, id),
      )
    const claim = (what: string, found: string[], sees?: readonly Name[]) => {
      if (found.length === 0) throw new Error(`${name} has no ${what}.`)
      for (const id of found) {
        belongings.set(id, name)
        own(name, what, id, sees)
      }
      return found
    }
    const andAdmin = [name, 'admin'] as const
    const sessions = claim('session', await ids('session', 'access_tokens x where x.user_id = $1::uuid'), andAdmin)
    person.sessionId = sessions[0]!
    person.auditId = claim(
      'audit entry',
      await ids('audit', 'audit_entries x where x.user_id = $1::uuid'),
      andAdmin,
    )[0]!
    person.eventId = claim('event', await ids('event', 'events x where x.owner_id = $1::uuid'), andAdmin)[0]!
    claim('order', await ids('order', 'orders x where x.buyer_id = $1::uuid'), andAdmin)
    const transfers = '(select distinct transfer_id as id from entries where wallet_id = $1::uuid) x'
    const refundTransfers =
      'select r.transfer_id from refunds r join orders o on o.id = r.order_id where o.buyer_id = $1::uuid'
    person.transferId = claim(
      'transfer',
      await ids('transfer', `${transfers} where x.id not in (${refundTransfers})`),
    )[0]!
    // The administrator who refunds sees the transfer ID of the buyer's statement.
    claim('transfer of a refund', await ids('transfer', `(${refundTransfers}) x (id)`), andAdmin)
    person.depositId = claim('deposit', await ids('deposit', 'deposits x where x.wallet_id = $1::uuid'), andAdmin)[0]!
    const grants = `(select distinct e.transfer_id from entries e join transfers t on t.id = e.transfer_id
      where e.wallet_id = $1::uuid and t.reference like 'grant:%') x (id)`
    person.grantId = claim('grant', await ids('grant', grants), andAdmin)[0]!
    const refunds = 'refunds x join orders o on o.id = x.order_id where o.buyer_id = $1::uuid'
    person.refundId = claim('refund', await ids('refund', refunds), andAdmin)[0]!
    const withdrawals = 'withdrawals x where x.wallet_id = $1::uuid'
    person.withdrawalId = claim('withdrawal', await ids('withdrawal', withdrawals), andAdmin)[0]!
    const commits = 'commits x join assets a on a.id = x.asset_id where a.owner_id = $1::uuid and not a.public_access'
    person.commitId = claim('private commit', await ids('commit', commits))[0]!
    claim('private asset', [person.nid])
    const assets = await sql<{ nid: string }>('select nid from assets where owner_id = $1::uuid', [uuid])
    for (const id of [person.id, ...assets.map(({ nid }) => nid)]) owners.set(id, name)
    const links = 'asset_links x join assets a on a.id = x.asset_id where a.owner_id = $1::uuid'
    person.linkId = claim('link', await ids('link', links))[0]!
    const trees = await sql<{ cid: string; hash: string; tag: string }>(
      'select c.tree_cid as cid, a.sha256 as hash, a.tag from commits c join assets a on a.id = c.asset_id where a.nid = $1 order by c.sequence',
      [person.nid],
    )
    person.treeCid = claim(
      'private tree',
      trees.map(({ cid }) => cid),
    )[0]!
    person.proofHash = trees[0]!.hash
    person.tag = trees[0]!.tag
    // Requesting a block adds the file to the block index.
    await ask({ method: 'GET', path: `/ipfs/${person.nid}?format=raw`, token: person.token })
    const blocks = await sql<{ cid: string }>(
      'select b.cid from asset_blocks b join assets a on a.id = b.asset_id where a.nid = $1 and b.cid <> $1',
      [person.nid],
    )
    person.blockCid = claim(
      'private block',
      blocks.map(({ cid }) => cid),
      [],
    )[0]!
    const [asset] = await sql<{ id: string }>('select id from assets where nid = $1 and deleted_at is null', [
      person.nid,
    ])
    person.fileLink = app.context.linkConfig.publicUrl + app.context.linkConfig.signFilePath(asset!.id, person.nid)
    const [wallet] = await sql<{ num: string; points: string; hash: string }>(
      `select trim_scale(points)::text as points, u.password_hash as hash from wallets w join users u on u.id = w.user_id where u.id = $1::uuid`,
      [uuid],
    )
    own(name, 'balance', wallet!.points)
    canaries.push({ what: `${name}’s password hash`, text: wallet!.hash, sees: [] })
  }

  const seller = await openPerson('seller')
  const people = {
    other: await openPerson('other'),
    owner: await openPerson('owner'),
    admin: await openPerson('admin'),
    locked: await openPerson('locked'),
  } as Record<Name, Person & { name: Name }>
  await sql(`update users set role = 'ADMIN' where username in ('admin', 'locked')`)
  for (const person of Object.values(people)) await give(person, people.admin)
  relay.start()
  // The owner's asset must be the newest, so that it is on the first page of lists.
  for (const person of [people.other, people.admin, people.locked, people.owner]) {
    await equip(person, seller, seller.appId)
    // Wait for the commit, because a proof contains the receipts of whole blocks. Users must not share a block.
    await untilWritten()
  }
  await relay.stop()
  for (const person of Object.values(people)) await note(person)
  owners.set(seller.id, 'seller')
  await sql(`update users set locked_at = now() where username = 'locked'`)
  const formToken = await readFormToken(people.admin)
  return {
    ...{ people, sellersApp: seller.appId, apiKey, apiKeyId: toId('key', key!.id), canaries, belongings, owners },
    pageKeysOf: (kind) => ({
      secret: kind === 'anonymous' ? people.admin.token : people[kind].pageSecret,
      formToken,
    }),
  }
}
