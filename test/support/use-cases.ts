/** The REST and GraphQL requests of each use case, and their results in one shape. Independent of Vitest, because proofs use it, too. */
import { graphqlMessage } from './graphql-client.ts'
import type { Answer, FormValue, Message } from './http-client.ts'

export type Transport = 'REST' | 'GraphQL'
/** Fields named as in GraphQL. Fields that are undefined are not sent. */
export type Input = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
export type Value = any

interface UseCase {
  /** Method and path under `/api/v3/`. `:name` takes a field of the input; the other fields are the body. */
  rest: string
  /** Fields that only REST needs. */
  defaults?: Input
  /** REST names of fields that differ from the GraphQL name in more than their case. */
  renamed?: Record<string, string>
  /** GraphQL selection of a mutation, or the document of a query. Mutations without a selection return a scalar. */
  graphql?: string
  /** Field of the payload that REST returns on its own. */
  unwrap?: string
  /** Converts the REST body, with its keys in camel case, to the shape of GraphQL. */
  fromRest?: (body: Value) => Value
}

const assetFields = 'asset { id caption headline tag publicAccess nitCommitCustom assetFileName headId }'
const orderFields =
  'order { id status price numCharged: numQuoted pointsCharged: pointsQuoted numPaid pointsPaid actionArgs }'
const appFields = 'networkApp { id name priceMode price webhookUrl deliveryFailurePolicy isActive }'
const upperCase =
  (...fields: string[]) =>
  (body: Value) =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, fields.includes(name) ? String(value).toUpperCase() : value]),
    )
const order = { graphql: orderFields, unwrap: 'order', fromRest: upperCase('status') }
const networkApp = {
  graphql: appFields,
  unwrap: 'networkApp',
  fromRest: upperCase('priceMode', 'deliveryFailurePolicy'),
}

export const useCases = {
  signUp: { rest: 'POST auth/users/', graphql: 'user { id username }', unwrap: 'user' },
  signIn: {
    rest: 'POST auth/token/login/',
    renamed: { name: 'device' },
    graphql: 'token',
    fromRest: ({ authToken }) => ({ token: authToken }),
  },
  signOut: { rest: 'POST auth/token/logout/' },
  readMe: {
    rest: 'GET auth/users/me/',
    graphql: '{ me { id username email emailVerified language wallet { num points } } }',
    fromRest: ({ userWallet, ...me }) => ({
      ...me,
      wallet: { num: userWallet.assetWalletNum, points: userWallet.points },
    }),
  },
  deleteAccount: { rest: 'DELETE auth/users/me/', graphql: 'id' },
  updateSettings: {
    rest: 'PATCH auth/users/me/',
    graphql: 'user { language defaultTag allowC2paDownload }',
    unwrap: 'user',
  },
  updateProfile: { rest: 'PATCH auth/users/profile/', graphql: 'user { displayName description }', unwrap: 'user' },
  requestPasswordReset: { rest: 'POST auth/users/reset_password/', graphql: 'email' },
  resetPassword: { rest: 'POST auth/users/reset_password_confirm/', graphql: 'user { id }' },
  changePassword: { rest: 'POST auth/users/set_password/', graphql: 'user { id }' },
  changeEmail: { rest: 'POST auth/users/set_email/', graphql: 'user { email }' },
  changeUsername: { rest: 'POST auth/users/set_username/', graphql: 'user { username }' },
  verifyEmail: { rest: 'POST auth/users/activation/', graphql: 'user { id }' },
  requestEmailVerification: { rest: 'POST auth/users/resend_activation/', graphql: 'email' },
  listSessions: {
    rest: 'GET auth/sessions/',
    graphql: '{ sessions(first: 50) { totalCount nodes { id name createdAt lastUsedAt expiresAt isCurrent } } }',
  },
  revokeSession: { rest: 'DELETE auth/sessions/:id/', graphql: 'id' },
  revokeOtherSessions: { rest: 'POST auth/sessions/revoke-others/', graphql: 'session { id }' },
  listAuditEntries: {
    rest: 'GET auth/users/me/audit-entries/',
    graphql: '{ auditEntries(first: 50) { totalCount nodes { id action subject address reason createdAt } } }',
  },
  registerAsset: { rest: 'POST assets/', graphql: assetFields, unwrap: 'asset' },
  updateAssetMetadata: { rest: 'PATCH assets/:id/', graphql: assetFields, unwrap: 'asset' },
  deleteAsset: { rest: 'DELETE assets/:id/', graphql: 'id' },
  readAsset: {
    rest: 'GET assets/:id/',
    graphql:
      'query ($id: ID!) { asset(id: $id) { id caption headline tag publicAccess nitCommitCustom headId commitCount } }',
  },
  readHistory: {
    rest: 'GET assets/:id/history/',
    graphql: 'query ($id: ID!) { asset(id: $id) { history { id message status changes } } }',
    unwrap: 'history',
    fromRest: ({ commits }) =>
      commits.map(({ id, commitMessage, status, changes }: Value) => ({
        ...{ id, message: commitMessage, status: status.toUpperCase(), changes },
      })),
  },
  createOrder: { rest: 'POST store/network-app-orders/', ...order },
  confirmOrder: { rest: 'POST store/network-app-orders/:id/confirm/', ...order },
  cancelOrder: { rest: 'POST store/network-app-orders/:id/cancel/', ...order },
  readOrder: {
    ...{ rest: 'GET store/network-app-orders/:id/', fromRest: order.fromRest },
    graphql: `query ($id: ID!) { ${orderFields.replace('order', 'order(id: $id)')} }`,
  },
  listOrders: {
    rest: 'GET store/network-app-orders/',
    graphql: '{ orders(first: 50) { totalCount nodes { id } } }',
  },
  refundOrder: {
    rest: 'POST store/network-app-orders/:orderId/refunds/',
    graphql: 'refund { id num points total reason transferId createdAt }',
    unwrap: 'refund',
  },
  createNetworkApp: {
    rest: 'POST store/network-apps/',
    defaults: { priceMode: 'fixed' },
    ...networkApp,
    graphql: `webhookSecret ${appFields}`,
  },
  updateNetworkApp: { rest: 'PATCH store/network-apps/:id/', ...networkApp },
  deactivateNetworkApp: { rest: 'DELETE store/network-apps/:id/', ...networkApp },
  rotateWebhookSecret: {
    ...{ rest: 'POST store/network-apps/:id/rotate-secret/', graphql: 'webhookSecret networkApp { id }' },
    unwrap: 'networkApp',
  },
  readNetworkApp: {
    ...{ rest: 'GET store/network-apps/:id/', fromRest: networkApp.fromRest },
    graphql: `query ($id: ID!) { ${appFields.replace('networkApp', 'networkApp(id: $id)')} }`,
  },
  issueApiKey: {
    rest: 'POST store/api-keys/',
    graphql: 'key apiKey { id name prefix createdAt revokedAt }',
    unwrap: 'apiKey',
  },
  revokeApiKey: { rest: 'DELETE store/api-keys/:id/', graphql: 'apiKey { id }' },
  listApiKeys: {
    rest: 'GET store/api-keys/',
    graphql: '{ apiKeys(first: 50) { totalCount nodes { id name prefix createdAt revokedAt } } }',
  },
  grantPoints: { rest: 'POST store/point-grants/', graphql: 'grant { id amount }', unwrap: 'grant' },
  lockUser: { rest: 'POST store/users/:userId/lock/', graphql: 'user { id username lockedAt }', unwrap: 'user' },
  unlockUser: { rest: 'POST store/users/:userId/unlock/', graphql: 'user { id lockedAt }', unwrap: 'user' },
  withdraw: {
    rest: 'POST wallet/withdrawals/',
    graphql: 'withdrawal { id amount fee status }',
    unwrap: 'withdrawal',
    fromRest: upperCase('status'),
  },
  cancelWithdrawal: {
    rest: 'POST wallet/withdrawals/:id/cancel/',
    graphql: 'withdrawal { id amount status }',
    unwrap: 'withdrawal',
    fromRest: upperCase('status'),
  },
  sendTestEvent: {
    rest: 'POST store/network-apps/:networkAppId/test-events/',
    graphql: 'webhookDelivery { id status }',
    unwrap: 'webhookDelivery',
    fromRest: upperCase('status'),
  },
  replayWebhookDelivery: {
    rest: 'POST store/webhook-deliveries/:id/replay/',
    graphql: 'webhookDelivery { id status }',
    unwrap: 'webhookDelivery',
    fromRest: upperCase('status'),
  },
} satisfies Record<string, UseCase>

export type UseCaseName = keyof typeof useCases

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** Objects whose keys belong to the user. */
const verbatim = new Set(['nit_commit_custom', 'action_args', 'changes'])

export function camelKeys(value: Value): Value {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([k, inner]) => [camelCase(k), verbatim.has(k) ? inner : camelKeys(inner)]))
}

/** Encodes the fields of a form: JSON text for objects. */
const formValue = (value: unknown): FormValue =>
  value instanceof File ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

export function restRequest({ rest, renamed = {}, defaults = {} }: UseCase, input: Input) {
  const [method, pattern] = rest.split(' ') as [string, string]
  const left = Object.fromEntries(Object.entries({ ...defaults, ...input }).filter(([, value]) => value !== undefined))
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => {
    const value = left[name]
    delete left[name]
    return encodeURIComponent(String(value))
  })
  const fields = Object.entries(left).map(([name, value]) => [renamed[name] ?? snakeCase(name), value] as const)
  const files = fields.some(([, value]) => value instanceof File)
  const body = files
    ? { multipart: Object.fromEntries(fields.map(([name, value]) => [name, formValue(value)])) }
    : fields.length > 0 && { json: Object.fromEntries(fields) }
  return { method, path, body: body || {} }
}

const capitalized = (name: string) => name[0]!.toUpperCase() + name.slice(1)
const withoutInput = new Set<UseCaseName>(['signOut', 'deleteAccount', 'revokeOtherSessions'])
/** Mutations whose GraphQL name differs from the use case. */
const mutationOf = (name: UseCaseName) => (name === 'updateSettings' ? 'updateProfile' : name)

export function graphqlRequest(name: UseCaseName, input: Input): { document: string; variables: object } {
  const { graphql = '' } = useCases[name] as UseCase
  if (/^(query|\{)/.test(graphql)) return { document: graphql, variables: input }
  const field = mutationOf(name)
  const selection = graphql && `{ ${graphql} }`
  if (withoutInput.has(name)) return { document: `mutation { ${field} ${selection} }`, variables: {} }
  const document = `mutation ($input: ${capitalized(field)}Input!) { ${field}(input: $input) ${selection} }`
  return { document, variables: { input } }
}

/** Returns the value of a successful response in the shape of GraphQL, including the payload's other fields. */
export function readValue(transport: Transport, name: UseCaseName, { body }: Pick<Answer, 'body'>): Value {
  const { unwrap, fromRest = (value: Value) => value } = useCases[name] as UseCase
  if (transport === 'REST') {
    const value = fromRest(camelKeys(body))
    return value?.results && 'count' in value ? { totalCount: value.count, nodes: value.results } : value
  }
  const [payload] = Object.values(body.data) as [Value]
  if (!unwrap || typeof payload !== 'object') return payload
  const { [unwrap]: value, ...others } = payload
  return Array.isArray(value) ? value : { ...others, ...value }
}

/** Returns the request as a message for clients that send to several processes. */
export function messageOf(transport: Transport, name: UseCaseName, input: Input = {}): Message {
  if (transport === 'REST') {
    const { method, path, body } = restRequest(useCases[name], input)
    return { method, path: `/api/v3/${path}`, ...body }
  }
  const { document, variables } = graphqlRequest(name, input)
  return { method: 'POST', path: '/graphql', ...graphqlMessage(document, variables) }
}
