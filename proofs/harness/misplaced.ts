/** What callers do with a secret when they make mistakes: it lands in every field, header and body where it does not belong. */
import type { Sent } from './transcript.ts'

const json = (path: string, value: unknown, headers: Record<string, string> = {}, method = 'POST'): Sent => ({
  method,
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof value === 'string' ? value : JSON.stringify(value),
})

const login = '/api/v3/auth/token/login/'
const boundary = 'proof-boundary'
const multipart = { 'content-type': `multipart/form-data; boundary=${boundary}` }
const part = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

let serial = 0
/** Of nobody: guesses at an account are few. */
const stranger = () => `nobody${++serial}@example.org`

/** JSON that is none, with a secret near the place where that is noticed. */
const broken = (secret: string) => [
  `{"email":"${stranger()}","password":"${secret}"`,
  `{"email":"${stranger()}","password":"${secret}`,
  `{"password":${secret}}`,
  `{"password":"${secret}",}`,
  `{"password":"${secret}" "email":"x"}`,
  `{'password':'${secret}'}`,
  `{"password":"${secret}\n"}`,
  `"${secret}"`,
  `["${secret}"]`,
  secret,
]

/** Through the REST door, by somebody who is not signed in. */
const strangers = (secret: string): Sent[] => [
  json(login, { email: stranger(), password: secret }),
  json(login, { email: secret, password: 'not this one' }),
  json(login, { email: `${secret}@example.org`, password: secret, username: secret }),
  json(login, { email: [secret], password: { secret } }),
  json(login, { email: stranger(), password: [secret, secret] }),
  json(login, { email: stranger(), password: 'not this one', token: secret, otp: secret, [secret]: secret }),
  ...broken(secret).map((body) => json(login, body)),
  {
    path: login,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `email=${stranger()}&password=${encodeURIComponent(secret)}`,
  },
  { path: login, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: `{"password":${secret}` },
  {
    path: login,
    headers: multipart,
    body: `${part('email', stranger())}${part('password', secret)}--${boundary}--\r\n`,
  },
  { path: login, headers: multipart, body: `${part('email', stranger())}${part('password', secret)}` },
  { path: login, headers: multipart, body: `${part(secret, secret)}garbage ${secret}` },
  { path: login, headers: { 'content-type': 'multipart/form-data' }, body: part('password', secret) },
  { path: login, headers: { 'content-type': 'text/plain' }, body: secret },
  json('/api/v3/auth/users/', { username: secret, email: 'no address', password: secret, referral_code: secret }),
  json('/api/v3/auth/users/', { username: 'x', email: `${secret}@`, password: `${secret}${secret}${secret}${secret}` }),
  json('/api/v3/auth/users/', { username: stranger(), email: stranger(), password: 'abc', language: secret }),
  json('/api/v3/auth/users/reset_password/', { email: secret }),
  json('/api/v3/auth/users/reset_password_confirm/', { uid: secret, token: secret, new_password: secret }),
  json('/api/v3/auth/users/activation/', { uid: secret, token: secret }),
  {
    method: 'GET',
    path: `/api/v3/auth/users/me/?token=${encodeURIComponent(secret)}&access_token=${encodeURIComponent(secret)}`,
  },
  { method: 'GET', path: `/api/v3/${encodeURIComponent(secret)}/` },
  { method: 'GET', path: `/account/password-reset/user_01h2xcejqtf2nbrexx3vqjhp41/${encodeURIComponent(secret)}` },
  {
    path: `/account/email-verification/user_01h2xcejqtf2nbrexx3vqjhp41/${encodeURIComponent(secret)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  ...['Basic', 'Bearer', 'token', 'Digest'].map((scheme) => ({
    method: 'GET',
    path: '/api/v3/auth/users/me/',
    headers: { authorization: `${scheme} ${secret}` },
  })),
  ...['x-api-key', 'idempotency-key', 'x-auth-token', 'cookie', 'x-request-id', 'referer', 'user-agent'].map(
    (name) => ({
      method: 'GET',
      path: '/api/v3/assets/',
      headers: { [name]: secret, authorization: secret },
    }),
  ),
]

/** Through the REST door, by somebody with a session, who may administer. */
const insiders = (secret: string, headers: Record<string, string>): Sent[] => [
  json('/api/v3/auth/users/set_password/', { current_password: 'not this one', new_password: secret }, headers),
  json('/api/v3/auth/users/set_password/', { current_password: secret, new_password: 'abc' }, headers),
  json('/api/v3/auth/users/set_email/', { current_password: [secret], new_email: secret }, headers),
  json('/api/v3/auth/users/set_username/', { current_password: secret, new_username: '' }, headers),
  json(
    '/api/v3/auth/users/profile/',
    { display_name: { secret }, language: secret, password: secret },
    headers,
    'PATCH',
  ),
  json('/api/v3/assets/', { asset_file: secret, caption: { secret } }, headers),
  json('/api/v3/store/network-app-orders/', { network_app: secret, action_args: secret }, headers),
  json('/api/v3/store/network-app-orders/', { network_app: 'x', action_args: [secret], max_cost: secret }, headers),
  json(`/api/v3/store/network-app-orders/${encodeURIComponent(secret)}/confirm/`, {}, headers),
  json(
    '/api/v3/store/network-apps/',
    { name: { secret }, price_mode: secret, price: secret, webhook_url: secret },
    headers,
  ),
  json(
    '/api/v3/store/network-apps/',
    { name: 'x', price_mode: 'fixed', price: '1', webhook_url: `ftp://user:${secret}@example.org/` },
    headers,
  ),
  json('/api/v3/store/point-grants/', { user: secret, amount: secret, reason: [secret], expires_at: secret }, headers),
  ...['store/api-keys', 'store/network-apps', 'auth/sessions', 'assets', 'store/webhook-deliveries'].flatMap((path) => [
    { method: 'DELETE', path: `/api/v3/${path}/${encodeURIComponent(secret)}/`, headers },
    {
      method: 'GET',
      path: `/api/v3/${path}/?limit=${encodeURIComponent(secret)}&after=${encodeURIComponent(secret)}`,
      headers,
    },
  ]),
  {
    method: 'GET',
    path: `/api/v3/events/?after=${encodeURIComponent(secret)}&types=${encodeURIComponent(secret)}`,
    headers,
  },
]

const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'

/** Documents and variables with a secret where it does not fit. */
const documents = (secret: string): { query: unknown; variables?: unknown; [other: string]: unknown }[] => [
  { query: `mutation { signIn(input: {email: "${stranger()}", password: "${secret}"` },
  { query: `mutation { signIn(input: {email: "${stranger()}", password "${secret}"}) { token } }` },
  { query: `mutation { signIn(input: {email: "${stranger()}", password: "${secret}" "${secret}"}) { token } }` },
  { query: `mutation { signIn(input: {email: "${stranger()}", password: "${secret}}) { token } }` },
  { query: `mutation { signIn(input: {email: "${stranger()}", password: '${secret}'}) { token } }` },
  { query: `mutation { signIn("${secret}") { token } }` },
  { query: `mutation "${secret}" { signOut }` },
  { query: `mutation """${secret}""" { signOut }` },
  { query: `${JSON.stringify(secret)}` },
  { query: `mutation { signIn(input: {email: "a", password: ["${secret}"]}) { token } }` },
  { query: `mutation { signIn(input: {email: "a", password: {is: "${secret}"}}) { token } }` },
  { query: `mutation { signIn(input: "${secret}") { token } }` },
  { query: `mutation { signIn(input: {email: "a", password: "b", otp: "${secret}"}) { token } }` },
  { query: `mutation { signIn(input: {email: "${secret}", password: "${secret}"}) { token } }` },
  { query: `{ me { id(token: "${secret}") } }` },
  { query: `{ assets(first: "${secret}") { totalCount } }` },
  { query: `{ node(id: "${secret}") { id } }` },
  {
    query: `mutation { grantPoints(input: {userId: "x", amount: "${secret}", reason: "", expiresAt: "${secret}"}) { __typename } }`,
  },
  { query: `mutation { createOrder(input: {networkApp: "${secret}", actionArgs: "${secret}"}) { order { id } } }` },
  { query: `query ($limit: Int = "${secret}") { assets(first: $limit) { totalCount } }` },
  { query: `query @include(if: "${secret}") { me { id } }` },
  { query: signIn, variables: { input: secret } },
  { query: signIn, variables: { input: [secret] } },
  { query: signIn, variables: { input: { email: 'a', password: [secret] } } },
  { query: signIn, variables: { input: { email: 'a', password: { secret } } } },
  { query: signIn, variables: { input: { email: [secret], password: secret } } },
  { query: signIn, variables: { input: { email: 'a', password: 5, otp: secret } } },
  { query: signIn, variables: { input: { password: secret } } },
  { query: signIn, variables: secret },
  { query: signIn, variables: [secret] },
  { query: signIn, variables: { input: null, other: secret } },
  { query: signIn, operationName: secret, variables: { input: { email: 'a', password: secret } } },
  { query: signIn, extensions: { persistedQuery: secret }, variables: {} },
  { query: [secret] },
  { query: 'query ($first: Int) { assets(first: $first) { totalCount } }', variables: { first: secret } },
  { query: 'query ($id: ID!) { node(id: $id) { id } }', variables: { id: { secret } } },
  {
    query: 'mutation ($input: GrantPointsInput!) { grantPoints(input: $input) { __typename } }',
    variables: { input: { userId: 'x', amount: secret, reason: 'x', expiresAt: secret } },
  },
  {
    query: 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id } } }',
    variables: { input: { networkApp: 'x', actionArgs: secret, maxCost: secret } },
  },
  {
    query: 'mutation ($input: CreateNetworkAppInput!) { createNetworkApp(input: $input) { __typename } }',
    variables: { input: { name: 'x', price: '1', priceMode: secret, deliveryFailurePolicy: secret } },
  },
  {
    query: 'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { __typename } }',
    variables: { input: { uid: secret, token: secret, newPassword: secret } },
  },
  {
    query: 'mutation ($input: SignUpInput!) { signUp(input: $input) { __typename } }',
    variables: { input: { username: secret, email: secret, password: secret } },
  },
]

const graphqlMultipart = (operations: string, map: string): Sent => ({
  path: '/graphql',
  headers: { ...multipart, 'graphql-require-preflight': 'yes' },
  body: `${part('operations', operations)}${part('map', map)}--${boundary}--\r\n`,
})

const graphql = (secret: string, headers: Record<string, string>): Sent[] => [
  ...documents(secret).map((value) => json('/graphql', value, headers)),
  ...broken(secret).map((body) => json('/graphql', body)),
  json('/graphql', [{ query: `{ me { id } }`, variables: { secret } }]),
  { path: '/graphql', headers: { 'content-type': 'text/plain' }, body: secret },
  { method: 'GET', path: `/graphql?query=${encodeURIComponent(`{ me { id(token: "${secret}") } }`)}` },
  {
    method: 'GET',
    path: `/graphql?query=${encodeURIComponent(`mutation { signIn(input: {email: "a", password: "${secret}"}) { token } }`)}`,
  },
  {
    method: 'GET',
    path: `/graphql?query={me{id}}&variables=${encodeURIComponent(secret)}&token=${encodeURIComponent(secret)}`,
  },
  graphqlMultipart(`{"query":"${secret}`, '{}'),
  graphqlMultipart(JSON.stringify({ query: signIn, variables: { input: { password: secret } } }), `{"${secret}`),
]

/** Requests that are all refused. `headers` are those of a session. */
export const misplace = (secret: string, headers: Record<string, string>): Sent[] => [
  ...strangers(secret),
  ...insiders(secret, headers),
  ...graphql(secret, headers),
]

/** What no HTTP library sends. */
export const misplaceRaw = (secret: string): string[] => [
  `GET /api/v3/assets/ HTTP/1.1\r\nHost: x\r\nAuthorization token ${secret}\r\n\r\n`,
  `GET /api/v3/assets/?${secret}\u0000 HTTP/1.1\r\nHost: x\r\n\r\n`,
  `${secret} ${secret} HTTP/9.9\r\n\r\n`,
  `POST ${login} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{"password":"${secret}"}\r\n`,
  `POST ${login} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"password":"${secret}"}`,
]
