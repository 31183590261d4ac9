/** Request values by schema coordinate and by route. All values belong to `owner`, whoever sends the request. */
import { type MetadataField, mapFields, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'
import { fromId } from '../../src/shared/ids.ts'
import { sampleOf } from '../../test/support/metadata.ts'
import type { Person, Scene } from './authz-scene.ts'

export interface Asked {
  scene: Scene
  owner: Person
  /** The caller. Undefined for anonymous requests. */
  actor: Person | undefined
  /** A number that is different for each request. */
  serial: number
}

type ValueOf = (asked: Asked) => unknown

const PASSWORD = 'another password'
/** A blockchain address that belongs to no user. */
const ELSEWHERE = `0x${'e1'.repeat(20)}`
const newFile = ({ serial }: Asked) => new File([`file ${serial} of the matrix`], 'file.txt', { type: 'text/plain' })
const passwordOf = ({ actor }: Asked) => actor?.password ?? 'a guess at it'
const ownerNid: ValueOf = ({ owner }) => owner.nid
const ownerApp: ValueOf = ({ owner }) => owner.appId
const ownerOrder: ValueOf = ({ owner }) => owner.orderId
const ownerDelivery: ValueOf = ({ owner }) => owner.deliveryId

/** IDs for `node(id)`, by type. */
export const nodeIds: Record<string, ValueOf> = {
  ApiKey: ({ scene }) => scene.apiKeyId,
  Asset: ownerNid,
  AssetLink: ({ owner }) => owner.linkId,
  AuditEntry: ({ owner }) => owner.auditId,
  Commit: ({ owner }) => owner.commitId,
  Deposit: ({ owner }) => owner.depositId,
  Event: ({ owner }) => owner.eventId,
  NetworkApp: ownerApp,
  Order: ownerOrder,
  PointGrant: ({ owner }) => owner.grantId,
  Refund: ({ owner }) => owner.refundId,
  Session: ({ owner }) => owner.sessionId,
  Transfer: ({ owner }) => owner.transferId,
  User: ({ owner }) => owner.id,
  WebhookDelivery: ownerDelivery,
  Withdrawal: ({ owner }) => owner.withdrawalId,
}

/** Returns a cursor in the format of Prisma connections. */
const rowCursor = (id: string) => Buffer.from(`GPC:S:${fromId(id)!.uuid}`).toString('base64')

/** Cursors of pages, made from another user's data. */
export const cursors: Record<string, ValueOf> = {
  'Query.auditEntries': ({ owner }) => rowCursor(owner.auditId),
  'Query.orders': ({ owner }) => rowCursor(owner.orderId),
  'Query.refunds': ({ owner }) => rowCursor(owner.refundId),
  'Query.sales': ({ owner }) => rowCursor(owner.orderId),
  'Query.webhookDeliveries': ({ owner }) => rowCursor(owner.deliveryId),
  'Query.deposits': ({ owner }) => rowCursor(owner.depositId),
  'Query.withdrawals': ({ owner }) => rowCursor(owner.withdrawalId),
  'Query.accountDeposits': ({ owner }) => rowCursor(owner.depositId),
  'Query.accountWithdrawals': ({ owner }) => rowCursor(owner.withdrawalId),
  'Query.events': ({ owner }) => owner.eventId,
  'Query.sessions': ({ owner }) => owner.sessionId,
}

/** Values of arguments and input fields. Undefined omits the value. */
export const inputValues: Record<string, ValueOf> = {
  'Asset.commitAt.at': ({ owner }) => owner.commitId,
  'Asset.diff.from': ({ owner }) => owner.commitId,
  'Asset.diff.to': ({ owner }) => owner.commitId,
  'Asset.version.commitId': ({ owner }) => owner.commitId,
  'Query.asset.id': ownerNid,
  'Query.assets.filter': () => ({}),
  'Query.auditEntries.everybody': () => true,
  'Query.auditEntries.userId': ({ owner }) => owner.id,
  'Query.deposits.status': () => 'PENDING',
  'Query.figures.days': () => 7,
  'Query.lookup.cid': ownerNid,
  'Query.lookup.sha256': ({ owner }) => owner.proofHash,
  'Query.mergedAssetTree.trees': () => ({}),
  'Query.networkApp.id': ownerApp,
  'Query.networkApps.filter': () => ({}),
  'Query.order.id': ownerOrder,
  'Query.orders.status': () => 'CREATED',
  'Query.refunds.orderId': ({ owner }) => owner.paidOrderId,
  'Query.sale.orderId': ownerOrder,
  'Query.sales.filter': () => ({}),
  'Query.accountDeposits.filter': () => ({}),
  'Query.accountWithdrawals.filter': () => ({}),
  'Query.users.search': ({ owner }) => owner.email,
  'Query.userCount.search': ({ owner }) => owner.email,
  'Query.webhookDeliveries.filter': () => ({}),
  'Query.webhookDelivery.id': ownerDelivery,
  'Subscription.commitUpdated.nid': ownerNid,
  'Subscription.orderUpdated.id': ownerOrder,
  'AssetFilter.isOriginalOwner': () => true,
  'AssetFilter.owner': ({ owner }) => owner.email,
  'AssetFilter.proofHash': () => undefined,
  'AssetFilter.tag': () => undefined,
  'AssetTreeInput.assetTreeCid': ({ owner }) => owner.treeCid,
  'AssetTreeInput.createdAt': () => '2026-11-21T00:00:00Z',
  'ChangeEmailInput.currentPassword': passwordOf,
  'ChangeEmailInput.newEmail': ({ serial }) => `new${serial}@example.org`,
  'ChangePasswordInput.currentPassword': passwordOf,
  'ChangePasswordInput.newPassword': () => PASSWORD,
  'ChangeUsernameInput.currentPassword': passwordOf,
  'ChangeUsernameInput.newUsername': ({ serial }) => `name${serial}`,
  'ConfirmOrderInput.maxCost': () => '1000',
  'CreateNetworkAppInput.deliveryFailurePolicy': () => 'REFUND',
  'CreateNetworkAppInput.name': ({ serial }) => `app ${serial}`,
  'CreateNetworkAppInput.price': () => '1',
  'CreateNetworkAppInput.priceMode': () => 'FIXED',
  'CreateNetworkAppInput.webhookUrl': () => 'https://hook.example.org/',
  'CreateOrderInput.actionArgs': () => ({ a: 1 }),
  'CreateOrderInput.maxCost': () => '1000',
  'CreateOrderInput.networkApp': ({ scene }) => scene.sellersApp,
  'CreateAssetLinkInput.expiresAt': () => undefined,
  'CreateAssetLinkInput.id': ownerNid,
  'CreateAssetLinkInput.label': () => 'For a friend',
  'RevokeAssetLinksInput.id': ownerNid,
  'QuoteWithdrawInput.amount': () => '0.001',
  'QuoteWithdrawInput.maxFee': () => undefined,
  'QuoteWithdrawInput.to': () => ELSEWHERE,
  'WithdrawInput.amount': () => '0.001',
  'WithdrawInput.currentPassword': passwordOf,
  'WithdrawInput.maxFee': () => undefined,
  'WithdrawInput.to': () => ELSEWHERE,
  'GrantPointsInput.amount': () => '1',
  'GrantPointsInput.reason': () => 'because',
  'GrantPointsInput.userId': ({ owner }) => owner.id,
  'IssueApiKeyInput.name': ({ serial }) => `service ${serial}`,
  'LockUserInput.reason': () => 'because',
  'LockUserInput.userId': ({ owner }) => owner.id,
  'NetworkAppFilter.isActive': () => true,
  'NetworkAppFilter.name': () => 'owner',
  'QuoteRegisterAssetInput.assetFile': newFile,
  'QuoteRegisterAssetInput.assetFileMimeType': () => 'text/plain',
  // A price limit that causes a problem in the quote.
  'QuoteRegisterAssetInput.maxCost': () => '0',
  'RefundOrderInput.amount': () => '0.001',
  'RefundOrderInput.orderId': ({ owner }) => owner.paidOrderId,
  'RefundOrderInput.reason': () => 'because',
  'RegisterAssetInput.assetFile': newFile,
  'RegisterAssetInput.assetFileMimeType': () => 'text/plain',
  'SendTestEventInput.networkAppId': ownerApp,
  'RequestEmailVerificationInput.email': ({ owner }) => owner.email,
  'RequestPasswordResetInput.email': ({ owner }) => owner.email,
  'ResetPasswordInput.newPassword': () => PASSWORD,
  'ResetPasswordInput.token': ({ actor }) => actor?.resetToken ?? 'a guess',
  'ResetPasswordInput.uid': ({ owner }) => owner.id,
  'RevertAssetInput.expectedHead': () => undefined,
  'RevertAssetInput.revertTo': ({ owner }) => owner.commitId,
  'RotateWebhookSecretInput.id': ownerApp,
  'SaleFilter.buyerId': ({ owner }) => owner.id,
  'SaleFilter.networkAppId': () => undefined,
  'SaleFilter.status': () => 'CREATED',
  'AccountDepositFilter.status': () => 'PENDING',
  'AccountDepositFilter.userId': ({ owner }) => owner.id,
  'AccountWithdrawalFilter.status': () => 'WAITING',
  'AccountWithdrawalFilter.userId': ({ owner }) => owner.id,
  'SignInInput.email': ({ owner }) => owner.email,
  'SignInInput.name': () => 'a device',
  'SignInInput.password': passwordOf,
  'SignUpInput.email': ({ serial }) => `someone${serial}@example.org`,
  'SignUpInput.language': () => 'en-us',
  'SignUpInput.password': () => PASSWORD,
  'SignUpInput.referralCode': () => '',
  'SignUpInput.username': ({ serial }) => `someone${serial}`,
  'UnlockUserInput.reason': () => 'because',
  'UnlockUserInput.userId': ({ owner }) => owner.id,
  'UpdateAssetMetadataInput.expectedHead': () => undefined,
  'UpdateAssetMetadataInput.id': ownerNid,
  'UpdateNetworkAppInput.deliveryFailurePolicy': () => 'REFUND',
  'UpdateNetworkAppInput.name': ({ serial }) => `app ${serial}`,
  'UpdateNetworkAppInput.price': () => '2',
  'UpdateNetworkAppInput.webhookUrl': () => 'https://hook.example.org/',
  'UpdateProfileInput.allowC2paDownload': () => false,
  'UpdateProfileInput.defaultTag': () => 'tag',
  'UpdateProfileInput.description': () => 'About me',
  'UpdateProfileInput.displayName': () => 'Me',
  'UpdateProfileInput.language': () => 'en-us',
  'UpdateProfileInput.profileBackground': () => undefined,
  'UpdateProfileInput.profilePicture': () => undefined,
  'VerifyEmailInput.token': ({ actor }) => actor?.verificationToken ?? 'a guess',
  'VerifyEmailInput.uid': ({ owner }) => owner.id,
  'WebhookDeliveryFilter.networkAppId': ownerApp,
  'WebhookDeliveryFilter.orderId': () => undefined,
  'WebhookDeliveryFilter.status': () => 'PENDING',
}

/** Fields that asset inputs share. */
const paidInputs: Record<string, unknown> = { commitMessage: 'Changed', nitCommitCustom: { a: 1 }, maxCost: '1000' }
const metadataInputs = (fields: Record<string, MetadataField>) =>
  mapFields<Record<string, unknown>>(fields, (field) => field.kind === 'flag' || sampleOf(field, 'changed'))
const updateInputs = { ...paidInputs, ...metadataInputs(metadataFields) }
const registrationInputs = { ...updateInputs, ...metadataInputs(registrationFields) }
for (const [input, values] of Object.entries({
  RegisterAssetInput: registrationInputs,
  QuoteRegisterAssetInput: registrationInputs,
  UpdateAssetMetadataInput: updateInputs,
  RevertAssetInput: { commitMessage: 'Changed', maxCost: '1000' },
})) {
  for (const [name, value] of Object.entries(values)) inputValues[`${input}.${name}`] ??= () => value
}

/** Returns the value of an argument or input field. The type of an ID without an entry follows from the name of its input, such as `CancelOrderInput`. */
export function inputValueOf(coordinate: string): ValueOf | undefined {
  const operation = /^(\w+)Input\.id$/.exec(coordinate)?.[1]
  const types = Object.keys(nodeIds).sort((a, b) => b.length - a.length)
  return inputValues[coordinate] ?? nodeIds[types.find((type) => operation?.endsWith(type)) ?? '']
}

export interface RestCall {
  params?: Record<string, string>
  query?: Record<string, string>
  json?: object
  /** Form fields to send instead of JSON. */
  form?: Record<string, string | File>
  urlencoded?: Record<string, string>
}

/** Returns the request data of a route, or several if there are several ways to call it. */
export type CallOf = (asked: Asked) => RestCall | RestCall[]

/** Returns a link with a signature that is valid for something else. */
const foreignLink = ({ owner, actor }: Asked): RestCall => ({
  params: { nid: owner.nid },
  ...(actor && { query: Object.fromEntries(new URL(actor.fileLink).searchParams) }),
})
const nid = ({ owner }: Asked): RestCall => ({ params: { nid: owner.nid } })
const app = ({ owner }: Asked): RestCall => ({ params: { id: owner.appId } })
const order = ({ owner }: Asked): RestCall => ({ params: { id: owner.orderId } })
const plain: CallOf = () => ({})
/** An ID that is not a picture. Pictures are public. */
const picture: CallOf = () => ({ params: { id: '01a1ff73-54e7-76b3-a9bc-095067c6ebfd' } })
const resetLink = ({ owner, actor }: Asked): RestCall => ({
  params: { uid: owner.id, token: actor?.resetToken ?? 'guess' },
  urlencoded: { 'new-password': PASSWORD, 'new-password-again': PASSWORD },
})
const verificationLink = ({ owner, actor }: Asked): RestCall => ({
  params: { uid: owner.id, token: actor?.verificationToken ?? 'guess' },
  urlencoded: {},
})

/** Request data for each route. */
export const restCalls: Record<string, CallOf> = {
  'POST auth/users': ({ serial }) => ({
    json: { username: `rest${serial}`, email: `rest${serial}@example.org`, password: PASSWORD },
  }),
  'POST auth/token/login': (asked) => ({ json: { email: asked.owner.email, password: passwordOf(asked) } }),
  'POST auth/token/logout': plain,
  'GET auth/users/me': plain,
  'DELETE auth/users/me': plain,
  'GET auth/users': plain,
  'POST auth/users/reset_password': ({ owner }) => ({ json: { email: owner.email } }),
  'POST auth/users/reset_password_confirm': ({ owner, actor }) => ({
    json: { uid: owner.id, token: actor?.resetToken ?? 'a guess', new_password: PASSWORD },
  }),
  'POST auth/users/set_password': (asked) => ({
    json: { current_password: passwordOf(asked), new_password: PASSWORD },
  }),
  'POST auth/users/set_email': (asked) => ({
    json: { current_password: passwordOf(asked), new_email: `rest${asked.serial}@example.org` },
  }),
  'POST auth/users/set_username': (asked) => ({
    json: { current_password: passwordOf(asked), new_username: `rest${asked.serial}` },
  }),
  'POST auth/users/activation': ({ owner, actor }) => ({
    json: { uid: owner.id, token: actor?.verificationToken ?? 'a guess' },
  }),
  'POST auth/users/resend_activation': ({ owner }) => ({ json: { email: owner.email } }),
  'PATCH auth/users/me': () => ({ json: { language: 'en-us', default_tag: 'tag', allow_c2pa_download: false } }),
  'PATCH auth/users/profile': () => ({ json: { display_name: 'Me', description: 'About me' } }),
  'GET auth/users/profile': plain,
  'POST auth/devices': () => ({ json: { platform: 'ios' } }),
  'GET wallets/num-wallet': plain,
  'GET wallets/asset-wallet': plain,
  'GET auth/sessions': plain,
  'DELETE auth/sessions/:id': ({ owner }) => ({ params: { id: owner.sessionId } }),
  'POST auth/sessions/revoke-others': plain,
  'GET auth/users/me/audit-entries': ({ owner }) => ({ query: { user_id: owner.id, everybody: 'true' } }),
  'POST assets': (asked) => ({ form: { asset_file: newFile(asked), caption: 'New' } }),
  'PATCH assets/:nid': (asked) => ({ ...nid(asked), json: { caption: 'Changed', public_access: true } }),
  'GET assets/:nid': nid,
  'GET assets': ({ owner }): RestCall[] => [
    { query: { owner: owner.email } },
    { query: { tag: owner.tag } },
    { query: { proof_hash: owner.proofHash } },
  ],
  'DELETE assets/:nid': nid,
  'DELETE asset-links/:id': ({ owner }) => ({ params: { id: owner.linkId } }),
  'GET assets/:nid/tree': ({ owner }) => ({ params: { nid: owner.nid }, query: { at: owner.commitId } }),
  'GET lookup': ({ owner }) => ({ query: { cid: owner.nid } }),
  'GET history': ({ owner }) => ({ query: { nid: owner.nid } }),
  'POST assets/merge-trees': ({ owner }) => ({ json: [{ assetTreeCid: owner.treeCid, timestampCreated: 1 }] }),
  'POST assets/:nid/revert': (asked) => ({ ...nid(asked), json: { revert_to: asked.owner.commitId } }),
  'POST store/network-apps': ({ serial }) => ({
    json: { name: `rest ${serial}`, price_mode: 'fixed', price: '1', webhook_url: 'https://hook.example.org/' },
  }),
  'GET store/network-apps': plain,
  'GET store/network-apps/:id': app,
  'PATCH store/network-apps/:id': (asked) => ({ ...app(asked), json: { price: '2' } }),
  'DELETE store/network-apps/:id': app,
  'POST store/api-keys': ({ serial }) => ({ json: { name: `rest ${serial}` } }),
  'GET store/api-keys': plain,
  'DELETE store/api-keys/:id': ({ scene }) => ({ params: { id: scene.apiKeyId } }),
  'GET events': ({ owner }) => ({ query: { after: owner.eventId } }),
  'POST store/network-app-orders': ({ scene }) => ({ json: { network_app: scene.sellersApp, action_args: { a: 1 } } }),
  'GET store/network-app-orders/:id': order,
  'GET store/network-app-orders': plain,
  'GET store/network-app-orders/:id/refunds': ({ owner }) => ({ params: { id: owner.paidOrderId } }),
  'POST store/network-app-orders/:id/refunds': ({ owner }) => ({
    params: { id: owner.paidOrderId },
    json: { amount: '0.001', reason: 'because' },
  }),
  'GET store/webhook-deliveries': plain,
  'GET store/webhook-deliveries/:id': ({ owner }) => ({ params: { id: owner.deliveryId } }),
  'POST store/point-grants': ({ owner }) => ({ json: { user_id: owner.id, amount: '1', reason: 'because' } }),
  'GET store/users': ({ owner }) => ({ query: { search: owner.email } }),
  'POST store/users/:id/lock': ({ owner }) => ({ params: { id: owner.id }, json: { reason: 'because' } }),
  'POST store/users/:id/unlock': ({ owner }) => ({ params: { id: owner.id }, json: { reason: 'because' } }),
  'GET wallet/deposits': plain,
  'GET wallet/transfers': plain,
  'POST wallet/withdrawals': (asked) => ({
    json: { amount: '0.001', to: ELSEWHERE, current_password: passwordOf(asked) },
  }),
  'GET wallet/withdrawals': plain,
  'POST wallet/withdrawals/:id/cancel': ({ owner }) => ({ params: { id: owner.withdrawalId } }),
  'GET /api/v3/app-info': plain,
  'GET /api/v3/services/app-info': plain,
  'GET /api/v3/series': plain,
  'GET /api/v3/products': plain,
  'GET /api/v3/store/products': plain,
  'GET /api/v3/contacts': plain,
  'GET /api/v3/transactions': plain,
  'GET /api/v3/transactions/inbox': plain,
  'GET /api/v2/transactions': plain,
  'GET /pictures/:id': picture,
  'GET /pictures/:id/thumbnail': picture,
  'GET /healthz': plain,
  'GET /readyz': plain,
  'GET /version': plain,
  'GET /schema.graphql': plain,
  'GET /': plain,
  'GET /api/v3/openapi.json': plain,
  'GET /api/v3/docs': plain,
  'GET /api/v3/docs/page.js': plain,
  'GET /api/v3/docs/scalar.js': plain,
  'GET /api/v3/events/stream': ({ owner }) => ({ query: { last_event_id: owner.eventId } }),
  'GET /api/v3/auth/users/me/export': plain,
  'GET /auth/users/me/export': plain,
  'GET /api/v3/assets/:nid/proof': ({ owner }) => ({ params: { nid: owner.nid } }),
  'GET /ipfs/:cid': ({ owner, actor }) => [
    { params: { cid: owner.nid } },
    { params: { cid: owner.treeCid } },
    { params: { cid: owner.blockCid } },
    // A link is only valid for the file that it was created for.
    ...(actor ? [{ params: { cid: owner.nid }, query: Object.fromEntries(new URL(actor.fileLink).searchParams) }] : []),
  ],
  'GET /lookup': ({ owner }) => ({ query: { file: owner.nid } }),
  'POST /lookup': ({ owner }) => ({ urlencoded: { file: owner.nid } }),
  'GET /assets/:nid': foreignLink,
  'POST /assets/:nid': foreignLink,
  'GET /api/v3/assets/:nid/c2pa': nid,
  'POST /api/v3/assets/:nid/c2pa': nid,
  'GET /account/password-reset/:uid/:token': resetLink,
  'POST /account/password-reset/:uid/:token': resetLink,
  'GET /account/email-verification/:uid/:token': verificationLink,
  'POST /account/email-verification/:uid/:token': verificationLink,
}

/** Routes of quotes and the quoted routes, whose request data they share. */
const quotedCalls: Record<string, string> = {
  'POST quotes/assets': 'POST assets',
  'POST quotes/assets/:nid': 'PATCH assets/:nid',
  'POST quotes/assets/:nid/revert': 'POST assets/:nid/revert',
  'POST quotes/network-app-orders': 'POST store/network-app-orders',
  'POST quotes/network-app-orders/:id/confirm': 'POST store/network-app-orders/:id/confirm',
  'POST quotes/network-app-orders/:id/refunds': 'POST store/network-app-orders/:id/refunds',
  'POST quotes/withdrawals': 'POST wallet/withdrawals',
}
for (const [quote, quoted] of Object.entries(quotedCalls)) restCalls[quote] = restCallOf(quoted)!

/** Returns the request data of a route. A route without an entry, such as `POST orders/:id/cancel`, takes the IDs of `GET orders/:id`. */
export function restCallOf(key: string): CallOf | undefined {
  const callOfParent = restCalls[key.replace(/^\w+ (.*\/:\w+)\/[\w-]+$/, 'GET $1')]
  const withIds: CallOf = (asked) => [callOfParent?.(asked) ?? []].flat().map(({ params }) => ({ params }))
  return restCalls[key] ?? (callOfParent && withIds)
}
