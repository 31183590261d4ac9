/** Permissions for objects of each type and for each of their fields, wherever they occur. */
import { metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'

/**
 * Callers who may see objects of a type, or the values of a field. `self` is the owner of the object. `parent` means the same rule as for
 * the parent object.
 */
export interface TypeRule {
  who: 'everybody' | 'self' | 'selfOrAdmin' | 'admin' | 'parent'
  fields: string
  /** Permission of fields that are null for all other callers. */
  selfFields?: string
  adminFields?: string
}

const payload = (fields: string): TypeRule => ({ who: 'parent', fields })
const alike = (fields: string, types: string): Record<string, TypeRule> =>
  Object.fromEntries(types.split(' ').map((type) => [type, payload(fields)]))

const metadataNames = Object.keys({ ...metadataFields, ...registrationFields })

/** Rules by type name. */
export const typeRules: Record<string, TypeRule> = {
  ApiKey: { who: 'admin', fields: 'createdAt id name prefix revokedAt' },
  // The nid determines if the asset is private.
  Asset: {
    who: 'self',
    fields:
      'assetFileMimeType assetFileName assetFileSize assetFileUrl commitAt commitCount commits contentCredentials creator diff headId history id isOriginalOwner isOwn nid nitCommitCustom ' +
      `owner pageUrl proofHash registration thumbnailUrl updatedAt uploadedAt uuid verification version versions ${metadataNames.join(' ')}`,
    selfFields: 'links',
  },
  AssetLink: { who: 'self', fields: 'createdAt expiresAt id label lastUsedAt revokedAt url' },
  AuditEntry: { who: 'selfOrAdmin', fields: 'action address createdAt id reason subject user' },
  Check: { who: 'self', fields: 'finding name result' },
  Commit: {
    who: 'self',
    fields:
      'action actionName actionResult author blockNumber changes committer createdAt explorerUrl feePaid gasUsed id message provider sequence status ' +
      'transactionHash tree treeCid treeSha256 treeSignature user',
  },
  ContentCredentials: {
    who: 'self',
    fields:
      'actions checkedAt creators digitalSourceType generator issuer manifestCount mining notChecked problems remoteManifestUrl signedAt signer state title trustList',
  },
  AccountDeposit: {
    who: 'admin',
    fields:
      'amount blockNumber createdAt creditedAt depositId frozenAt kind shortfall status transactionHash userId writtenOff',
  },
  AccountWithdrawal: {
    who: 'admin',
    fields: 'amount createdAt dueAt failure settledAt status to total transactionHash userId withdrawalId',
  },
  Deposit: {
    who: 'self',
    fields: 'amount blockNumber confirmations createdAt creditedAt frozenAt id kind shortfall status transactionHash',
  },
  Event: {
    who: 'self',
    fields: 'commitId createdAt data deliveryId id orderId sequence transferId type',
  },
  Finding: { who: 'self', fields: 'finding result' },
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
  PointGrant: { who: 'selfOrAdmin', fields: 'amount createdAt id reason user' },
  Pricing: { who: 'everybody', fields: 'assetUpdateFee currency gasFee total' },
  Refund: { who: 'selfOrAdmin', fields: 'createdAt id num orderId points reason total transferId' },
  Sale: {
    who: 'admin',
    fields:
      'buyer createdAt expiresAt networkAppId networkAppName numPaid orderId paidAt pointsPaid price refunds settledAt status totalPaid totalRefunded',
  },
  Session: { who: 'self', fields: 'createdAt expiresAt id isCurrent lastUsedAt name' },
  Verification: {
    who: 'self',
    fields: 'asOfBlock asOfTime chainId commitCount commits complete file foreign record registry settled verdict',
  },
  VerifiedCommit: {
    who: 'self',
    fields: 'blockNumber blockTime checks life message recorder transactionHash treeCid',
  },
  Transfer: { who: 'self', fields: 'balance createdAt id kind num points subjectId' },
  Withdrawal: {
    who: 'self',
    fields: 'amount createdAt dueAt failure fee id settledAt status to total transactionHash',
  },
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
  AssetDiff: payload('changes from to'),
  MergedAssetTree: payload('assetTrees mergedAssetTree'),
  PageInfo: payload('endCursor hasNextPage hasPreviousPage startCursor'),
  DayFigures: payload(
    'commits day delivered givenUp lagP50 lagP95 ordersMade ordersPaid pending refunds revenueNum revenuePoints signUps',
  ),
  HeldCoins: payload(
    'amountDue atAddresses dueWithdrawals frozenDeposits inTreasury missing oldestDueAt shortfall treasury treasuryBalance inTransit',
  ),
  Figures: payload('days oldestWaitingCommitAt waitingCommits waitingDeliveries'),
  AssetVersion: payload('altText caption commit headline nitCommitCustom'),
  PaymentQuote: payload('available gas missing num numCharged points pointsCharged price problems total'),
  RefundQuote: payload('available num points problems total'),
  WithdrawalQuote: payload('amount available fee leftToday problems total'),
  QuoteProblem: payload('code field message'),
  Wallet: payload('address num points spendable'),
  WalletBalance: payload('num points'),
  WebhookAttempt: payload('duration failure number response startedAt statusCode'),
  ...alike(
    'edges nodes pageInfo totalCount',
    'AccountDepositConnection AccountWithdrawalConnection ApiKeyConnection AssetConnection AssetLinkConnection AuditEntryConnection DepositConnection EventConnection NetworkAppConnection OrderConnection RefundConnection SaleConnection SessionConnection TransferConnection WebhookDeliveryConnection WithdrawalConnection',
  ),
  ...alike('edges nodes pageInfo', 'CommitConnection'),
  ...alike(
    'cursor node',
    'AccountDepositEdge AccountWithdrawalEdge ApiKeyEdge AssetEdge AssetLinkEdge AuditEntryEdge CommitEdge DepositEdge EventEdge NetworkAppEdge OrderEdge RefundEdge SaleEdge SessionEdge TransferEdge WebhookDeliveryEdge WithdrawalEdge',
  ),
}
