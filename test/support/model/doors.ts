/** The deeds at the doors: how each is asked for over REST and over GraphQL, and what both tell of it, in one shape. */
import { type ErrorCode, errorCodes } from '../../../src/domain/errors.ts'
import { statuses } from '../../../src/rest/status.ts'
import { graphqlMessage } from '../graphql-client.ts'
import type { Answer, Message } from '../http-client.ts'
import type { Deed, Kind } from './deeds.ts'

export type DoorName = 'REST' | 'GraphQL'
/** Deeds that are done at the doors. */
export type Asked = Exclude<Kind, 'deposit' | 'elapse' | 'sweep'>
type DeedOfKind<K extends Kind> = Extract<Deed, { kind: K }>

/** What the names of the model are to the service. */
export interface Real {
  user(who: number): string
  credentials(who: number): { username: string; email: string; password: string }
  file(number: number): File
  nid(file: string): string
  app(name: string): string
  order(name: string): string
  withdrawal(name: string): string
  /** Where coins are withdrawn to. */
  recipient: string
  /** A name for an app that no other has. */
  appName(attempt: string): string
}

interface Deal<K extends Kind> {
  rest(deed: DeedOfKind<K>, real: Real, attempt: string): Message
  /** A GraphQL document of one field, with the input of a mutation. */
  document: string
  variables(deed: DeedOfKind<K>, real: Real, attempt: string): object
  /** What is told besides: of the REST body, and of GraphQL's field. */
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  shown?: { rest(body: any): object; graphql(field: any): object }
  /** How the service calls what was made. */
  // biome-ignore lint/suspicious/noExplicitAny: as `Answer.body`.
  made?: { rest(body: any): string; graphql(field: any): string }
}

const v3 = (path: string) => `/api/v3/${path}`
const mutation = (field: string, type: string, selection: string) =>
  `mutation ($input: ${type}!) { ${field}(input: $input) { ${selection} } }`

const asset = 'asset { nid caption publicAccess }'
const order = 'order { id status price numPaid pointsPaid }'
const orderStatuses = { created: 'CREATED', pending: 'PENDING', success: 'SUCCESS', failure: 'FAILURE' }
type OrderStatus = keyof typeof orderStatuses

const restAsset = ({ caption, public_access }: Record<string, unknown>) => ({ caption, isPublic: public_access })
const graphqlAsset = ({ caption, publicAccess }: Record<string, unknown>) => ({ caption, isPublic: publicAccess })
/** An order in the four statuses that old callers know. */
const graphqlOrder = ({ status, price, numPaid: num, pointsPaid: points }: Record<string, unknown>) => ({
  ...{ status: status === 'CREATED' || status === 'SUCCESS' ? status : 'FAILURE' },
  ...{ price, num, points },
})
const restOrder = (body: Record<string, unknown>) => ({
  status: orderStatuses[body.status as OrderStatus],
  ...{ price: body.price, num: body.num_paid, points: body.points_paid },
})
const restWithdrawal = ({ amount, status }: Record<string, string>) => ({ amount, status: status!.toUpperCase() })
const graphqlWithdrawal = ({ amount, status }: Record<string, unknown>) => ({ amount, status })
const shownOrder = (field: 'order') => ({
  shown: { rest: restOrder, graphql: (found: Record<typeof field, never>) => graphqlOrder(found[field]) },
})

const given = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** How each deed is asked for. */
export const deals: { [K in Asked]: Deal<K> } = {
  signUp: {
    rest: ({ as }, real) => ({ path: v3('auth/users/'), json: real.credentials(as) }),
    document: mutation('signUp', 'SignUpInput', 'user { id }'),
    variables: ({ as }, real) => ({ input: real.credentials(as) }),
    made: { rest: ({ id }) => id, graphql: ({ user }) => user.id },
  },
  signIn: {
    rest: ({ who }, real) => ({
      path: v3('auth/token/login/'),
      json: given({ ...real.credentials(who), username: null }),
    }),
    document: mutation('signIn', 'SignInInput', 'token'),
    variables: ({ who }, real) => ({ input: given({ ...real.credentials(who), username: null }) }),
    made: { rest: ({ auth_token }) => auth_token, graphql: ({ token }) => token },
  },
  signOut: {
    rest: () => ({ method: 'POST', path: v3('auth/token/logout/') }),
    document: 'mutation { signOut }',
    variables: () => ({}),
  },
  grant: {
    rest: ({ to, amount }, real) => ({
      path: v3('store/point-grants/'),
      json: { user_id: real.user(to), amount, reason: 'For the model' },
    }),
    document: mutation('grantPoints', 'GrantPointsInput', 'grant { id amount }'),
    variables: ({ to, amount }, real) => ({ input: { userId: real.user(to), amount, reason: 'For the model' } }),
    shown: { rest: ({ amount }) => ({ amount }), graphql: ({ grant: { amount } }) => ({ amount }) },
  },
  register: {
    rest: ({ file, isPublic, maxCost }, real) => ({
      path: v3('assets/'),
      multipart: given({ asset_file: real.file(file), public_access: String(isPublic), max_cost: maxCost }) as never,
    }),
    document: mutation('registerAsset', 'RegisterAssetInput', asset),
    variables: ({ file, isPublic, maxCost }, real) => ({
      input: given({ assetFile: real.file(file), publicAccess: isPublic, maxCost }),
    }),
    shown: { rest: restAsset, graphql: ({ asset: found }) => graphqlAsset(found) },
    made: { rest: ({ id }) => id, graphql: ({ asset: { nid } }) => nid },
  },
  update: {
    rest: ({ file, caption, isPublic, maxCost }, real) => ({
      ...{ method: 'PATCH', path: v3(`assets/${real.nid(file)}/`) },
      json: given({ caption, public_access: isPublic, max_cost: maxCost }),
    }),
    document: mutation('updateAssetMetadata', 'UpdateAssetMetadataInput', asset),
    variables: ({ file, caption, isPublic, maxCost }, real) => ({
      input: given({ id: real.nid(file), caption, publicAccess: isPublic, maxCost }),
    }),
    shown: { rest: restAsset, graphql: ({ asset: found }) => graphqlAsset(found) },
  },
  removeAsset: {
    rest: ({ file }, real) => ({ method: 'DELETE', path: v3(`assets/${real.nid(file)}/`) }),
    document: mutation('deleteAsset', 'DeleteAssetInput', 'id'),
    variables: ({ file }, real) => ({ input: { id: real.nid(file) } }),
  },
  readAsset: {
    rest: ({ file }, real) => ({ path: v3(`assets/${real.nid(file)}/history/`) }),
    document: 'query ($id: ID!) { asset(id: $id) { caption publicAccess commitCount } }',
    variables: ({ file }, real) => ({ id: real.nid(file) }),
    shown: {
      rest: ({ count }) => ({ commits: count }),
      graphql: ({ commitCount, ...found }) => ({ ...graphqlAsset(found), commits: commitCount }),
    },
  },
  order: {
    rest: ({ app, maxCost }, real) => ({
      path: v3('store/network-app-orders/'),
      json: given({ network_app: real.app(app), max_cost: maxCost }),
    }),
    document: mutation('createOrder', 'CreateOrderInput', order),
    variables: ({ app, maxCost }, real) => ({ input: given({ networkApp: real.app(app), maxCost }) }),
    ...shownOrder('order'),
    made: { rest: ({ id }) => id, graphql: ({ order: { id } }) => id },
  },
  confirm: {
    rest: ({ order: name, maxCost }, real) => ({
      path: v3(`store/network-app-orders/${real.order(name)}/confirm/`),
      json: given({ max_cost: maxCost }),
    }),
    document: mutation('confirmOrder', 'ConfirmOrderInput', order),
    variables: ({ order: name, maxCost }, real) => ({ input: given({ id: real.order(name), maxCost }) }),
    ...shownOrder('order'),
  },
  cancel: {
    rest: ({ order: name }, real) => ({
      ...{ method: 'POST', path: v3(`store/network-app-orders/${real.order(name)}/cancel/`) },
    }),
    document: mutation('cancelOrder', 'CancelOrderInput', order),
    variables: ({ order: name }, real) => ({ input: { id: real.order(name) } }),
    ...shownOrder('order'),
  },
  refund: {
    rest: ({ order: name, amount }, real) => ({
      path: v3(`store/network-app-orders/${real.order(name)}/refunds/`),
      json: given({ amount, reason: 'For the model' }),
    }),
    document: mutation('refundOrder', 'RefundOrderInput', 'refund { num points }'),
    variables: ({ order: name, amount }, real) => ({
      input: given({ orderId: real.order(name), amount, reason: 'For the model' }),
    }),
    shown: {
      rest: ({ num, points }) => ({ num, points }),
      graphql: ({ refund: { num, points } }) => ({ num, points }),
    },
  },
  withdraw: {
    rest: ({ who, amount }, { credentials, recipient }) => ({
      path: v3('wallet/withdrawals/'),
      json: { amount, to: recipient, current_password: credentials(who as number).password },
    }),
    document: mutation('withdraw', 'WithdrawInput', 'withdrawal { id amount fee status }'),
    variables: ({ who, amount }, { credentials, recipient }) => ({
      input: { amount, to: recipient, currentPassword: credentials(who as number).password },
    }),
    shown: { rest: restWithdrawal, graphql: ({ withdrawal }) => graphqlWithdrawal(withdrawal) },
    made: { rest: ({ id }) => id, graphql: ({ withdrawal: { id } }) => id },
  },
  cancelWithdrawal: {
    rest: ({ withdrawal }, real) => ({
      ...{ method: 'POST', path: v3(`wallet/withdrawals/${real.withdrawal(withdrawal)}/cancel/`) },
    }),
    document: mutation('cancelWithdrawal', 'CancelWithdrawalInput', 'withdrawal { amount status }'),
    variables: ({ withdrawal }, real) => ({ input: { id: real.withdrawal(withdrawal) } }),
    shown: { rest: restWithdrawal, graphql: ({ withdrawal }) => graphqlWithdrawal(withdrawal) },
  },
  deleteAccount: {
    rest: () => ({ method: 'DELETE', path: v3('auth/users/me/') }),
    document: 'mutation { deleteAccount { __typename } }',
    variables: () => ({}),
  },
  lock: {
    rest: ({ whom }, real) => ({ path: v3(`store/users/${real.user(whom)}/lock/`), json: { reason: 'For the model' } }),
    document: mutation('lockUser', 'LockUserInput', 'user { id }'),
    variables: ({ whom }, real) => ({ input: { userId: real.user(whom), reason: 'For the model' } }),
  },
  unlock: {
    rest: ({ whom }, real) => ({
      path: v3(`store/users/${real.user(whom)}/unlock/`),
      json: { reason: 'For the model' },
    }),
    document: mutation('unlockUser', 'UnlockUserInput', 'user { id }'),
    variables: ({ whom }, real) => ({ input: { userId: real.user(whom), reason: 'For the model' } }),
  },
  list: {
    rest: ({ price }, real, attempt) => ({
      path: v3('store/network-apps/'),
      json: { name: real.appName(attempt), price_mode: 'fixed', price },
    }),
    document: mutation('createNetworkApp', 'CreateNetworkAppInput', 'networkApp { id }'),
    variables: ({ price }, real, attempt) => ({ input: { name: real.appName(attempt), price } }),
    made: { rest: ({ id }) => id, graphql: ({ networkApp }) => networkApp.id },
  },
  price: {
    rest: ({ app, price }, real) => ({
      ...{ method: 'PATCH', path: v3(`store/network-apps/${real.app(app)}/`), json: { price } },
    }),
    document: mutation('updateNetworkApp', 'UpdateNetworkAppInput', 'networkApp { id }'),
    variables: ({ app, price }, real) => ({ input: { id: real.app(app), price } }),
  },
  unlist: {
    rest: ({ app }, real) => ({ method: 'DELETE', path: v3(`store/network-apps/${real.app(app)}/`) }),
    document: mutation('deactivateNetworkApp', 'DeactivateNetworkAppInput', 'networkApp { id }'),
    variables: ({ app }, real) => ({ input: { id: real.app(app) } }),
  },
  balance: {
    rest: () => ({ path: v3('auth/users/me/') }),
    document: '{ me { wallet { num points } } }',
    variables: () => ({}),
    shown: {
      rest: ({ user_wallet: { asset_wallet_num, points } }) => ({ num: asset_wallet_num, points }),
      graphql: ({ wallet: { num, points } }) => ({ num, points }),
    },
  },
}

/** The request for a deed at a door; who sends it is added by the sender. */
export function messageOf(deed: Extract<Deed, { kind: Asked }>, door: DoorName, real: Real, attempt: string): Message {
  const deal = deals[deed.kind] as Deal<Kind>
  const name = `${door} ${JSON.stringify(deed)}`
  if (door === 'REST') return { name, ...deal.rest(deed, real, attempt) }
  return {
    name,
    method: 'POST',
    path: '/graphql',
    ...graphqlMessage(deal.document, deal.variables(deed, real, attempt)),
  }
}

/** What came of it: the code of the refusal in either door's shape, or what was shown and made. */
export interface Told {
  code: ErrorCode | 'ok' | 'unknown'
  shown?: object | undefined
  made?: string | undefined
}

/** Reads an answer. `unknown`: it is none of the vocabulary, or its status is not that of its code. */
export function readAnswer(kind: Asked, door: DoorName, { status, body }: Answer): Told {
  const deal = deals[kind] as Deal<Kind>
  if (door === 'GraphQL') {
    if (status !== 200 || !body) return { code: 'unknown' }
    if (body.errors) return { code: body.errors[0].extensions?.code ?? 'unknown' }
    const [field] = Object.values(body.data)
    return { code: 'ok', shown: deal.shown?.graphql(field), made: deal.made?.graphql(field) }
  }
  if (status >= 400) {
    const code = errorCodes.find((known) => statuses[known].type === body?.error?.type)
    return { code: code && statuses[code].status === status ? code : 'unknown' }
  }
  if (status < 200) return { code: 'unknown' }
  return { code: 'ok', shown: deal.shown?.rest(body), made: deal.made?.rest(body) }
}
