/** Expected permissions of the admin pages, and the data to request them with. The data always belongs to `owner`. */
import { adminPage, type Expected, nobody, staleToo } from './authz-kinds.ts'
import type { Asked, CallOf, RestCall } from './authz-values.ts'

const signIn = { ...nobody('HTTP 400'), locked: 'HTTP 400', admin: 'allow' } satisfies Expected

/** Expected outcomes by `METHOD path`. */
export const pageExpectations: Record<string, Expected> = {
  'GET /admin/sign-in': staleToo(nobody('allow')),
  'POST /admin/sign-in': signIn,
  'POST /admin/sign-out': adminPage,
  'GET /admin': adminPage,
  'GET /admin/orders': adminPage,
  'GET /admin/orders/:id': adminPage,
  'GET /admin/orders/:id/refund': adminPage,
  'POST /admin/orders/:id/refund': adminPage,
  'GET /admin/apps': adminPage,
  'GET /admin/apps/:id': adminPage,
  'GET /admin/apps/:id/edit': adminPage,
  'POST /admin/apps/:id/edit': adminPage,
  'GET /admin/apps/:id/rotate-secret': adminPage,
  'POST /admin/apps/:id/rotate-secret': adminPage,
  'GET /admin/apps/:id/deactivate': adminPage,
  'POST /admin/apps/:id/deactivate': adminPage,
  'GET /admin/apps/:id/test': adminPage,
  'POST /admin/apps/:id/test': adminPage,
  'GET /admin/new-app': adminPage,
  'POST /admin/new-app': adminPage,
  'GET /admin/webhooks': adminPage,
  'GET /admin/webhooks/:id': adminPage,
  'GET /admin/webhooks/:id/replay': adminPage,
  'POST /admin/webhooks/:id/replay': adminPage,
  'GET /admin/keys': adminPage,
  'GET /admin/keys/:id/revoke': adminPage,
  'POST /admin/keys/:id/revoke': adminPage,
  'GET /admin/new-key': adminPage,
  'POST /admin/new-key': adminPage,
  'GET /admin/users': adminPage,
  'GET /admin/users/:id': adminPage,
  'GET /admin/users/:id/lock': adminPage,
  'POST /admin/users/:id/lock': adminPage,
  'GET /admin/users/:id/unlock': adminPage,
  'POST /admin/users/:id/unlock': adminPage,
  'GET /admin/grants/:id': adminPage,
  'GET /admin/new-grant': adminPage,
  'POST /admin/new-grant': adminPage,
  'GET /admin/coins': adminPage,
  'GET /admin/coins/deposits': adminPage,
  'GET /admin/coins/withdrawals': adminPage,
  'GET /admin/audit': adminPage,
}

/** Adds the password confirmation to the fields of a form. */
const confirmed = ({ actor }: Asked, fields: Record<string, string> = {}): RestCall => ({
  urlencoded: { 'current-password': actor?.password ?? 'a guess at it', ...fields },
})

const plain: CallOf = () => ({})
const paidOrder = ({ owner }: Asked) => ({ params: { id: owner.paidOrderId } })
const app = ({ owner }: Asked) => ({ params: { id: owner.appId } })
const user = ({ owner }: Asked) => ({ params: { id: owner.id } })
const delivery = ({ owner }: Asked) => ({ params: { id: owner.deliveryId } })
const key = ({ scene }: Asked) => ({ params: { id: scene.apiKeyId } })
const appFields = ({ serial }: Asked) => ({ name: `page ${serial}`, price: '2', deliveryFailurePolicy: 'REFUND' })

/** Request data for each page. */
export const pageCalls: Record<string, CallOf> = {
  'GET /admin/sign-in': plain,
  'POST /admin/sign-in': ({ actor, owner }) => ({
    urlencoded: { email: (actor ?? owner).email, password: actor?.password ?? 'a guess at it' },
  }),
  'POST /admin/sign-out': plain,
  'GET /admin': plain,
  'GET /admin/orders': ({ owner }) => ({ query: { buyer: owner.id } }),
  'GET /admin/orders/:id': paidOrder,
  'GET /admin/orders/:id/refund': paidOrder,
  'POST /admin/orders/:id/refund': (asked) => ({
    ...paidOrder(asked),
    ...confirmed(asked, { amount: '0.001', reason: 'because' }),
  }),
  'GET /admin/apps': plain,
  'GET /admin/apps/:id': app,
  'GET /admin/apps/:id/edit': app,
  'POST /admin/apps/:id/edit': (asked) => ({ ...app(asked), urlencoded: appFields(asked) }),
  'GET /admin/apps/:id/rotate-secret': app,
  'POST /admin/apps/:id/rotate-secret': (asked) => ({ ...app(asked), ...confirmed(asked) }),
  'GET /admin/apps/:id/deactivate': app,
  'POST /admin/apps/:id/deactivate': (asked) => ({ ...app(asked), ...confirmed(asked) }),
  'GET /admin/apps/:id/test': app,
  'POST /admin/apps/:id/test': app,
  'GET /admin/new-app': plain,
  'POST /admin/new-app': (asked) => ({ urlencoded: appFields(asked) }),
  'GET /admin/webhooks': ({ owner }) => ({ query: { app: owner.appId } }),
  'GET /admin/webhooks/:id': delivery,
  'GET /admin/webhooks/:id/replay': delivery,
  'POST /admin/webhooks/:id/replay': delivery,
  'GET /admin/keys': plain,
  'GET /admin/keys/:id/revoke': key,
  'POST /admin/keys/:id/revoke': (asked) => ({ ...key(asked), ...confirmed(asked) }),
  'GET /admin/new-key': plain,
  'POST /admin/new-key': (asked) => confirmed(asked, { name: `page ${asked.serial}` }),
  'GET /admin/users': plain,
  'GET /admin/users/:id': user,
  'GET /admin/users/:id/lock': user,
  'POST /admin/users/:id/lock': (asked) => ({ ...user(asked), ...confirmed(asked, { reason: 'because' }) }),
  'GET /admin/users/:id/unlock': user,
  'POST /admin/users/:id/unlock': (asked) => ({ ...user(asked), ...confirmed(asked, { reason: 'because' }) }),
  'GET /admin/grants/:id': ({ owner }) => ({ params: { id: owner.grantId } }),
  'GET /admin/new-grant': plain,
  'POST /admin/new-grant': (asked) =>
    confirmed(asked, { userId: asked.owner.id, amount: '1', reason: 'because', expiresAt: '' }),
  'GET /admin/coins': plain,
  'GET /admin/coins/deposits': ({ owner }) => ({ query: { userId: owner.id } }),
  'GET /admin/coins/withdrawals': ({ owner }) => ({ query: { userId: owner.id } }),
  'GET /admin/audit': ({ owner }) => ({ query: { user: owner.id } }),
}
