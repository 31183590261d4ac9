/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n    mutation RestSignUp($input: SignUpInput!) {\n      signUp(input: $input) {\n        email\n        user {\n          id\n          username\n        }\n      }\n    }\n  ": typeof types.RestSignUpDocument,
    "\n    mutation RestLogin($input: SignInInput!) {\n      signIn(input: $input) {\n        token\n      }\n    }\n  ": typeof types.RestLoginDocument,
    "\n    mutation RestLogout {\n      signOut\n    }\n  ": typeof types.RestLogoutDocument,
    "\n  query RestMe {\n    me {\n      ...UserRecord\n    }\n  }\n": typeof types.RestMeDocument,
    "\n    mutation RestDeleteMe {\n      deleteAccount {\n        id\n      }\n    }\n  ": typeof types.RestDeleteMeDocument,
    "\n  fragment ApiKeyRecord on ApiKey {\n    id\n    name\n    prefix\n    createdAt\n    revokedAt\n  }\n": typeof types.ApiKeyRecordFragmentDoc,
    "\n    mutation RestIssueApiKey($input: IssueApiKeyInput!) {\n      issueApiKey(input: $input) {\n        key\n        apiKey {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  ": typeof types.RestIssueApiKeyDocument,
    "\n    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  ": typeof types.RestApiKeysDocument,
    "\n    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {\n      revokeApiKey(input: $input) {\n        apiKey {\n          id\n        }\n      }\n    }\n  ": typeof types.RestRevokeApiKeyDocument,
    "\n  fragment AssetLinkRecord on AssetLink {\n    id\n    label\n    url\n    createdAt\n    expiresAt\n    revokedAt\n    lastUsedAt\n  }\n": typeof types.AssetLinkRecordFragmentDoc,
    "\n    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {\n      createAssetLink(input: $input) {\n        link {\n          ...AssetLinkRecord\n        }\n      }\n    }\n  ": typeof types.RestCreateAssetLinkDocument,
    "\n    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      asset(id: $id) {\n        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n          totalCount\n          pageInfo {\n            startCursor\n            endCursor\n          }\n          nodes {\n            ...AssetLinkRecord\n          }\n        }\n      }\n    }\n  ": typeof types.RestAssetLinksDocument,
    "\n    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) {\n      revokeAssetLink(input: $input) {\n        link {\n          id\n        }\n      }\n    }\n  ": typeof types.RestRevokeAssetLinkDocument,
    "\n    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {\n      revokeAssetLinks(input: $input) {\n        __typename\n      }\n    }\n  ": typeof types.RestRevokeAssetLinksDocument,
    "\n    query RestMergeTrees($trees: [AssetTreeInput!]!) {\n      mergedAssetTree(trees: $trees) {\n        mergedAssetTree\n        assetTrees\n      }\n    }\n  ": typeof types.RestMergeTreesDocument,
    "\n    query RestDownload($id: ID!) {\n      asset(id: $id) {\n        assetFileUrl\n        thumbnailUrl\n      }\n    }\n  ": typeof types.RestDownloadDocument,
    "\n    query RestAssetTree($id: ID!, $at: String) {\n      asset(id: $id) {\n        nid\n        commitAt(at: $at) {\n          id\n          message\n          treeCid\n          treeSha256\n          treeSignature\n          createdAt\n          tree\n        }\n      }\n    }\n  ": typeof types.RestAssetTreeDocument,
    "\n    mutation RestRevertAsset($input: RevertAssetInput!) {\n      revertAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestRevertAssetDocument,
    "\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestRegisterAssetDocument,
    "\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestUpdateAssetDocument,
    "\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  ": typeof types.RestAssetDocument,
    "\n    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {\n      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestAssetsDocument,
    "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  ": typeof types.RestDeleteAssetDocument,
    "\n  query RestHistory(\n    $id: ID!\n    $limit: Int!\n    $offset: Int!\n    $after: Int\n    $newestFirst: Boolean!\n    $search: String\n  ) {\n    asset(id: $id) {\n      nid\n      commitCount(search: $search)\n      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {\n        sequence\n        ...CommitRecord\n      }\n    }\n  }\n": typeof types.RestHistoryDocument,
    "\n    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          action\n          subject\n          address\n          reason\n          createdAt\n        }\n      }\n    }\n  ": typeof types.RestAuditEntriesDocument,
    "\n    query RestContentCredentials($id: ID!) {\n      asset(id: $id) {\n        nid\n        contentCredentials {\n          state\n          trustList\n          signer\n          issuer\n          signedAt\n          generator\n          title\n          creators\n          actions\n          digitalSourceType\n          mining\n          problems\n          notChecked\n          remoteManifestUrl\n          manifestCount\n          checkedAt\n        }\n      }\n    }\n  ": typeof types.RestContentCredentialsDocument,
    "\n    query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {\n      deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          status\n          amount\n          transactionHash\n          blockNumber\n          confirmations\n          shortfall\n          createdAt\n          creditedAt\n          frozenAt\n        }\n      }\n    }\n  ": typeof types.RestDepositsDocument,
    "\n    query RestDevice {\n      me {\n        id\n      }\n    }\n  ": typeof types.RestDeviceDocument,
    "\n    query RestEvents($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      events(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...EventRecord\n        }\n      }\n    }\n  ": typeof types.RestEventsDocument,
    "\n    mutation RestGrantPoints($input: GrantPointsInput!) {\n      grantPoints(input: $input) {\n        grant {\n          id\n          user {\n            id\n          }\n          amount\n          reason\n          createdAt\n        }\n      }\n    }\n  ": typeof types.RestGrantPointsDocument,
    "\n    mutation RestChangeEmail($input: ChangeEmailInput!) {\n      changeEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": typeof types.RestChangeEmailDocument,
    "\n    mutation RestChangeUsername($input: ChangeUsernameInput!) {\n      changeUsername(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": typeof types.RestChangeUsernameDocument,
    "\n    mutation RestVerifyEmail($input: VerifyEmailInput!) {\n      verifyEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": typeof types.RestVerifyEmailDocument,
    "\n    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {\n      requestEmailVerification(input: $input) {\n        email\n      }\n    }\n  ": typeof types.RestRequestEmailVerificationDocument,
    "\n    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {\n      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestLookupDocument,
    "\n  fragment NetworkAppRecord on NetworkApp {\n    id\n    name\n    priceMode\n    price\n    webhookUrl\n    isActive\n    deliveryFailurePolicy\n    createdAt\n    updatedAt\n  }\n": typeof types.NetworkAppRecordFragmentDoc,
    "\n    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {\n      createNetworkApp(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": typeof types.RestCreateNetworkAppDocument,
    "\n    query RestNetworkApps($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: NetworkAppFilter) {\n      networkApps(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": typeof types.RestNetworkAppsDocument,
    "\n    query RestNetworkApp($id: ID!) {\n      networkApp(id: $id) {\n        ...NetworkAppRecord\n      }\n    }\n  ": typeof types.RestNetworkAppDocument,
    "\n    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {\n      updateNetworkApp(input: $input) {\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": typeof types.RestUpdateNetworkAppDocument,
    "\n    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {\n      deactivateNetworkApp(input: $input) {\n        networkApp {\n          id\n        }\n      }\n    }\n  ": typeof types.RestDeactivateNetworkAppDocument,
    "\n    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {\n      rotateWebhookSecret(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": typeof types.RestRotateWebhookSecretDocument,
    "\n  fragment RefundRecord on Refund {\n    id\n    orderId\n    num\n    points\n    total\n    reason\n    transferId\n    createdAt\n  }\n": typeof types.RefundRecordFragmentDoc,
    "\n    mutation RestCreateOrder($input: CreateOrderInput!) {\n      createOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": typeof types.RestCreateOrderDocument,
    "\n    mutation RestConfirmOrder($input: ConfirmOrderInput!) {\n      confirmOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": typeof types.RestConfirmOrderDocument,
    "\n    mutation RestCancelOrder($input: CancelOrderInput!) {\n      cancelOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": typeof types.RestCancelOrderDocument,
    "\n    query RestOrder($id: ID!) {\n      order(id: $id) {\n        ...OrderRecord\n      }\n    }\n  ": typeof types.RestOrderDocument,
    "\n    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...OrderRecord\n        }\n      }\n    }\n  ": typeof types.RestOrdersDocument,
    "\n    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...RefundRecord\n        }\n      }\n    }\n  ": typeof types.RestRefundsDocument,
    "\n    mutation RestRefundOrder($input: RefundOrderInput!) {\n      refundOrder(input: $input) {\n        refund {\n          ...RefundRecord\n        }\n      }\n    }\n  ": typeof types.RestRefundOrderDocument,
    "\n    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {\n      requestPasswordReset(input: $input) {\n        email\n      }\n    }\n  ": typeof types.RestRequestPasswordResetDocument,
    "\n    mutation RestResetPassword($input: ResetPasswordInput!) {\n      resetPassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": typeof types.RestResetPasswordDocument,
    "\n    mutation RestChangePassword($input: ChangePasswordInput!) {\n      changePassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": typeof types.RestChangePasswordDocument,
    "\n  fragment AssetRecord on Asset {\n    nid\n    uuid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    thumbnailUrl\n    proofHash\n    caption\n    headline\n    altText\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    isOriginalOwner\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      displayName\n      email\n      address\n    }\n    creator {\n      username\n      displayName\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n": typeof types.AssetRecordFragmentDoc,
    "\n  fragment CommitRecord on Commit {\n    id\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n    gasUsed\n    feePaid\n  }\n": typeof types.CommitRecordFragmentDoc,
    "\n  fragment EventRecord on Event {\n    id\n    sequence\n    type\n    createdAt\n    orderId\n    commitId\n    deliveryId\n    transferId\n    data\n  }\n": typeof types.EventRecordFragmentDoc,
    "\n  fragment OrderRecord on Order {\n    id\n    status\n    networkAppId\n    networkAppName\n    actionArgs\n    price\n    pointsQuoted\n    numQuoted\n    pointsPaid\n    numPaid\n    transferId\n    createdAt\n    expiresAt\n    buyer {\n      email\n    }\n  }\n": typeof types.OrderRecordFragmentDoc,
    "\n  fragment ProfileRecord on User {\n    displayName\n    description\n    profilePictureUrl\n    profilePictureThumbnailUrl\n    profileBackgroundUrl\n    profileBackgroundThumbnailUrl\n  }\n": typeof types.ProfileRecordFragmentDoc,
    "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    pendingEmail\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    ...ProfileRecord\n    wallet {\n      address\n      num\n      points\n    }\n  }\n": typeof types.UserRecordFragmentDoc,
    "\n    mutation RestUpdateMe($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...UserRecord\n        }\n      }\n    }\n  ": typeof types.RestUpdateMeDocument,
    "\n    mutation RestUpdateProfile($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...ProfileRecord\n        }\n      }\n    }\n  ": typeof types.RestUpdateProfileDocument,
    "\n    query RestProfile {\n      me {\n        ...ProfileRecord\n      }\n    }\n  ": typeof types.RestProfileDocument,
    "\n  query RestQuote($input: QuoteInput!) {\n    quote(input: $input) {\n      __typename\n      total\n      available\n      problems {\n        code\n        message\n        field\n      }\n      ... on PaymentQuote {\n        price\n        gas\n        num\n        points\n        pointsCharged\n        numCharged\n        missing\n      }\n      ... on WithdrawalQuote {\n        amount\n        fee\n        leftToday\n      }\n      ... on RefundQuote {\n        num\n        points\n      }\n    }\n  }\n": typeof types.RestQuoteDocument,
    "\n    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          name\n          createdAt\n          lastUsedAt\n          expiresAt\n          isCurrent\n        }\n      }\n    }\n  ": typeof types.RestSessionsDocument,
    "\n    mutation RestRevokeSession($input: RevokeSessionInput!) {\n      revokeSession(input: $input) {\n        id\n      }\n    }\n  ": typeof types.RestRevokeSessionDocument,
    "\n    mutation RestRevokeOtherSessions {\n      revokeOtherSessions {\n        session {\n          id\n        }\n      }\n    }\n  ": typeof types.RestRevokeOtherSessionsDocument,
    "\n    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          subjectId\n          num\n          points\n          balance {\n            num\n            points\n          }\n          createdAt\n        }\n      }\n    }\n  ": typeof types.RestTransfersDocument,
    "\n  fragment AdministeredUser on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n": typeof types.AdministeredUserFragmentDoc,
    "\n    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {\n      users(search: $search, limit: $limit, offset: $offset, order: $order) {\n        ...AdministeredUser\n      }\n      userCount(search: $search, offset: $offset)\n    }\n  ": typeof types.RestUsersDocument,
    "\n    mutation RestLockUser($input: LockUserInput!) {\n      lockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  ": typeof types.RestLockUserDocument,
    "\n    mutation RestUnlockUser($input: UnlockUserInput!) {\n      unlockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  ": typeof types.RestUnlockUserDocument,
    "\n  query RestWallet {\n    me {\n      wallet {\n        address\n        num\n      }\n    }\n  }\n": typeof types.RestWalletDocument,
    "\n  fragment WebhookDeliveryRecord on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkAppId\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n    attempts {\n      number\n      startedAt\n      duration\n      statusCode\n      failure\n      response\n    }\n  }\n": typeof types.WebhookDeliveryRecordFragmentDoc,
    "\n  fragment WebhookDeliveryDetail on WebhookDelivery {\n    ...WebhookDeliveryRecord\n    payload\n  }\n": typeof types.WebhookDeliveryDetailFragmentDoc,
    "\n    query RestWebhookDeliveries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $filter: WebhookDeliveryFilter) {\n      webhookDeliveries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WebhookDeliveryRecord\n        }\n      }\n    }\n  ": typeof types.RestWebhookDeliveriesDocument,
    "\n    query RestWebhookDelivery($id: ID!) {\n      webhookDelivery(id: $id) {\n        ...WebhookDeliveryDetail\n      }\n    }\n  ": typeof types.RestWebhookDeliveryDocument,
    "\n    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {\n      replayWebhookDelivery(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  ": typeof types.RestReplayWebhookDeliveryDocument,
    "\n    mutation RestSendTestEvent($input: SendTestEventInput!) {\n      sendTestEvent(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  ": typeof types.RestSendTestEventDocument,
    "\n  fragment WithdrawalRecord on Withdrawal {\n    id\n    status\n    amount\n    fee\n    total\n    to\n    transactionHash\n    failure\n    createdAt\n    dueAt\n    settledAt\n  }\n": typeof types.WithdrawalRecordFragmentDoc,
    "\n    mutation RestWithdraw($input: WithdrawInput!) {\n      withdraw(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": typeof types.RestWithdrawDocument,
    "\n    query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": typeof types.RestWithdrawalsDocument,
    "\n    mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {\n      cancelWithdrawal(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": typeof types.RestCancelWithdrawalDocument,
};
const documents: Documents = {
    "\n    mutation RestSignUp($input: SignUpInput!) {\n      signUp(input: $input) {\n        email\n        user {\n          id\n          username\n        }\n      }\n    }\n  ": types.RestSignUpDocument,
    "\n    mutation RestLogin($input: SignInInput!) {\n      signIn(input: $input) {\n        token\n      }\n    }\n  ": types.RestLoginDocument,
    "\n    mutation RestLogout {\n      signOut\n    }\n  ": types.RestLogoutDocument,
    "\n  query RestMe {\n    me {\n      ...UserRecord\n    }\n  }\n": types.RestMeDocument,
    "\n    mutation RestDeleteMe {\n      deleteAccount {\n        id\n      }\n    }\n  ": types.RestDeleteMeDocument,
    "\n  fragment ApiKeyRecord on ApiKey {\n    id\n    name\n    prefix\n    createdAt\n    revokedAt\n  }\n": types.ApiKeyRecordFragmentDoc,
    "\n    mutation RestIssueApiKey($input: IssueApiKeyInput!) {\n      issueApiKey(input: $input) {\n        key\n        apiKey {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  ": types.RestIssueApiKeyDocument,
    "\n    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  ": types.RestApiKeysDocument,
    "\n    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {\n      revokeApiKey(input: $input) {\n        apiKey {\n          id\n        }\n      }\n    }\n  ": types.RestRevokeApiKeyDocument,
    "\n  fragment AssetLinkRecord on AssetLink {\n    id\n    label\n    url\n    createdAt\n    expiresAt\n    revokedAt\n    lastUsedAt\n  }\n": types.AssetLinkRecordFragmentDoc,
    "\n    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {\n      createAssetLink(input: $input) {\n        link {\n          ...AssetLinkRecord\n        }\n      }\n    }\n  ": types.RestCreateAssetLinkDocument,
    "\n    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      asset(id: $id) {\n        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n          totalCount\n          pageInfo {\n            startCursor\n            endCursor\n          }\n          nodes {\n            ...AssetLinkRecord\n          }\n        }\n      }\n    }\n  ": types.RestAssetLinksDocument,
    "\n    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) {\n      revokeAssetLink(input: $input) {\n        link {\n          id\n        }\n      }\n    }\n  ": types.RestRevokeAssetLinkDocument,
    "\n    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {\n      revokeAssetLinks(input: $input) {\n        __typename\n      }\n    }\n  ": types.RestRevokeAssetLinksDocument,
    "\n    query RestMergeTrees($trees: [AssetTreeInput!]!) {\n      mergedAssetTree(trees: $trees) {\n        mergedAssetTree\n        assetTrees\n      }\n    }\n  ": types.RestMergeTreesDocument,
    "\n    query RestDownload($id: ID!) {\n      asset(id: $id) {\n        assetFileUrl\n        thumbnailUrl\n      }\n    }\n  ": types.RestDownloadDocument,
    "\n    query RestAssetTree($id: ID!, $at: String) {\n      asset(id: $id) {\n        nid\n        commitAt(at: $at) {\n          id\n          message\n          treeCid\n          treeSha256\n          treeSignature\n          createdAt\n          tree\n        }\n      }\n    }\n  ": types.RestAssetTreeDocument,
    "\n    mutation RestRevertAsset($input: RevertAssetInput!) {\n      revertAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestRevertAssetDocument,
    "\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestRegisterAssetDocument,
    "\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestUpdateAssetDocument,
    "\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  ": types.RestAssetDocument,
    "\n    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {\n      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestAssetsDocument,
    "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  ": types.RestDeleteAssetDocument,
    "\n  query RestHistory(\n    $id: ID!\n    $limit: Int!\n    $offset: Int!\n    $after: Int\n    $newestFirst: Boolean!\n    $search: String\n  ) {\n    asset(id: $id) {\n      nid\n      commitCount(search: $search)\n      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {\n        sequence\n        ...CommitRecord\n      }\n    }\n  }\n": types.RestHistoryDocument,
    "\n    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          action\n          subject\n          address\n          reason\n          createdAt\n        }\n      }\n    }\n  ": types.RestAuditEntriesDocument,
    "\n    query RestContentCredentials($id: ID!) {\n      asset(id: $id) {\n        nid\n        contentCredentials {\n          state\n          trustList\n          signer\n          issuer\n          signedAt\n          generator\n          title\n          creators\n          actions\n          digitalSourceType\n          mining\n          problems\n          notChecked\n          remoteManifestUrl\n          manifestCount\n          checkedAt\n        }\n      }\n    }\n  ": types.RestContentCredentialsDocument,
    "\n    query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {\n      deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          status\n          amount\n          transactionHash\n          blockNumber\n          confirmations\n          shortfall\n          createdAt\n          creditedAt\n          frozenAt\n        }\n      }\n    }\n  ": types.RestDepositsDocument,
    "\n    query RestDevice {\n      me {\n        id\n      }\n    }\n  ": types.RestDeviceDocument,
    "\n    query RestEvents($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      events(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...EventRecord\n        }\n      }\n    }\n  ": types.RestEventsDocument,
    "\n    mutation RestGrantPoints($input: GrantPointsInput!) {\n      grantPoints(input: $input) {\n        grant {\n          id\n          user {\n            id\n          }\n          amount\n          reason\n          createdAt\n        }\n      }\n    }\n  ": types.RestGrantPointsDocument,
    "\n    mutation RestChangeEmail($input: ChangeEmailInput!) {\n      changeEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": types.RestChangeEmailDocument,
    "\n    mutation RestChangeUsername($input: ChangeUsernameInput!) {\n      changeUsername(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": types.RestChangeUsernameDocument,
    "\n    mutation RestVerifyEmail($input: VerifyEmailInput!) {\n      verifyEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": types.RestVerifyEmailDocument,
    "\n    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {\n      requestEmailVerification(input: $input) {\n        email\n      }\n    }\n  ": types.RestRequestEmailVerificationDocument,
    "\n    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {\n      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestLookupDocument,
    "\n  fragment NetworkAppRecord on NetworkApp {\n    id\n    name\n    priceMode\n    price\n    webhookUrl\n    isActive\n    deliveryFailurePolicy\n    createdAt\n    updatedAt\n  }\n": types.NetworkAppRecordFragmentDoc,
    "\n    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {\n      createNetworkApp(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": types.RestCreateNetworkAppDocument,
    "\n    query RestNetworkApps($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: NetworkAppFilter) {\n      networkApps(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": types.RestNetworkAppsDocument,
    "\n    query RestNetworkApp($id: ID!) {\n      networkApp(id: $id) {\n        ...NetworkAppRecord\n      }\n    }\n  ": types.RestNetworkAppDocument,
    "\n    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {\n      updateNetworkApp(input: $input) {\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": types.RestUpdateNetworkAppDocument,
    "\n    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {\n      deactivateNetworkApp(input: $input) {\n        networkApp {\n          id\n        }\n      }\n    }\n  ": types.RestDeactivateNetworkAppDocument,
    "\n    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {\n      rotateWebhookSecret(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  ": types.RestRotateWebhookSecretDocument,
    "\n  fragment RefundRecord on Refund {\n    id\n    orderId\n    num\n    points\n    total\n    reason\n    transferId\n    createdAt\n  }\n": types.RefundRecordFragmentDoc,
    "\n    mutation RestCreateOrder($input: CreateOrderInput!) {\n      createOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": types.RestCreateOrderDocument,
    "\n    mutation RestConfirmOrder($input: ConfirmOrderInput!) {\n      confirmOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": types.RestConfirmOrderDocument,
    "\n    mutation RestCancelOrder($input: CancelOrderInput!) {\n      cancelOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  ": types.RestCancelOrderDocument,
    "\n    query RestOrder($id: ID!) {\n      order(id: $id) {\n        ...OrderRecord\n      }\n    }\n  ": types.RestOrderDocument,
    "\n    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...OrderRecord\n        }\n      }\n    }\n  ": types.RestOrdersDocument,
    "\n    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...RefundRecord\n        }\n      }\n    }\n  ": types.RestRefundsDocument,
    "\n    mutation RestRefundOrder($input: RefundOrderInput!) {\n      refundOrder(input: $input) {\n        refund {\n          ...RefundRecord\n        }\n      }\n    }\n  ": types.RestRefundOrderDocument,
    "\n    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {\n      requestPasswordReset(input: $input) {\n        email\n      }\n    }\n  ": types.RestRequestPasswordResetDocument,
    "\n    mutation RestResetPassword($input: ResetPasswordInput!) {\n      resetPassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": types.RestResetPasswordDocument,
    "\n    mutation RestChangePassword($input: ChangePasswordInput!) {\n      changePassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  ": types.RestChangePasswordDocument,
    "\n  fragment AssetRecord on Asset {\n    nid\n    uuid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    thumbnailUrl\n    proofHash\n    caption\n    headline\n    altText\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    isOriginalOwner\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      displayName\n      email\n      address\n    }\n    creator {\n      username\n      displayName\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n": types.AssetRecordFragmentDoc,
    "\n  fragment CommitRecord on Commit {\n    id\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n    gasUsed\n    feePaid\n  }\n": types.CommitRecordFragmentDoc,
    "\n  fragment EventRecord on Event {\n    id\n    sequence\n    type\n    createdAt\n    orderId\n    commitId\n    deliveryId\n    transferId\n    data\n  }\n": types.EventRecordFragmentDoc,
    "\n  fragment OrderRecord on Order {\n    id\n    status\n    networkAppId\n    networkAppName\n    actionArgs\n    price\n    pointsQuoted\n    numQuoted\n    pointsPaid\n    numPaid\n    transferId\n    createdAt\n    expiresAt\n    buyer {\n      email\n    }\n  }\n": types.OrderRecordFragmentDoc,
    "\n  fragment ProfileRecord on User {\n    displayName\n    description\n    profilePictureUrl\n    profilePictureThumbnailUrl\n    profileBackgroundUrl\n    profileBackgroundThumbnailUrl\n  }\n": types.ProfileRecordFragmentDoc,
    "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    pendingEmail\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    ...ProfileRecord\n    wallet {\n      address\n      num\n      points\n    }\n  }\n": types.UserRecordFragmentDoc,
    "\n    mutation RestUpdateMe($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...UserRecord\n        }\n      }\n    }\n  ": types.RestUpdateMeDocument,
    "\n    mutation RestUpdateProfile($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...ProfileRecord\n        }\n      }\n    }\n  ": types.RestUpdateProfileDocument,
    "\n    query RestProfile {\n      me {\n        ...ProfileRecord\n      }\n    }\n  ": types.RestProfileDocument,
    "\n  query RestQuote($input: QuoteInput!) {\n    quote(input: $input) {\n      __typename\n      total\n      available\n      problems {\n        code\n        message\n        field\n      }\n      ... on PaymentQuote {\n        price\n        gas\n        num\n        points\n        pointsCharged\n        numCharged\n        missing\n      }\n      ... on WithdrawalQuote {\n        amount\n        fee\n        leftToday\n      }\n      ... on RefundQuote {\n        num\n        points\n      }\n    }\n  }\n": types.RestQuoteDocument,
    "\n    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          name\n          createdAt\n          lastUsedAt\n          expiresAt\n          isCurrent\n        }\n      }\n    }\n  ": types.RestSessionsDocument,
    "\n    mutation RestRevokeSession($input: RevokeSessionInput!) {\n      revokeSession(input: $input) {\n        id\n      }\n    }\n  ": types.RestRevokeSessionDocument,
    "\n    mutation RestRevokeOtherSessions {\n      revokeOtherSessions {\n        session {\n          id\n        }\n      }\n    }\n  ": types.RestRevokeOtherSessionsDocument,
    "\n    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          subjectId\n          num\n          points\n          balance {\n            num\n            points\n          }\n          createdAt\n        }\n      }\n    }\n  ": types.RestTransfersDocument,
    "\n  fragment AdministeredUser on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n": types.AdministeredUserFragmentDoc,
    "\n    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {\n      users(search: $search, limit: $limit, offset: $offset, order: $order) {\n        ...AdministeredUser\n      }\n      userCount(search: $search, offset: $offset)\n    }\n  ": types.RestUsersDocument,
    "\n    mutation RestLockUser($input: LockUserInput!) {\n      lockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  ": types.RestLockUserDocument,
    "\n    mutation RestUnlockUser($input: UnlockUserInput!) {\n      unlockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  ": types.RestUnlockUserDocument,
    "\n  query RestWallet {\n    me {\n      wallet {\n        address\n        num\n      }\n    }\n  }\n": types.RestWalletDocument,
    "\n  fragment WebhookDeliveryRecord on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkAppId\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n    attempts {\n      number\n      startedAt\n      duration\n      statusCode\n      failure\n      response\n    }\n  }\n": types.WebhookDeliveryRecordFragmentDoc,
    "\n  fragment WebhookDeliveryDetail on WebhookDelivery {\n    ...WebhookDeliveryRecord\n    payload\n  }\n": types.WebhookDeliveryDetailFragmentDoc,
    "\n    query RestWebhookDeliveries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $filter: WebhookDeliveryFilter) {\n      webhookDeliveries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WebhookDeliveryRecord\n        }\n      }\n    }\n  ": types.RestWebhookDeliveriesDocument,
    "\n    query RestWebhookDelivery($id: ID!) {\n      webhookDelivery(id: $id) {\n        ...WebhookDeliveryDetail\n      }\n    }\n  ": types.RestWebhookDeliveryDocument,
    "\n    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {\n      replayWebhookDelivery(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  ": types.RestReplayWebhookDeliveryDocument,
    "\n    mutation RestSendTestEvent($input: SendTestEventInput!) {\n      sendTestEvent(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  ": types.RestSendTestEventDocument,
    "\n  fragment WithdrawalRecord on Withdrawal {\n    id\n    status\n    amount\n    fee\n    total\n    to\n    transactionHash\n    failure\n    createdAt\n    dueAt\n    settledAt\n  }\n": types.WithdrawalRecordFragmentDoc,
    "\n    mutation RestWithdraw($input: WithdrawInput!) {\n      withdraw(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": types.RestWithdrawDocument,
    "\n    query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": types.RestWithdrawalsDocument,
    "\n    mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {\n      cancelWithdrawal(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  ": types.RestCancelWithdrawalDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestSignUp($input: SignUpInput!) {\n      signUp(input: $input) {\n        email\n        user {\n          id\n          username\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestSignUp($input: SignUpInput!) {\n      signUp(input: $input) {\n        email\n        user {\n          id\n          username\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestLogin($input: SignInInput!) {\n      signIn(input: $input) {\n        token\n      }\n    }\n  "): (typeof documents)["\n    mutation RestLogin($input: SignInInput!) {\n      signIn(input: $input) {\n        token\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestLogout {\n      signOut\n    }\n  "): (typeof documents)["\n    mutation RestLogout {\n      signOut\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query RestMe {\n    me {\n      ...UserRecord\n    }\n  }\n"): (typeof documents)["\n  query RestMe {\n    me {\n      ...UserRecord\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestDeleteMe {\n      deleteAccount {\n        id\n      }\n    }\n  "): (typeof documents)["\n    mutation RestDeleteMe {\n      deleteAccount {\n        id\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment ApiKeyRecord on ApiKey {\n    id\n    name\n    prefix\n    createdAt\n    revokedAt\n  }\n"): (typeof documents)["\n  fragment ApiKeyRecord on ApiKey {\n    id\n    name\n    prefix\n    createdAt\n    revokedAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestIssueApiKey($input: IssueApiKeyInput!) {\n      issueApiKey(input: $input) {\n        key\n        apiKey {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestIssueApiKey($input: IssueApiKeyInput!) {\n      issueApiKey(input: $input) {\n        key\n        apiKey {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestApiKeys($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      apiKeys(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...ApiKeyRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {\n      revokeApiKey(input: $input) {\n        apiKey {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevokeApiKey($input: RevokeApiKeyInput!) {\n      revokeApiKey(input: $input) {\n        apiKey {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment AssetLinkRecord on AssetLink {\n    id\n    label\n    url\n    createdAt\n    expiresAt\n    revokedAt\n    lastUsedAt\n  }\n"): (typeof documents)["\n  fragment AssetLinkRecord on AssetLink {\n    id\n    label\n    url\n    createdAt\n    expiresAt\n    revokedAt\n    lastUsedAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {\n      createAssetLink(input: $input) {\n        link {\n          ...AssetLinkRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestCreateAssetLink($input: CreateAssetLinkInput!) {\n      createAssetLink(input: $input) {\n        link {\n          ...AssetLinkRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      asset(id: $id) {\n        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n          totalCount\n          pageInfo {\n            startCursor\n            endCursor\n          }\n          nodes {\n            ...AssetLinkRecord\n          }\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestAssetLinks($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      asset(id: $id) {\n        links(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n          totalCount\n          pageInfo {\n            startCursor\n            endCursor\n          }\n          nodes {\n            ...AssetLinkRecord\n          }\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) {\n      revokeAssetLink(input: $input) {\n        link {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevokeAssetLink($input: RevokeAssetLinkInput!) {\n      revokeAssetLink(input: $input) {\n        link {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {\n      revokeAssetLinks(input: $input) {\n        __typename\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevokeAssetLinks($input: RevokeAssetLinksInput!) {\n      revokeAssetLinks(input: $input) {\n        __typename\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestMergeTrees($trees: [AssetTreeInput!]!) {\n      mergedAssetTree(trees: $trees) {\n        mergedAssetTree\n        assetTrees\n      }\n    }\n  "): (typeof documents)["\n    query RestMergeTrees($trees: [AssetTreeInput!]!) {\n      mergedAssetTree(trees: $trees) {\n        mergedAssetTree\n        assetTrees\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestDownload($id: ID!) {\n      asset(id: $id) {\n        assetFileUrl\n        thumbnailUrl\n      }\n    }\n  "): (typeof documents)["\n    query RestDownload($id: ID!) {\n      asset(id: $id) {\n        assetFileUrl\n        thumbnailUrl\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestAssetTree($id: ID!, $at: String) {\n      asset(id: $id) {\n        nid\n        commitAt(at: $at) {\n          id\n          message\n          treeCid\n          treeSha256\n          treeSignature\n          createdAt\n          tree\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestAssetTree($id: ID!, $at: String) {\n      asset(id: $id) {\n        nid\n        commitAt(at: $at) {\n          id\n          message\n          treeCid\n          treeSha256\n          treeSignature\n          createdAt\n          tree\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevertAsset($input: RevertAssetInput!) {\n      revertAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevertAsset($input: RevertAssetInput!) {\n      revertAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  "): (typeof documents)["\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {\n      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestAssets($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: AssetFilter) {\n      assets(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  "): (typeof documents)["\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query RestHistory(\n    $id: ID!\n    $limit: Int!\n    $offset: Int!\n    $after: Int\n    $newestFirst: Boolean!\n    $search: String\n  ) {\n    asset(id: $id) {\n      nid\n      commitCount(search: $search)\n      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {\n        sequence\n        ...CommitRecord\n      }\n    }\n  }\n"): (typeof documents)["\n  query RestHistory(\n    $id: ID!\n    $limit: Int!\n    $offset: Int!\n    $after: Int\n    $newestFirst: Boolean!\n    $search: String\n  ) {\n    asset(id: $id) {\n      nid\n      commitCount(search: $search)\n      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {\n        sequence\n        ...CommitRecord\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          action\n          subject\n          address\n          reason\n          createdAt\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestAuditEntries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      auditEntries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          action\n          subject\n          address\n          reason\n          createdAt\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestContentCredentials($id: ID!) {\n      asset(id: $id) {\n        nid\n        contentCredentials {\n          state\n          trustList\n          signer\n          issuer\n          signedAt\n          generator\n          title\n          creators\n          actions\n          digitalSourceType\n          mining\n          problems\n          notChecked\n          remoteManifestUrl\n          manifestCount\n          checkedAt\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestContentCredentials($id: ID!) {\n      asset(id: $id) {\n        nid\n        contentCredentials {\n          state\n          trustList\n          signer\n          issuer\n          signedAt\n          generator\n          title\n          creators\n          actions\n          digitalSourceType\n          mining\n          problems\n          notChecked\n          remoteManifestUrl\n          manifestCount\n          checkedAt\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {\n      deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          status\n          amount\n          transactionHash\n          blockNumber\n          confirmations\n          shortfall\n          createdAt\n          creditedAt\n          frozenAt\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {\n      deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          status\n          amount\n          transactionHash\n          blockNumber\n          confirmations\n          shortfall\n          createdAt\n          creditedAt\n          frozenAt\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestDevice {\n      me {\n        id\n      }\n    }\n  "): (typeof documents)["\n    query RestDevice {\n      me {\n        id\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestEvents($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      events(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...EventRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestEvents($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      events(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...EventRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestGrantPoints($input: GrantPointsInput!) {\n      grantPoints(input: $input) {\n        grant {\n          id\n          user {\n            id\n          }\n          amount\n          reason\n          createdAt\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestGrantPoints($input: GrantPointsInput!) {\n      grantPoints(input: $input) {\n        grant {\n          id\n          user {\n            id\n          }\n          amount\n          reason\n          createdAt\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestChangeEmail($input: ChangeEmailInput!) {\n      changeEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestChangeEmail($input: ChangeEmailInput!) {\n      changeEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestChangeUsername($input: ChangeUsernameInput!) {\n      changeUsername(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestChangeUsername($input: ChangeUsernameInput!) {\n      changeUsername(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestVerifyEmail($input: VerifyEmailInput!) {\n      verifyEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestVerifyEmail($input: VerifyEmailInput!) {\n      verifyEmail(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {\n      requestEmailVerification(input: $input) {\n        email\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRequestEmailVerification($input: RequestEmailVerificationInput!) {\n      requestEmailVerification(input: $input) {\n        email\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {\n      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestLookup($sha256: String, $cid: String, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder) {\n      lookup(sha256: $sha256, cid: $cid, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment NetworkAppRecord on NetworkApp {\n    id\n    name\n    priceMode\n    price\n    webhookUrl\n    isActive\n    deliveryFailurePolicy\n    createdAt\n    updatedAt\n  }\n"): (typeof documents)["\n  fragment NetworkAppRecord on NetworkApp {\n    id\n    name\n    priceMode\n    price\n    webhookUrl\n    isActive\n    deliveryFailurePolicy\n    createdAt\n    updatedAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {\n      createNetworkApp(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestCreateNetworkApp($input: CreateNetworkAppInput!) {\n      createNetworkApp(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestNetworkApps($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: NetworkAppFilter) {\n      networkApps(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestNetworkApps($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $orderBy: ListOrder, $filter: NetworkAppFilter) {\n      networkApps(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, orderBy: $orderBy, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestNetworkApp($id: ID!) {\n      networkApp(id: $id) {\n        ...NetworkAppRecord\n      }\n    }\n  "): (typeof documents)["\n    query RestNetworkApp($id: ID!) {\n      networkApp(id: $id) {\n        ...NetworkAppRecord\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {\n      updateNetworkApp(input: $input) {\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestUpdateNetworkApp($input: UpdateNetworkAppInput!) {\n      updateNetworkApp(input: $input) {\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {\n      deactivateNetworkApp(input: $input) {\n        networkApp {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestDeactivateNetworkApp($input: DeactivateNetworkAppInput!) {\n      deactivateNetworkApp(input: $input) {\n        networkApp {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {\n      rotateWebhookSecret(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRotateWebhookSecret($input: RotateWebhookSecretInput!) {\n      rotateWebhookSecret(input: $input) {\n        webhookSecret\n        networkApp {\n          ...NetworkAppRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment RefundRecord on Refund {\n    id\n    orderId\n    num\n    points\n    total\n    reason\n    transferId\n    createdAt\n  }\n"): (typeof documents)["\n  fragment RefundRecord on Refund {\n    id\n    orderId\n    num\n    points\n    total\n    reason\n    transferId\n    createdAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestCreateOrder($input: CreateOrderInput!) {\n      createOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestCreateOrder($input: CreateOrderInput!) {\n      createOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestConfirmOrder($input: ConfirmOrderInput!) {\n      confirmOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestConfirmOrder($input: ConfirmOrderInput!) {\n      confirmOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestCancelOrder($input: CancelOrderInput!) {\n      cancelOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestCancelOrder($input: CancelOrderInput!) {\n      cancelOrder(input: $input) {\n        order {\n          ...OrderRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestOrder($id: ID!) {\n      order(id: $id) {\n        ...OrderRecord\n      }\n    }\n  "): (typeof documents)["\n    query RestOrder($id: ID!) {\n      order(id: $id) {\n        ...OrderRecord\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...OrderRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...OrderRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...RefundRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...RefundRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRefundOrder($input: RefundOrderInput!) {\n      refundOrder(input: $input) {\n        refund {\n          ...RefundRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRefundOrder($input: RefundOrderInput!) {\n      refundOrder(input: $input) {\n        refund {\n          ...RefundRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {\n      requestPasswordReset(input: $input) {\n        email\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRequestPasswordReset($input: RequestPasswordResetInput!) {\n      requestPasswordReset(input: $input) {\n        email\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestResetPassword($input: ResetPasswordInput!) {\n      resetPassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestResetPassword($input: ResetPasswordInput!) {\n      resetPassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestChangePassword($input: ChangePasswordInput!) {\n      changePassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestChangePassword($input: ChangePasswordInput!) {\n      changePassword(input: $input) {\n        user {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment AssetRecord on Asset {\n    nid\n    uuid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    thumbnailUrl\n    proofHash\n    caption\n    headline\n    altText\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    isOriginalOwner\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      displayName\n      email\n      address\n    }\n    creator {\n      username\n      displayName\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n"): (typeof documents)["\n  fragment AssetRecord on Asset {\n    nid\n    uuid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    thumbnailUrl\n    proofHash\n    caption\n    headline\n    altText\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    isOriginalOwner\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      displayName\n      email\n      address\n    }\n    creator {\n      username\n      displayName\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment CommitRecord on Commit {\n    id\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n    gasUsed\n    feePaid\n  }\n"): (typeof documents)["\n  fragment CommitRecord on Commit {\n    id\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n    gasUsed\n    feePaid\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment EventRecord on Event {\n    id\n    sequence\n    type\n    createdAt\n    orderId\n    commitId\n    deliveryId\n    transferId\n    data\n  }\n"): (typeof documents)["\n  fragment EventRecord on Event {\n    id\n    sequence\n    type\n    createdAt\n    orderId\n    commitId\n    deliveryId\n    transferId\n    data\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment OrderRecord on Order {\n    id\n    status\n    networkAppId\n    networkAppName\n    actionArgs\n    price\n    pointsQuoted\n    numQuoted\n    pointsPaid\n    numPaid\n    transferId\n    createdAt\n    expiresAt\n    buyer {\n      email\n    }\n  }\n"): (typeof documents)["\n  fragment OrderRecord on Order {\n    id\n    status\n    networkAppId\n    networkAppName\n    actionArgs\n    price\n    pointsQuoted\n    numQuoted\n    pointsPaid\n    numPaid\n    transferId\n    createdAt\n    expiresAt\n    buyer {\n      email\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment ProfileRecord on User {\n    displayName\n    description\n    profilePictureUrl\n    profilePictureThumbnailUrl\n    profileBackgroundUrl\n    profileBackgroundThumbnailUrl\n  }\n"): (typeof documents)["\n  fragment ProfileRecord on User {\n    displayName\n    description\n    profilePictureUrl\n    profilePictureThumbnailUrl\n    profileBackgroundUrl\n    profileBackgroundThumbnailUrl\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    pendingEmail\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    ...ProfileRecord\n    wallet {\n      address\n      num\n      points\n    }\n  }\n"): (typeof documents)["\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    pendingEmail\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    ...ProfileRecord\n    wallet {\n      address\n      num\n      points\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestUpdateMe($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...UserRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestUpdateMe($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...UserRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestUpdateProfile($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...ProfileRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestUpdateProfile($input: UpdateProfileInput!) {\n      updateProfile(input: $input) {\n        user {\n          ...ProfileRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestProfile {\n      me {\n        ...ProfileRecord\n      }\n    }\n  "): (typeof documents)["\n    query RestProfile {\n      me {\n        ...ProfileRecord\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query RestQuote($input: QuoteInput!) {\n    quote(input: $input) {\n      __typename\n      total\n      available\n      problems {\n        code\n        message\n        field\n      }\n      ... on PaymentQuote {\n        price\n        gas\n        num\n        points\n        pointsCharged\n        numCharged\n        missing\n      }\n      ... on WithdrawalQuote {\n        amount\n        fee\n        leftToday\n      }\n      ... on RefundQuote {\n        num\n        points\n      }\n    }\n  }\n"): (typeof documents)["\n  query RestQuote($input: QuoteInput!) {\n    quote(input: $input) {\n      __typename\n      total\n      available\n      problems {\n        code\n        message\n        field\n      }\n      ... on PaymentQuote {\n        price\n        gas\n        num\n        points\n        pointsCharged\n        numCharged\n        missing\n      }\n      ... on WithdrawalQuote {\n        amount\n        fee\n        leftToday\n      }\n      ... on RefundQuote {\n        num\n        points\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          name\n          createdAt\n          lastUsedAt\n          expiresAt\n          isCurrent\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestSessions($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      sessions(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          name\n          createdAt\n          lastUsedAt\n          expiresAt\n          isCurrent\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevokeSession($input: RevokeSessionInput!) {\n      revokeSession(input: $input) {\n        id\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevokeSession($input: RevokeSessionInput!) {\n      revokeSession(input: $input) {\n        id\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestRevokeOtherSessions {\n      revokeOtherSessions {\n        session {\n          id\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestRevokeOtherSessions {\n      revokeOtherSessions {\n        session {\n          id\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          subjectId\n          num\n          points\n          balance {\n            num\n            points\n          }\n          createdAt\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          id\n          kind\n          subjectId\n          num\n          points\n          balance {\n            num\n            points\n          }\n          createdAt\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment AdministeredUser on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n"): (typeof documents)["\n  fragment AdministeredUser on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {\n      users(search: $search, limit: $limit, offset: $offset, order: $order) {\n        ...AdministeredUser\n      }\n      userCount(search: $search, offset: $offset)\n    }\n  "): (typeof documents)["\n    query RestUsers($search: String!, $limit: Int!, $offset: Int!, $order: UserOrder) {\n      users(search: $search, limit: $limit, offset: $offset, order: $order) {\n        ...AdministeredUser\n      }\n      userCount(search: $search, offset: $offset)\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestLockUser($input: LockUserInput!) {\n      lockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestLockUser($input: LockUserInput!) {\n      lockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestUnlockUser($input: UnlockUserInput!) {\n      unlockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestUnlockUser($input: UnlockUserInput!) {\n      unlockUser(input: $input) {\n        user {\n          ...AdministeredUser\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query RestWallet {\n    me {\n      wallet {\n        address\n        num\n      }\n    }\n  }\n"): (typeof documents)["\n  query RestWallet {\n    me {\n      wallet {\n        address\n        num\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment WebhookDeliveryRecord on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkAppId\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n    attempts {\n      number\n      startedAt\n      duration\n      statusCode\n      failure\n      response\n    }\n  }\n"): (typeof documents)["\n  fragment WebhookDeliveryRecord on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkAppId\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n    attempts {\n      number\n      startedAt\n      duration\n      statusCode\n      failure\n      response\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment WebhookDeliveryDetail on WebhookDelivery {\n    ...WebhookDeliveryRecord\n    payload\n  }\n"): (typeof documents)["\n  fragment WebhookDeliveryDetail on WebhookDelivery {\n    ...WebhookDeliveryRecord\n    payload\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestWebhookDeliveries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $filter: WebhookDeliveryFilter) {\n      webhookDeliveries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WebhookDeliveryRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestWebhookDeliveries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $filter: WebhookDeliveryFilter) {\n      webhookDeliveries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, filter: $filter) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WebhookDeliveryRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestWebhookDelivery($id: ID!) {\n      webhookDelivery(id: $id) {\n        ...WebhookDeliveryDetail\n      }\n    }\n  "): (typeof documents)["\n    query RestWebhookDelivery($id: ID!) {\n      webhookDelivery(id: $id) {\n        ...WebhookDeliveryDetail\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {\n      replayWebhookDelivery(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {\n      replayWebhookDelivery(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestSendTestEvent($input: SendTestEventInput!) {\n      sendTestEvent(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestSendTestEvent($input: SendTestEventInput!) {\n      sendTestEvent(input: $input) {\n        webhookDelivery {\n          ...WebhookDeliveryDetail\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment WithdrawalRecord on Withdrawal {\n    id\n    status\n    amount\n    fee\n    total\n    to\n    transactionHash\n    failure\n    createdAt\n    dueAt\n    settledAt\n  }\n"): (typeof documents)["\n  fragment WithdrawalRecord on Withdrawal {\n    id\n    status\n    amount\n    fee\n    total\n    to\n    transactionHash\n    failure\n    createdAt\n    dueAt\n    settledAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestWithdraw($input: WithdrawInput!) {\n      withdraw(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestWithdraw($input: WithdrawInput!) {\n      withdraw(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {\n      withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {\n        totalCount\n        pageInfo {\n          startCursor\n          endCursor\n        }\n        nodes {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {\n      cancelWithdrawal(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {\n      cancelWithdrawal(input: $input) {\n        withdrawal {\n          ...WithdrawalRecord\n        }\n      }\n    }\n  "];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;