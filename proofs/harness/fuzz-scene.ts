/** Objects that requests refer to. They are created again when requests have used them up. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { formTokenOf } from '../../src/modules/admin/admin-session.ts'
import { type IdPrefix, toId } from '../../src/shared/ids.ts'
import { until } from '../../test/support/eventually.ts'
import { newPicture } from '../../test/support/pictures.ts'
import { fundSql } from './fund.ts'
import { leadsToSignIn } from './fuzz-admin.ts'
import { type FuzzAnswer, hasGraphQLErrors } from './fuzz-judge.ts'
import type { FuzzRequest, Kind } from './fuzz-requests.ts'
import { sendFuzz } from './fuzz-sender.ts'

export interface FuzzUser {
  id: string
  /** Public ID. */
  publicId: string
  token: string
  email: string
  password: string
}

export interface FuzzTools {
  url: string
  newUser(role: 'USER' | 'ADMIN'): Promise<FuzzUser>
  sql<Row>(text: string, values: unknown[]): Promise<Row[]>
  /** Sends a request to a target, and can inspect the response. */
  watch?(target: string, send: () => Promise<FuzzAnswer>): Promise<FuzzAnswer>
  /** True if commits reach the chain. Defaults to true. If false, requests do not wait for the chain. */
  hasChain?: boolean
}

export interface FuzzScene {
  send(request: FuzzRequest): Promise<FuzzAnswer>
  /** Number of accepted requests per target. They were rejected neither for the caller nor for invalid input. */
  letIn: Map<string, number>
  sent: Map<string, number>
}

/** Operations that fail until the chain has the commit. */
const needChain: ReadonlySet<string> = new Set(['Query.asset', 'GET /api/v3/assets/:nid/proof'])

/** Webhook URL on which no server listens. */
const HOOK = 'http://127.0.0.1:9/'

const sha256 = (text: string) => createHash('sha256').update(text).digest()

export async function openFuzzScene({
  url,
  newUser,
  sql,
  watch = (_, send) => send(),
  hasChain = true,
}: FuzzTools): Promise<FuzzScene> {
  const names = new Map<string, string>()
  const apiKey = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  let serial = 0
  let user: FuzzUser
  let admin: FuzzUser

  const fill = (text: string) =>
    text.replaceAll(/\{\{([\w.]+)\}\}/g, (whole, name: string) =>
      name === 'serial' ? String(serial) : (names.get(name) ?? whole),
    )

  async function send(request: FuzzRequest): Promise<FuzzAnswer> {
    serial += 1
    const token = { anonymous: undefined, user: user.token, admin: admin.token }[request.actor]
    const credentials: [string, string][] = token ? [['Authorization', `token ${token}`]] : []
    const headers = [...credentials, ['X-Api-Key', apiKey] as [string, string], ...request.headers]
    const message = {
      method: request.method,
      path: fill(request.path),
      headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), fill(value)])),
      raw: request.body === undefined ? undefined : Buffer.from(fill(request.body), 'latin1'),
    }
    const sent = () => sendFuzz(url, message)
    return request.target === '' ? sent() : watch(request.target, sent)
  }

  const made = async (request: Omit<FuzzRequest, 'target' | 'actor'>, actor: Kind = 'user') => {
    const answer = await send({ target: '', actor, ...request })
    if (answer.status >= 300) throw new Error(`${request.path} was answered with ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text) as { id: string }
  }
  const json = (value: object) => ({
    headers: [['Content-Type', 'application/json']] as [string, string][],
    body: JSON.stringify(value),
  })

  async function newThings() {
    // Accepts operations that only support pictures, such as Content Credentials.
    const picture = Buffer.from(await (await newPicture({ width: 8, height: 8 })).arrayBuffer()).toString('latin1')
    const form = `--b\r\nContent-Disposition: form-data; name="asset_file"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n${picture}\r\n--b--\r\n`
    const headers: [string, string][] = [['Content-Type', 'multipart/form-data; boundary=b']]
    const asset = await made({ method: 'POST', path: '/api/v3/assets/', headers, body: form })
    names.set('owner.nid', asset.id).set('owner.publicNid', asset.id)
    const body = json({ network_app: names.get('scene.sellersApp'), action_args: { a: 1 } })
    const order = await made({ method: 'POST', path: '/api/v3/store/network-app-orders/', ...body })
    names.set('owner.orderId', order.id)
    const id = async (name: string, prefix: IdPrefix, text: string) => {
      const [row] = await sql<{ id: string }>(text, [user.id])
      names.set(`owner.${name}`, toId(prefix, row?.id ?? randomUUID()))
    }
    await id(
      'commitId',
      'commit',
      'select c.id::text as id from assets a join commits c on c.asset_id = a.id where a.owner_id = $1::uuid order by c.id desc limit 1',
    )
    await id('eventId', 'event', 'select id::text as id from events where owner_id = $1::uuid order by id limit 1')
    await id('sessionId', 'session', 'select id::text as id from access_tokens where user_id = $1::uuid limit 1')
    const link = await made({ method: 'POST', path: `/api/v3/assets/${asset.id}/links/`, ...json({}) })
    names.set('owner.linkId', link.id)
    await id('auditId', 'audit', 'select id::text as id from audit_entries where user_id = $1::uuid limit 1')
    await id(
      'deliveryId',
      'delivery',
      'select id::text as id from webhook_deliveries where $1::uuid is not null order by id desc limit 1',
    )
    await id(
      'grantId',
      'grant',
      `select id::text as id from transfers where reference like 'grant:%' and $1::uuid is not null limit 1`,
    )
    await id('refundId', 'refund', 'select id::text as id from refunds where $1::uuid is not null limit 1')
    const [tree] = await sql<{ cid: string; hash: string }>(
      'select c.tree_cid as cid, a.sha256 as hash from commits c join assets a on a.id = c.asset_id where a.nid = $1',
      [asset.id],
    )
    names.set('owner.treeCid', tree!.cid).set('owner.proofHash', tree!.hash).set('owner.tag', 'tag')
  }

  const isOnChain = () =>
    until('the scene’s asset is on the chain', async () => {
      const found = await sql(
        `select 1 as one from commits c join assets a on a.id = c.asset_id join commit_relays r on r.commit_id = c.id
         where a.nid = $1 and r.status in ('INCLUDED', 'FINAL')`,
        [names.get('owner.nid')],
      )
      return found.length > 0
    })

  /** Creates a withdrawal. It can be cancelled repeatedly. */
  async function newWithdrawal() {
    await sql(fundSql, [user.id])
    const asked = { amount: '0.001', to: `0x${'e2'.repeat(20)}`, current_password: user.password }
    const { id } = await made({ method: 'POST', path: '/api/v3/wallet/withdrawals/', ...json(asked) })
    names.set('owner.withdrawalId', id)
  }

  /** Creates an admin session, as a sign-in does. */
  async function newAdminSession() {
    const secret = randomBytes(32).toString('base64url')
    await sql(
      `insert into admin_sessions (user_id, hash, password_digest)
       select id, $2::bytea, sha256(convert_to(password_hash, 'UTF8')) from users where id = $1::uuid`,
      [admin.id, sha256(secret)],
    )
    names.set('admin.session', secret).set('admin.formToken', formTokenOf(secret))
    names.set('admin.email', admin.email).set('admin.password', admin.password)
  }

  async function newPeople() {
    user = await newUser('USER')
    admin = await newUser('ADMIN')
    await sql('delete from limits', [])
    await newAdminSession()
    const key = async (secret: string) => {
      const [row] = await sql<{ id: string }>(
        'insert into api_keys (name, prefix, hash) values ($1, $2, $3) on conflict (hash) do update set revoked_at = null returning id::text as id',
        ['fuzz', secret.slice(0, 8), sha256(secret)],
      )
      return toId('key', row!.id)
    }
    await key(apiKey)
    names.set('scene.apiKeyId', await key(`${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`))
    const { id: hooked } = await made(
      {
        method: 'POST',
        path: '/api/v3/store/network-apps/',
        ...json({ name: `hooked ${randomUUID()}`, price_mode: 'fixed', price: '0.001', webhook_url: HOOK }),
      },
      'admin',
    )
    names.set('owner.appId', hooked)
    const newApp = async () => {
      const app = randomUUID()
      await sql('insert into network_apps (id, owner_id, name, price) values ($1::uuid, $2::uuid, $3, 0.001)', [
        app,
        admin.id,
        `app ${app}`,
      ])
      return toId('app', app)
    }
    names.set('scene.sellersApp', await newApp())
    names.set('owner.id', user.publicId).set('owner.email', user.email).set('owner.password', user.password)
    for (const [name, purpose] of [
      ['resetToken', 'PASSWORD_RESET'],
      ['verificationToken', 'EMAIL_VERIFICATION'],
    ]) {
      const token = randomBytes(16).toString('hex')
      names.set(`owner.${name}`, token)
      await sql(
        `insert into one_time_tokens (user_id, purpose, request_id, hash, email, expires_at)
         select id, $2::token_purpose, uuidv7(), $3::bytea, email, now() + interval '1 day' from users where id = $1::uuid
         on conflict on constraint one_time_tokens_pkey do update
           set hash = excluded.hash, email = excluded.email, expires_at = excluded.expires_at, used_at = null`,
        [user.id, purpose, sha256(token)],
      )
    }
    await newWithdrawal()
    await newThings()
    const sale = await made({
      method: 'POST',
      path: '/api/v3/store/network-app-orders/',
      ...json({ network_app: hooked }),
    })
    await made({ method: 'POST', path: `/api/v3/store/network-app-orders/${sale.id}/confirm/`, headers: [] })
    names.set('owner.paidOrderId', sale.id)
    await newThings()
  }
  await newPeople()

  const letIn = new Map<string, number>()
  const sent = new Map<string, number>()
  const count = (counts: Map<string, number>, target: string) => counts.set(target, (counts.get(target) ?? 0) + 1)
  const isLetIn = (answer: FuzzAnswer) =>
    answer.status < 400 && !hasGraphQLErrors(answer.text) && !leadsToSignIn(answer)
  /** Returns true if a caller is blocked after wrong passwords, or the session has ended. */
  const isShutOut = ({ actor, path }: FuzzRequest, answer: FuzzAnswer) =>
    actor === 'admin' && path.startsWith('/admin') && (answer.status === 429 || leadsToSignIn(answer))
  /** Returns true if a user signed out or was deleted, or a secret was used. */
  const isUsedUp = (request: FuzzRequest, answer: FuzzAnswer) => {
    const { actor, headers, isGood } = request
    return isGood
      ? !isLetIn(answer)
      : isShutOut(request, answer) ||
          (actor !== 'anonymous' &&
            !headers.some(([name]) => /^authorization$|^x-api-key$/i.test(name)) &&
            (answer.status === 401 || /"(AUTHENTICATION_FAILED|UNTRUSTED_CLIENT)"/.test(answer.text)))
  }

  return {
    letIn,
    sent,
    async send(request) {
      if (hasChain && request.isGood && needChain.has(request.target)) await isOnChain()
      let answer = await send(request)
      if (isUsedUp(request, answer)) {
        // Retries once, because requests with old objects may still be pending.
        await newPeople().catch(newPeople)
        if (request.isGood) answer = await send(request)
      } else if (serial % 100 === 0) await newThings().catch(newPeople)
      count(sent, request.target)
      if (isLetIn(answer)) count(letIn, request.target)
      return answer
    },
  }
}
