/**
 * Who may do what: the whole of it. A field, a type or a route that is not here, and an entry for one that is gone, make
 * the proof fail.
 */
import { metadataFields, registrationFields } from '../../src/domain/asset/metadata.ts'
import {
  adminFinds,
  admins,
  type Expected,
  everybody,
  nobody,
  ownerAlone,
  ownerAndAdminFind,
  ownerAndAdmins,
  ownerFinds,
  ownerReads,
  signedIn,
  signedInFinds,
} from './authz-kinds.ts'

export interface Expectations {
  /** `Type.field` of the root types, with the variant of its arguments: by what is given, or by what is found. */
  fields: Record<string, Expected>
  /** `METHOD path`. */
  routes: Record<string, Expected>
  types: Record<string, TypeRule>
  /** Where an administrator is to change what belongs to others. */
  administration: readonly string[]
}

/**
 * Who finds an object of a type, or a value in a field of one, wherever it is reached: `self` is whoever it belongs to;
 * `parent` has no rule of its own and is judged by what it hangs on.
 */
export interface TypeRule {
  who: 'everybody' | 'self' | 'selfOrAdmin' | 'admin' | 'parent'
  fields: string
  /** Null for all others. */
  selfFields?: string
  adminFields?: string
}

const guess = { ...nobody('INVALID_TOKEN'), owner: 'allow' } satisfies Expected
const deadLink = { ...nobody('HTTP 410'), owner: 'allow' } satisfies Expected
const wrongPassword = { ...nobody('INCORRECT_LOGIN_CREDENTIALS'), owner: 'allow' } satisfies Expected
const foreignPlace = {
  ...nobody('VALIDATION_FAILED'),
  anonymous: 'NOT_AUTHENTICATED',
  owner: 'allow',
} satisfies Expected

const payload = (fields: string): TypeRule => ({ who: 'parent', fields })
const alike = (fields: string, types: string): Record<string, TypeRule> =>
  Object.fromEntries(types.split(' ').map((type) => [type, payload(fields)]))

const metadataNames = Object.keys({ ...metadataFields, ...registrationFields })

export const expectations: Expectations = {
  fields: {
    'Query.apiKeys': admins,
    'Query.asset': ownerReads,
    'Query.assets': everybody,
    'Query.assets(filter)': everybody,
    'Query.auditEntries': signedIn,
    'Query.auditEntries(after)': signedIn,
    'Query.auditEntries(everybody)': admins,
    'Query.auditEntries(userId)': ownerAndAdmins,
    'Query.events': signedIn,
    'Query.events(after)': foreignPlace,
    'Query.figures': admins,
    'Query.me': signedIn,
    'Query.mergedAssetTree': ownerReads,
    'Query.myData': signedIn,
    'Query.networkApp': signedIn,
    'Query.networkApps': signedIn,
    'Query.networkApps(filter)': signedIn,
    'Query.node(ApiKey)': adminFinds,
    'Query.node(Asset)': ownerFinds,
    'Query.node(AuditEntry)': ownerAndAdminFind,
    'Query.node(Commit)': ownerFinds,
    'Query.node(Event)': ownerFinds,
    'Query.node(NetworkApp)': signedInFinds,
    'Query.node(Order)': ownerFinds,
    'Query.node(PointGrant)': ownerAndAdminFind,
    'Query.node(Refund)': ownerAndAdminFind,
    'Query.node(Session)': ownerFinds,
    'Query.node(Transfer)': ownerFinds,
    'Query.node(User)': everybody,
    'Query.node(WebhookDelivery)': adminFinds,
    'Query.order': ownerAlone,
    'Query.orders': signedIn,
    'Query.orders(after)': signedIn,
    'Query.orders(status)': signedIn,
    'Query.pricing': everybody,
    'Query.quote(confirmOrder)': ownerAlone,
    'Query.quote(createOrder)': signedIn,
    'Query.quote(registerAsset)': signedIn,
    'Query.quote(updateAssetMetadata)': ownerAlone,
    'Query.sale': admins,
    'Query.sales': admins,
    'Query.sales(after)': admins,
    'Query.sales(filter)': admins,
    'Query.sessions': signedIn,
    // A place in the order of time, not a session.
    'Query.sessions(after)': signedIn,
    'Query.transfers': signedIn,
    'Query.users': admins,
    'Query.webhookDeliveries': admins,
    'Query.webhookDeliveries(after)': admins,
    'Query.webhookDeliveries(filter)': admins,
    'Query.webhookDelivery': admins,
    'Mutation.cancelOrder': ownerAlone,
    'Mutation.changeEmail': signedIn,
    'Mutation.changePassword': signedIn,
    'Mutation.changeUsername': signedIn,
    'Mutation.confirmOrder': ownerAlone,
    'Mutation.confirmOrder(dryRun)': ownerAlone,
    'Mutation.createNetworkApp': admins,
    'Mutation.createOrder': signedIn,
    'Mutation.createOrder(dryRun)': signedIn,
    'Mutation.deactivateNetworkApp': admins,
    'Mutation.deleteAccount': signedIn,
    'Mutation.deleteAsset': ownerAlone,
    'Mutation.grantPoints': admins,
    'Mutation.issueApiKey': admins,
    'Mutation.refundOrder': admins,
    'Mutation.refundOrder(dryRun)': admins,
    'Mutation.lockUser': admins,
    'Mutation.registerAsset': signedIn,
    'Mutation.registerAsset(dryRun)': signedIn,
    'Mutation.replayWebhookDelivery': admins,
    'Mutation.requestEmailVerification': everybody,
    'Mutation.requestPasswordReset': everybody,
    'Mutation.resetPassword': guess,
    'Mutation.revokeApiKey': admins,
    'Mutation.revokeOtherSessions': signedIn,
    'Mutation.revokeSession': ownerAlone,
    'Mutation.rotateWebhookSecret': admins,
    'Mutation.sendTestEvent': admins,
    'Mutation.signIn': wrongPassword,
    'Mutation.signOut': signedIn,
    'Mutation.signUp': everybody,
    'Mutation.unlockUser': admins,
    'Mutation.updateAssetMetadata': ownerAlone,
    'Mutation.updateAssetMetadata(dryRun)': ownerAlone,
    'Mutation.updateNetworkApp': admins,
    'Mutation.updateProfile': signedIn,
    'Mutation.verifyEmail': guess,
    'Subscription.commitUpdated': ownerReads,
    'Subscription.orderUpdated': ownerAlone,
  },
  routes: {
    'POST auth/users': everybody,
    'POST auth/token/login': wrongPassword,
    'POST auth/token/logout': signedIn,
    'GET auth/users/me': signedIn,
    'DELETE auth/users/me': signedIn,
    'GET auth/users': signedIn,
    'POST auth/users/reset_password': everybody,
    'POST auth/users/reset_password_confirm': guess,
    'POST auth/users/set_password': signedIn,
    'POST auth/users/set_email': signedIn,
    'POST auth/users/set_username': signedIn,
    'POST auth/users/activation': guess,
    'POST auth/users/resend_activation': everybody,
    'PATCH auth/users/me': signedIn,
    'PATCH auth/users/profile': signedIn,
    'GET auth/users/profile': signedIn,
    'POST auth/devices': signedIn,
    'GET auth/sessions': signedIn,
    'DELETE auth/sessions/:id': ownerAlone,
    'POST auth/sessions/revoke-others': signedIn,
    'GET auth/users/me/audit-entries': signedIn,
    'POST assets': signedIn,
    'POST assets?dry_run=true': signedIn,
    'PATCH assets/:nid': ownerAlone,
    'PATCH assets/:nid?dry_run=true': ownerAlone,
    'GET assets/:nid': ownerReads,
    'GET assets': everybody,
    'DELETE assets/:nid': ownerAlone,
    'GET assets/:nid/history': ownerReads,
    'GET history': ownerReads,
    'POST assets/merge-trees': ownerReads,
    'POST assets/:nid/download': ownerReads,
    'POST store/network-apps': admins,
    'GET store/network-apps': signedIn,
    'GET store/network-apps/:id': signedIn,
    'PATCH store/network-apps/:id': admins,
    'DELETE store/network-apps/:id': admins,
    'POST store/network-apps/:id/rotate-secret': admins,
    'POST store/network-apps/:id/test-events': admins,
    'POST store/api-keys': admins,
    'GET store/api-keys': admins,
    'DELETE store/api-keys/:id': admins,
    'GET events': foreignPlace,
    'POST store/network-app-orders': signedIn,
    'POST store/network-app-orders?dry_run=true': signedIn,
    'POST store/network-app-orders/:id/confirm': ownerAlone,
    'POST store/network-app-orders/:id/confirm?dry_run=true': ownerAlone,
    'POST store/network-app-orders/:id/cancel': ownerAlone,
    'GET store/network-app-orders/:id': ownerAlone,
    'GET store/network-app-orders': signedIn,
    'POST store/network-app-orders/:id/refunds': admins,
    'POST store/network-app-orders/:id/refunds?dry_run=true': admins,
    'GET store/webhook-deliveries': admins,
    'GET store/webhook-deliveries/:id': admins,
    'POST store/webhook-deliveries/:id/replay': admins,
    'POST store/point-grants': admins,
    'GET store/users': admins,
    'POST store/users/:id/lock': admins,
    'POST store/users/:id/unlock': admins,
    'GET wallet/transfers': signedIn,
    'GET /api/v3/app-info': everybody,
    'GET /api/v3/services/app-info': everybody,
    'GET /api/v3/series': everybody,
    'GET /api/v3/products': everybody,
    'GET /api/v3/store/products': everybody,
    'GET /api/v3/contacts': signedIn,
    'GET /api/v3/inbox': signedIn,
    'GET /api/v3/transactions': signedIn,
    'GET /api/v2/transactions': signedIn,
    'GET /pictures/:id': nobody('NOT_FOUND'),
    'GET /pictures/:id/thumbnail': nobody('NOT_FOUND'),
    'GET /healthz': everybody,
    'GET /readyz': everybody,
    'GET /version': everybody,
    'GET /api/v3/openapi.json': everybody,
    'GET /api/v3/docs': everybody,
    'GET /api/v3/docs/page.css': everybody,
    'GET /api/v3/docs/page.js': everybody,
    'GET /api/v3/docs/swagger-ui.css': everybody,
    'GET /api/v3/docs/swagger-ui-bundle.js': everybody,
    'GET /schema.graphql': everybody,
    'GET /': everybody,
    'GET /api/v3/events/stream': foreignPlace,
    'GET /api/v3/auth/users/me/export': signedIn,
    'GET /auth/users/me/export': signedIn,
    'GET /ipfs/:cid': ownerReads,
    'GET /account/password-reset/:uid/:token': deadLink,
    'POST /account/password-reset/:uid/:token': deadLink,
    'GET /account/email-verification/:uid/:token': deadLink,
    'POST /account/email-verification/:uid/:token': deadLink,
  },
  administration: [
    'Mutation.deactivateNetworkApp',
    'Mutation.grantPoints',
    'Mutation.refundOrder',
    'Mutation.replayWebhookDelivery',
    'Mutation.rotateWebhookSecret',
    'Mutation.sendTestEvent',
    'Mutation.updateNetworkApp',
    'PATCH store/network-apps/:id',
    'DELETE store/network-apps/:id',
    'POST store/network-apps/:id/rotate-secret',
    'POST store/network-apps/:id/test-events',
    'POST store/webhook-deliveries/:id/replay',
    'POST store/network-app-orders/:id/refunds',
    'POST store/point-grants',
    'Mutation.lockUser',
    'Mutation.unlockUser',
    'POST store/users/:id/lock',
    'POST store/users/:id/unlock',
  ],
  types: {
    ApiKey: { who: 'admin', fields: 'createdAt id name prefix revokedAt' },
    // Whether it is private is told by its nid.
    Asset: {
      who: 'self',
      fields:
        'assetFileMimeType assetFileName assetFileSize assetFileUrl commitCount commits creator headId history id isOriginalOwner isOwn nid nitCommitCustom ' +
        `owner proofHash registration thumbnailUrl updatedAt uploadedAt uuid ${metadataNames.join(' ')}`,
    },
    AuditEntry: { who: 'selfOrAdmin', fields: 'action address createdAt id reason subject user' },
    Commit: {
      who: 'self',
      fields:
        'action actionName actionResult author blockNumber changes committer createdAt explorerUrl id message provider sequence status ' +
        'transactionHash treeCid treeSha256 treeSignature user',
    },
    Event: {
      who: 'self',
      fields: 'commitId createdAt data deliveryId id orderId sequence transferId type',
    },
    NetworkApp: {
      who: 'everybody',
      fields: 'createdAt deactivatedAt deliveryFailurePolicy id isActive name owner price priceMode updatedAt',
      adminFields: 'webhookDisabledAt webhookUrl',
    },
    Order: {
      who: 'self',
      fields:
        'actionArgs actionArgsErasedAt buyer createdAt expiresAt id networkAppId networkAppName numPaid numQuoted numRefunded paidAt pointsPaid pointsQuoted ' +
        'pointsRefunded price refunds settledAt status totalPaid totalRefunded transferId',
    },
    PointGrant: { who: 'selfOrAdmin', fields: 'amount createdAt expiredAt expiresAt id reason user' },
    Pricing: { who: 'everybody', fields: 'assetUpdateFee currency gasFee total' },
    Refund: { who: 'selfOrAdmin', fields: 'createdAt id num orderId points reason total transferId' },
    Sale: {
      who: 'admin',
      fields:
        'buyer createdAt expiresAt networkAppId networkAppName numPaid orderId paidAt pointsPaid price refunds settledAt status totalPaid totalRefunded',
    },
    Session: { who: 'self', fields: 'createdAt expiresAt id isCurrent lastUsedAt name' },
    Transfer: { who: 'self', fields: 'balance createdAt id kind num points subjectId' },
    User: {
      who: 'everybody',
      fields:
        'address assets createdAt description displayName id profileBackgroundThumbnailUrl profileBackgroundUrl ' +
        'profilePictureThumbnailUrl profilePictureUrl username',
      selfFields:
        'allowC2paDownload assetCount defaultTag email emailVerified language pendingEmail referralCode role wallet',
      adminFields: 'lockedAt',
    },
    WebhookDelivery: {
      who: 'admin',
      fields:
        'attemptCount attempts createdAt eventId eventType id networkApp networkAppId nextAttemptAt orderId payload settledAt status',
    },
    MergedAssetTree: payload('assetTrees mergedAssetTree'),
    PageInfo: payload('endCursor hasNextPage hasPreviousPage startCursor'),
    DayFigures: payload(
      'commits day delivered givenUp lagP50 lagP95 ordersMade ordersPaid pending refunds revenueNum revenuePoints signUps',
    ),
    Figures: payload('days oldestWaitingCommitAt waitingCommits waitingDeliveries'),
    Quote: payload('available gas missing num numCharged points pointsCharged price problems total'),
    RefundQuote: payload('num points problems refundable total'),
    QuoteProblem: payload('code field message'),
    Wallet: payload('address num points spendable'),
    WalletBalance: payload('num points'),
    WebhookAttempt: payload('duration failure number response startedAt statusCode'),
    ...alike(
      'edges nodes pageInfo totalCount',
      'ApiKeyConnection AssetConnection AuditEntryConnection NetworkAppConnection OrderConnection SaleConnection SessionConnection TransferConnection WebhookDeliveryConnection',
    ),
    ...alike('edges nodes pageInfo', 'CommitConnection EventConnection'),
    ...alike(
      'cursor node',
      'ApiKeyEdge AssetEdge AuditEntryEdge CommitEdge EventEdge NetworkAppEdge OrderEdge SaleEdge SessionEdge TransferEdge WebhookDeliveryEdge',
    ),
    ...alike('order', 'CancelOrderPayload'),
    ...alike('order quote', 'ConfirmOrderPayload CreateOrderPayload'),
    ...alike('networkApp webhookSecret', 'CreateNetworkAppPayload RotateWebhookSecretPayload'),
    ...alike('networkApp', 'DeactivateNetworkAppPayload UpdateNetworkAppPayload'),
    ...alike('id', 'DeleteAccountPayload DeleteAssetPayload RevokeSessionPayload'),
    ...alike('grant', 'GrantPointsPayload'),
    ...alike('apiKey key', 'IssueApiKeyPayload'),
    ...alike('quote refund', 'RefundOrderPayload'),
    ...alike('asset quote', 'RegisterAssetPayload UpdateAssetMetadataPayload'),
    ...alike('webhookDelivery', 'ReplayWebhookDeliveryPayload SendTestEventPayload'),
    ...alike('email', 'RequestEmailVerificationPayload RequestPasswordResetPayload'),
    ...alike('apiKey', 'RevokeApiKeyPayload'),
    ...alike('session', 'RevokeOtherSessionsPayload'),
    ...alike('token', 'SignInPayload'),
    ...alike('email user', 'SignUpPayload'),
    ...alike(
      'user',
      'ChangeEmailPayload ChangePasswordPayload ChangeUsernamePayload LockUserPayload ResetPasswordPayload UnlockUserPayload UpdateProfilePayload VerifyEmailPayload',
    ),
  },
}
