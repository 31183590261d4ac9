/** A life of accounts, keys and sales in which every secret of the service is made and used, by both doors. */
import { int, statement, text } from '../../src/domain/sql.ts'
import { until } from '../../test/support/eventually.ts'
import type { Answer } from '../../test/support/http-client.ts'
import { linkIn, mailsOf } from '../../test/support/read-mails.ts'
import { newText, readPrivateKey, type Scene } from './leak-scene.ts'

export interface Story {
  /** Of the account that administers. */
  session: Record<string, string>
  email: string
  username: string
}

const need = (got: Answer, status: number): Answer => {
  if (got.status !== status || got.text.includes('"errors":['))
    throw new Error(`Answered with ${got.status}: ${got.text}`)
  return got
}

const type = { 'content-type': 'application/json' }

export function createDoors({ transcript }: Scene) {
  const rest = async (path: string, body: object | undefined, headers = {}, tells: string[] = [], method = 'POST') =>
    transcript.ask(
      {
        method,
        path: `/api/v3/${path}`,
        headers: { ...type, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      },
      tells,
    )
  const graphql = async <T>(query: string, input?: object, headers = {}, tells: string[] = []): Promise<T> => {
    const body = JSON.stringify({ query, ...(input && { variables: { input } }) })
    const got = need(await transcript.ask({ path: '/graphql', headers: { ...type, ...headers }, body }, tells), 200)
    return got.body.data as T
  }
  return { rest, graphql }
}

const SIGN_IN = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
const tokenHeader = (token: string) => ({ authorization: `token ${token}` })

/** Signs up and in by every body, and out again. */
async function signIn(scene: Scene, username: string, email: string) {
  const { rest, graphql } = createDoors(scene)
  const { transcript, add, canaries } = scene
  const password = () => canaries.get('password')!.text
  add('password', newText())
  add('wrong password', newText())
  add('idempotency key', newText(32))
  const key = { 'idempotency-key': canaries.get('idempotency key')!.text }
  const account = { username, email, password: password() }
  need(await rest('auth/users/', account, key), 201)
  need(await rest('auth/users/', account, key), 201)
  const other = await rest('auth/users/', { ...account, password: `${password()}!` }, key)
  if (other.status < 400) throw new Error('A key was taken for two payloads.')
  const login = { email, password: password() }
  const token = need(await rest('auth/token/login/', login, {}, ['access token']), 200).body.auth_token as string
  add('access token', token, Buffer.from(token, 'hex'))
  const second = await graphql<{ signIn: { token: string } }>(SIGN_IN, login, {}, ['ended access token'])
  add('ended access token', second.signIn.token, Buffer.from(second.signIn.token, 'hex'))
  need(await rest('auth/token/logout/', {}, tokenHeader(second.signIn.token)), 204)
  for (const [name, from] of [
    ['access token of a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['access token of parts', { 'content-type': 'multipart/form-data; boundary=b' }],
  ] as const) {
    const part = ([field, value]: [string, string]) =>
      `--b\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`
    const body = from['content-type'].startsWith('multipart')
      ? `${Object.entries(login).map(part).join('')}--b--\r\n`
      : new URLSearchParams(login).toString()
    const got = need(await transcript.ask({ path: '/api/v3/auth/token/login/', headers: from, body }, [name]), 200)
    add(name, got.body.auth_token as string)
  }
  const wrong = { email, password: canaries.get('wrong password')!.text }
  await rest('auth/token/login/', wrong)
  await transcript.ask({
    path: '/graphql',
    headers: type,
    body: JSON.stringify({ query: SIGN_IN, variables: { input: wrong } }),
  })
  return tokenHeader(token)
}

/** Changes and resets the password, by the REST door, by GraphQL and by the page; verifies the address. */
async function reset(scene: Scene, email: string, session: Record<string, string>) {
  const { rest, graphql } = createDoors(scene)
  const { add, canaries, mailServer, transcript } = scene
  const textOf = (name: string) => canaries.get(name)!.text
  const arrived = (kind: 'password-reset' | 'email-verification', but: readonly string[] = []) =>
    until('a mail with a link', () => {
      const mail = mailsOf(mailServer, kind, { to: email }).at(-1)
      const link = mail && linkIn(mail)
      return link && !but.includes(link.token) && link
    })
  const verification = await arrived('email-verification')
  add('verification token', verification.token, Buffer.from(verification.token, 'base64url'))
  need(await rest('auth/users/activation/', verification), 204)
  add('changed password', newText())
  const change = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { user { id } } }'
  await graphql(change, { currentPassword: textOf('password'), newPassword: textOf('changed password') }, session)

  const known: string[] = []
  const setBy = [
    (link: { uid: string; token: string }, password: string) =>
      rest('auth/users/reset_password_confirm/', { ...link, new_password: password }).then((got) => need(got, 204)),
    ({ uid, token }: { uid: string; token: string }, newPassword: string) =>
      graphql('mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { user { id } } }', {
        uid,
        token,
        newPassword,
      }),
    async ({ uid, token }: { uid: string; token: string }, password: string) => {
      const path = `/account/password-reset/${uid}/${token}`
      need(await transcript.ask({ method: 'GET', path }), 200)
      const body = new URLSearchParams({ 'new-password': password, 'new-password-again': password }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const mismatch = new URLSearchParams({
        'new-password': password,
        'new-password-again': `${password}!`,
      }).toString()
      await transcript.ask({ path, headers, body: mismatch })
      const got = await transcript.ask({ path, headers, body })
      if (got.status >= 400) throw new Error(`The page answered with ${got.status}.`)
      await transcript.ask({ path, headers, body })
    },
  ]
  for (const [index, set] of setBy.entries()) {
    // The first link goes out only after the mail server has refused a few times.
    if (index === 0) {
      const patience = mailServer.visits + 2
      mailServer.mood = (visit) => (visit < patience ? '535' : 'accept')
    }
    need(await rest('auth/users/reset_password/', { email }), 201)
    const link = await arrived('password-reset', known)
    known.push(link.token)
    const suffix = ['', ' by GraphQL', ' by the page'][index]!
    add(`reset token${suffix}`, link.token, Buffer.from(link.token, 'base64url'))
    add(`reset password${suffix}`, newText())
    await set(link, textOf(`reset password${suffix}`))
  }
  const login = { email, password: textOf('reset password by the page') }
  const token = need(await rest('auth/token/login/', login, {}, ['last access token']), 200).body.auth_token as string
  add('last access token', token, Buffer.from(token, 'hex'))
  return tokenHeader(token)
}

/** Keys of trusted services, apps with webhooks, and sales whose arguments hold a live token. */
async function trade(scene: Scene, session: Record<string, string>) {
  const { rest, graphql } = createDoors(scene)
  const { add, receiver } = scene
  const keyOf = (got: Answer) => need(got, 201).body as { id: string; key: string }
  const { key } = keyOf(await rest('store/api-keys/', { name: 'one' }, session, ['API key']))
  add('API key', key, Buffer.from(key.split('.')[1]!, 'base64url'), 9)
  const ended = keyOf(await rest('store/api-keys/', { name: 'two' }, session, ['ended API key']))
  add('ended API key', ended.key, Buffer.from(ended.key.split('.')[1]!, 'base64url'), 9)
  need(await rest(`store/api-keys/${ended.id}/`, undefined, session, [], 'DELETE'), 204)
  await rest('auth/users/', {}, { 'x-api-key': ended.key })

  const secretOf = (name: string, secret: string) => add(name, secret, Buffer.from(secret.slice(6), 'base64'), 6)
  const app = need(
    await rest(
      'store/network-apps/',
      { name: 'shop', price_mode: 'fixed', price: '1', webhook_url: receiver.url },
      session,
      ['webhook secret'],
    ),
    201,
  ).body
  secretOf('webhook secret', app.webhook_secret as string)
  const rotate = 'mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { webhookSecret } }'
  const rotated = await graphql<{ rotateWebhookSecret: { webhookSecret: string } }>(rotate, { id: app.id }, session, [
    'rotated webhook secret',
  ])
  secretOf('rotated webhook secret', rotated.rotateWebhookSecret.webhookSecret)

  add('live token', newText(40))
  const args = {
    token: scene.canaries.get('live token')!.text,
    deep: { list: [`${scene.canaries.get('live token')!.text}`] },
  }
  const trusted = { ...session, 'x-api-key': key }
  const tells = ['live token']
  const ids: string[] = []
  for (let count = 0; count < 8; count += 1) {
    const order = { network_app: app.id, action_args: args }
    const made =
      count % 2
        ? (
            await graphql<{ createOrder: { order: { id: string } } }>(
              'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id actionArgs } } }',
              { networkApp: app.id, actionArgs: args },
              trusted,
              tells,
            )
          ).createOrder.order
        : (need(
            await rest('store/network-app-orders/', order, { ...trusted, 'idempotency-key': `order ${count}` }, tells),
            201,
          ).body as { id: string })
    need(await rest(`store/network-app-orders/${made.id}/confirm/`, {}, trusted, tells), 200)
    ids.push(made.id)
  }
  await until('every sale was told of', () => new Set(receiver.calls.map(({ id }) => id)).size >= ids.length)
}

/** An asset, so that the private key signs, and everything that can be read. */
const countSigned = statement(
  'proof_signed',
  { columns: { count: int } },
  'select count(*)::int as count from commit_relays where tree_signature is not null',
)

async function readAll(scene: Scene, session: Record<string, string>, username: string) {
  const { rest, graphql } = createDoors(scene)
  const { transcript, add, parts } = scene
  const part = (head: string, value: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
  const file = part('name="asset_file"; filename="a.txt"\r\nContent-Type: text/plain', 'a file')
  const headers = { ...session, 'content-type': 'multipart/form-data; boundary=b' }
  const body = `${file}${part('name="caption"', 'x')}--b--\r\n`
  const asset = need(await transcript.ask({ path: '/api/v3/assets/', headers, body }), 201).body as { id: string }
  need(await rest(`assets/${asset.id}/`, { caption: 'y' }, session, [], 'PATCH'), 200)
  const key = await readPrivateKey(scene, username)
  add('private key', key.toString('hex'), key)
  await until(
    'the commits are signed',
    async () => {
      const [row] = await parts.database.query(countSigned)
      return row!.count >= 2
    },
    60_000,
  )
  for (const path of [
    ...['auth/users/me', 'auth/users', 'auth/sessions', 'auth/users/me/audit-entries', 'assets', `assets/${asset.id}`],
    ...[
      'store/api-keys',
      'store/network-apps',
      'store/webhook-deliveries',
      'wallet/deposits',
      'wallet/transfers',
      'store/point-grants',
    ],
  ])
    await rest(`${path}/`, undefined, session, [], 'GET')
  const orders = ['store/network-app-orders/', 'events/', 'auth/users/me/export/']
  for (const path of orders) await rest(path, undefined, session, ['live token'], 'GET')
  await graphql('{ webhookDeliveries(first: 50) { nodes { id attempts { response failure } } } }', undefined, session)
  await graphql('{ myData }', undefined, session, ['live token']).catch(() => undefined)
  for (const path of ['/metrics', '/healthz', '/readyz', '/version', '/', '/api/v3/config/'])
    await transcript.ask({ method: 'GET', path })
}

export const appoint = statement(
  'proof_appoint_one',
  { parameters: { username: text } },
  `update users set role = 'ADMIN' where username = $username`,
)

export async function tellStory(scene: Scene): Promise<Story> {
  const [username, email] = ['keeper', 'keeper@example.org']
  const first = await signIn(scene, username, email)
  await scene.parts.database.query(appoint, { username })
  const session = await reset(scene, email, first)
  await trade(scene, session)
  await readAll(scene, session, username)
  return { session, email, username }
}
