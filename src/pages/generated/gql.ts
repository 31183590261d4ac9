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
    "\n  mutation AdminCreateApp($input: CreateNetworkAppInput!) {\n    createNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n      webhookSecret\n    }\n  }\n": typeof types.AdminCreateAppDocument,
    "\n  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {\n    updateNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n    }\n  }\n": typeof types.AdminUpdateAppDocument,
    "\n  mutation AdminRotateSecret($id: ID!) {\n    rotateWebhookSecret(input: { id: $id }) {\n      webhookSecret\n    }\n  }\n": typeof types.AdminRotateSecretDocument,
    "\n  mutation AdminSendTestEvent($id: ID!) {\n    sendTestEvent(input: { networkAppId: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n": typeof types.AdminSendTestEventDocument,
    "\n  mutation AdminDeactivateApp($id: ID!) {\n    deactivateNetworkApp(input: { id: $id }) {\n      networkApp {\n        id\n      }\n    }\n  }\n": typeof types.AdminDeactivateAppDocument,
    "\n  fragment NetworkAppFacts on NetworkApp {\n    id\n    name\n    price\n    webhookUrl\n    webhookDisabledAt\n    deliveryFailurePolicy\n    isActive\n    createdAt\n    updatedAt\n    owner {\n      id\n      username\n    }\n  }\n": typeof types.NetworkAppFactsFragmentDoc,
    "\n  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {\n    networkApps(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...NetworkAppFacts\n      }\n    }\n  }\n": typeof types.AdminAppsDocument,
    "\n  query AdminApp($id: ID!) {\n    networkApp(id: $id) {\n      ...NetworkAppFacts\n    }\n  }\n": typeof types.AdminAppDocument,
    "\n  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {\n    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {\n      totalCount\n      nodes {\n        id\n        action\n        subject\n        address\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n": typeof types.AdminAuditDocument,
    "\n  query AdminHeldCoins {\n    heldCoins {\n      treasury\n      treasuryBalance\n      missing\n      inTreasury\n      underWay\n      atAddresses\n      dueWithdrawals\n      amountDue\n      oldestDueAt\n      frozenDeposits\n      shortfall\n    }\n  }\n": typeof types.AdminHeldCoinsDocument,
    "\n  query AdminDeposits($limit: Int!, $offset: Int!, $filter: AccountDepositFilter) {\n    accountDeposits(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        depositId\n        userId\n        kind\n        status\n        amount\n        shortfall\n        transactionHash\n        createdAt\n        frozenAt\n      }\n    }\n  }\n": typeof types.AdminDepositsDocument,
    "\n  query AdminWithdrawals($limit: Int!, $offset: Int!, $filter: AccountWithdrawalFilter) {\n    accountWithdrawals(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        withdrawalId\n        userId\n        status\n        amount\n        total\n        to\n        transactionHash\n        failure\n        dueAt\n        settledAt\n      }\n    }\n  }\n": typeof types.AdminWithdrawalsDocument,
    "\n  query AdminKeys($limit: Int!, $offset: Int!) {\n    apiKeys(first: $limit, offset: $offset) {\n      totalCount\n      nodes {\n        id\n        name\n        prefix\n        createdAt\n        revokedAt\n      }\n    }\n  }\n": typeof types.AdminKeysDocument,
    "\n  mutation AdminIssueKey($input: IssueApiKeyInput!) {\n    issueApiKey(input: $input) {\n      key\n      apiKey {\n        name\n      }\n    }\n  }\n": typeof types.AdminIssueKeyDocument,
    "\n  query AdminKey($id: ID!) {\n    node(id: $id) {\n      ... on ApiKey {\n        name\n        prefix\n      }\n    }\n  }\n": typeof types.AdminKeyDocument,
    "\n  mutation AdminRevokeKey($id: ID!) {\n    revokeApiKey(input: { id: $id }) {\n      apiKey {\n        id\n      }\n    }\n  }\n": typeof types.AdminRevokeKeyDocument,
    "\n  fragment SaleFacts on Sale {\n    orderId\n    status\n    networkAppId\n    networkAppName\n    buyer {\n      id\n      username\n    }\n    price\n    numPaid\n    pointsPaid\n    totalPaid\n    totalRefunded\n    createdAt\n    paidAt\n    settledAt\n  }\n": typeof types.SaleFactsFragmentDoc,
    "\n  query AdminSales($limit: Int!, $offset: Int!, $filter: SaleFilter) {\n    sales(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n  }\n": typeof types.AdminSalesDocument,
    "\n  query AdminSale($orderId: ID!) {\n    sale(orderId: $orderId) {\n      ...SaleFacts\n      refunds {\n        id\n        total\n        num\n        points\n        reason\n        createdAt\n      }\n    }\n  }\n": typeof types.AdminSaleDocument,
    "\n  query AdminQuoteRefund($orderId: ID!) {\n    quote(input: { refundOrder: { orderId: $orderId, reason: \"-\" } }) {\n      available\n      problems {\n        message\n      }\n    }\n  }\n": typeof types.AdminQuoteRefundDocument,
    "\n  mutation AdminRefundOrder($input: RefundOrderInput!) {\n    refundOrder(input: $input) {\n      refund {\n        id\n      }\n    }\n  }\n": typeof types.AdminRefundOrderDocument,
    "\n  query AdminOverview($days: Int!) {\n    pricing {\n      currency\n    }\n    figures(days: $days) {\n      waitingCommits\n      oldestWaitingCommitAt\n      waitingDeliveries\n      days {\n        day\n        revenueNum\n        revenuePoints\n        ordersMade\n        ordersPaid\n        refunds\n        commits\n        lagP50\n        lagP95\n        delivered\n        pending\n        givenUp\n        signUps\n      }\n    }\n  }\n": typeof types.AdminOverviewDocument,
    "\n  fragment UserFacts on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n": typeof types.UserFactsFragmentDoc,
    "\n  query AdminUsers($search: String!) {\n    users(search: $search) {\n      ...UserFacts\n    }\n  }\n": typeof types.AdminUsersDocument,
    "\n  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {\n    sales(first: $limit, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n    auditEntries(first: $limit, userId: $id) {\n      totalCount\n      nodes {\n        action\n        reason\n        createdAt\n      }\n    }\n  }\n": typeof types.AdminUserHistoryDocument,
    "\n  query AdminAccount($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on User {\n        ...UserFacts\n        address\n      }\n    }\n  }\n": typeof types.AdminAccountDocument,
    "\n  mutation AdminGrantPoints($input: GrantPointsInput!) {\n    grantPoints(input: $input) {\n      grant {\n        id\n      }\n    }\n  }\n": typeof types.AdminGrantPointsDocument,
    "\n  query AdminGrant($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on PointGrant {\n        id\n        amount\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n": typeof types.AdminGrantDocument,
    "\n  mutation AdminLockUser($input: LockUserInput!) {\n    lockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n": typeof types.AdminLockUserDocument,
    "\n  mutation AdminUnlockUser($input: UnlockUserInput!) {\n    unlockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n": typeof types.AdminUnlockUserDocument,
    "\n  fragment DeliveryFacts on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkApp {\n      id\n      name\n      webhookUrl\n    }\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n  }\n": typeof types.DeliveryFactsFragmentDoc,
    "\n  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {\n    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...DeliveryFacts\n      }\n    }\n  }\n": typeof types.AdminDeliveriesDocument,
    "\n  query AdminDelivery($id: ID!) {\n    webhookDelivery(id: $id) {\n      ...DeliveryFacts\n      payload\n      attempts {\n        number\n        startedAt\n        duration\n        statusCode\n        failure\n        response\n      }\n    }\n  }\n": typeof types.AdminDeliveryDocument,
    "\n  mutation AdminReplay($id: ID!) {\n    replayWebhookDelivery(input: { id: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n": typeof types.AdminReplayDocument,
    "\n  query AssetPage($id: ID!, $first: Int!, $after: String) {\n    asset(id: $id) {\n      nid\n      assetFileName\n      assetFileMimeType\n      assetFileSize\n      assetFileUrl\n      thumbnailUrl\n      proofHash\n      caption\n      headline\n      altText\n      publicAccess\n      nitCommitCustom\n      uploadedAt\n      updatedAt\n      commitCount\n      owner {\n        displayName\n        address\n      }\n      creator {\n        displayName\n        address\n      }\n      contentCredentials {\n        state\n        trustList\n        signer\n        issuer\n        signedAt\n        generator\n        creators\n        actions\n        digitalSourceType\n        mining\n        problems\n        notChecked\n        remoteManifestUrl\n        manifestCount\n        checkedAt\n      }\n      registration {\n        status\n      }\n      commits(first: $first, after: $after) {\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n        nodes {\n          sequence\n          message\n          changes\n          createdAt\n          treeCid\n          status\n          transactionHash\n          explorerUrl\n          blockNumber\n          user {\n            displayName\n          }\n        }\n      }\n    }\n  }\n": typeof types.AssetPageDocument,
    "\n  query LookupPage($sha256: String, $cid: String, $first: Int!, $after: String) {\n    lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) {\n      totalCount\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      nodes {\n        nid\n        headline\n        assetFileName\n        uploadedAt\n        commitCount\n        creator {\n          displayName\n        }\n        registration {\n          status\n          blockNumber\n        }\n      }\n    }\n  }\n": typeof types.LookupPageDocument,
};
const documents: Documents = {
    "\n  mutation AdminCreateApp($input: CreateNetworkAppInput!) {\n    createNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n      webhookSecret\n    }\n  }\n": types.AdminCreateAppDocument,
    "\n  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {\n    updateNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n    }\n  }\n": types.AdminUpdateAppDocument,
    "\n  mutation AdminRotateSecret($id: ID!) {\n    rotateWebhookSecret(input: { id: $id }) {\n      webhookSecret\n    }\n  }\n": types.AdminRotateSecretDocument,
    "\n  mutation AdminSendTestEvent($id: ID!) {\n    sendTestEvent(input: { networkAppId: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n": types.AdminSendTestEventDocument,
    "\n  mutation AdminDeactivateApp($id: ID!) {\n    deactivateNetworkApp(input: { id: $id }) {\n      networkApp {\n        id\n      }\n    }\n  }\n": types.AdminDeactivateAppDocument,
    "\n  fragment NetworkAppFacts on NetworkApp {\n    id\n    name\n    price\n    webhookUrl\n    webhookDisabledAt\n    deliveryFailurePolicy\n    isActive\n    createdAt\n    updatedAt\n    owner {\n      id\n      username\n    }\n  }\n": types.NetworkAppFactsFragmentDoc,
    "\n  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {\n    networkApps(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...NetworkAppFacts\n      }\n    }\n  }\n": types.AdminAppsDocument,
    "\n  query AdminApp($id: ID!) {\n    networkApp(id: $id) {\n      ...NetworkAppFacts\n    }\n  }\n": types.AdminAppDocument,
    "\n  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {\n    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {\n      totalCount\n      nodes {\n        id\n        action\n        subject\n        address\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n": types.AdminAuditDocument,
    "\n  query AdminHeldCoins {\n    heldCoins {\n      treasury\n      treasuryBalance\n      missing\n      inTreasury\n      underWay\n      atAddresses\n      dueWithdrawals\n      amountDue\n      oldestDueAt\n      frozenDeposits\n      shortfall\n    }\n  }\n": types.AdminHeldCoinsDocument,
    "\n  query AdminDeposits($limit: Int!, $offset: Int!, $filter: AccountDepositFilter) {\n    accountDeposits(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        depositId\n        userId\n        kind\n        status\n        amount\n        shortfall\n        transactionHash\n        createdAt\n        frozenAt\n      }\n    }\n  }\n": types.AdminDepositsDocument,
    "\n  query AdminWithdrawals($limit: Int!, $offset: Int!, $filter: AccountWithdrawalFilter) {\n    accountWithdrawals(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        withdrawalId\n        userId\n        status\n        amount\n        total\n        to\n        transactionHash\n        failure\n        dueAt\n        settledAt\n      }\n    }\n  }\n": types.AdminWithdrawalsDocument,
    "\n  query AdminKeys($limit: Int!, $offset: Int!) {\n    apiKeys(first: $limit, offset: $offset) {\n      totalCount\n      nodes {\n        id\n        name\n        prefix\n        createdAt\n        revokedAt\n      }\n    }\n  }\n": types.AdminKeysDocument,
    "\n  mutation AdminIssueKey($input: IssueApiKeyInput!) {\n    issueApiKey(input: $input) {\n      key\n      apiKey {\n        name\n      }\n    }\n  }\n": types.AdminIssueKeyDocument,
    "\n  query AdminKey($id: ID!) {\n    node(id: $id) {\n      ... on ApiKey {\n        name\n        prefix\n      }\n    }\n  }\n": types.AdminKeyDocument,
    "\n  mutation AdminRevokeKey($id: ID!) {\n    revokeApiKey(input: { id: $id }) {\n      apiKey {\n        id\n      }\n    }\n  }\n": types.AdminRevokeKeyDocument,
    "\n  fragment SaleFacts on Sale {\n    orderId\n    status\n    networkAppId\n    networkAppName\n    buyer {\n      id\n      username\n    }\n    price\n    numPaid\n    pointsPaid\n    totalPaid\n    totalRefunded\n    createdAt\n    paidAt\n    settledAt\n  }\n": types.SaleFactsFragmentDoc,
    "\n  query AdminSales($limit: Int!, $offset: Int!, $filter: SaleFilter) {\n    sales(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n  }\n": types.AdminSalesDocument,
    "\n  query AdminSale($orderId: ID!) {\n    sale(orderId: $orderId) {\n      ...SaleFacts\n      refunds {\n        id\n        total\n        num\n        points\n        reason\n        createdAt\n      }\n    }\n  }\n": types.AdminSaleDocument,
    "\n  query AdminQuoteRefund($orderId: ID!) {\n    quote(input: { refundOrder: { orderId: $orderId, reason: \"-\" } }) {\n      available\n      problems {\n        message\n      }\n    }\n  }\n": types.AdminQuoteRefundDocument,
    "\n  mutation AdminRefundOrder($input: RefundOrderInput!) {\n    refundOrder(input: $input) {\n      refund {\n        id\n      }\n    }\n  }\n": types.AdminRefundOrderDocument,
    "\n  query AdminOverview($days: Int!) {\n    pricing {\n      currency\n    }\n    figures(days: $days) {\n      waitingCommits\n      oldestWaitingCommitAt\n      waitingDeliveries\n      days {\n        day\n        revenueNum\n        revenuePoints\n        ordersMade\n        ordersPaid\n        refunds\n        commits\n        lagP50\n        lagP95\n        delivered\n        pending\n        givenUp\n        signUps\n      }\n    }\n  }\n": types.AdminOverviewDocument,
    "\n  fragment UserFacts on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n": types.UserFactsFragmentDoc,
    "\n  query AdminUsers($search: String!) {\n    users(search: $search) {\n      ...UserFacts\n    }\n  }\n": types.AdminUsersDocument,
    "\n  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {\n    sales(first: $limit, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n    auditEntries(first: $limit, userId: $id) {\n      totalCount\n      nodes {\n        action\n        reason\n        createdAt\n      }\n    }\n  }\n": types.AdminUserHistoryDocument,
    "\n  query AdminAccount($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on User {\n        ...UserFacts\n        address\n      }\n    }\n  }\n": types.AdminAccountDocument,
    "\n  mutation AdminGrantPoints($input: GrantPointsInput!) {\n    grantPoints(input: $input) {\n      grant {\n        id\n      }\n    }\n  }\n": types.AdminGrantPointsDocument,
    "\n  query AdminGrant($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on PointGrant {\n        id\n        amount\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n": types.AdminGrantDocument,
    "\n  mutation AdminLockUser($input: LockUserInput!) {\n    lockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n": types.AdminLockUserDocument,
    "\n  mutation AdminUnlockUser($input: UnlockUserInput!) {\n    unlockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n": types.AdminUnlockUserDocument,
    "\n  fragment DeliveryFacts on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkApp {\n      id\n      name\n      webhookUrl\n    }\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n  }\n": types.DeliveryFactsFragmentDoc,
    "\n  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {\n    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...DeliveryFacts\n      }\n    }\n  }\n": types.AdminDeliveriesDocument,
    "\n  query AdminDelivery($id: ID!) {\n    webhookDelivery(id: $id) {\n      ...DeliveryFacts\n      payload\n      attempts {\n        number\n        startedAt\n        duration\n        statusCode\n        failure\n        response\n      }\n    }\n  }\n": types.AdminDeliveryDocument,
    "\n  mutation AdminReplay($id: ID!) {\n    replayWebhookDelivery(input: { id: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n": types.AdminReplayDocument,
    "\n  query AssetPage($id: ID!, $first: Int!, $after: String) {\n    asset(id: $id) {\n      nid\n      assetFileName\n      assetFileMimeType\n      assetFileSize\n      assetFileUrl\n      thumbnailUrl\n      proofHash\n      caption\n      headline\n      altText\n      publicAccess\n      nitCommitCustom\n      uploadedAt\n      updatedAt\n      commitCount\n      owner {\n        displayName\n        address\n      }\n      creator {\n        displayName\n        address\n      }\n      contentCredentials {\n        state\n        trustList\n        signer\n        issuer\n        signedAt\n        generator\n        creators\n        actions\n        digitalSourceType\n        mining\n        problems\n        notChecked\n        remoteManifestUrl\n        manifestCount\n        checkedAt\n      }\n      registration {\n        status\n      }\n      commits(first: $first, after: $after) {\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n        nodes {\n          sequence\n          message\n          changes\n          createdAt\n          treeCid\n          status\n          transactionHash\n          explorerUrl\n          blockNumber\n          user {\n            displayName\n          }\n        }\n      }\n    }\n  }\n": types.AssetPageDocument,
    "\n  query LookupPage($sha256: String, $cid: String, $first: Int!, $after: String) {\n    lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) {\n      totalCount\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      nodes {\n        nid\n        headline\n        assetFileName\n        uploadedAt\n        commitCount\n        creator {\n          displayName\n        }\n        registration {\n          status\n          blockNumber\n        }\n      }\n    }\n  }\n": types.LookupPageDocument,
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
export function graphql(source: "\n  mutation AdminCreateApp($input: CreateNetworkAppInput!) {\n    createNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n      webhookSecret\n    }\n  }\n"): (typeof documents)["\n  mutation AdminCreateApp($input: CreateNetworkAppInput!) {\n    createNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n      webhookSecret\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {\n    updateNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminUpdateApp($input: UpdateNetworkAppInput!) {\n    updateNetworkApp(input: $input) {\n      networkApp {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminRotateSecret($id: ID!) {\n    rotateWebhookSecret(input: { id: $id }) {\n      webhookSecret\n    }\n  }\n"): (typeof documents)["\n  mutation AdminRotateSecret($id: ID!) {\n    rotateWebhookSecret(input: { id: $id }) {\n      webhookSecret\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminSendTestEvent($id: ID!) {\n    sendTestEvent(input: { networkAppId: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminSendTestEvent($id: ID!) {\n    sendTestEvent(input: { networkAppId: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminDeactivateApp($id: ID!) {\n    deactivateNetworkApp(input: { id: $id }) {\n      networkApp {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminDeactivateApp($id: ID!) {\n    deactivateNetworkApp(input: { id: $id }) {\n      networkApp {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment NetworkAppFacts on NetworkApp {\n    id\n    name\n    price\n    webhookUrl\n    webhookDisabledAt\n    deliveryFailurePolicy\n    isActive\n    createdAt\n    updatedAt\n    owner {\n      id\n      username\n    }\n  }\n"): (typeof documents)["\n  fragment NetworkAppFacts on NetworkApp {\n    id\n    name\n    price\n    webhookUrl\n    webhookDisabledAt\n    deliveryFailurePolicy\n    isActive\n    createdAt\n    updatedAt\n    owner {\n      id\n      username\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {\n    networkApps(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...NetworkAppFacts\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminApps($limit: Int!, $offset: Int!, $filter: NetworkAppFilter) {\n    networkApps(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...NetworkAppFacts\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminApp($id: ID!) {\n    networkApp(id: $id) {\n      ...NetworkAppFacts\n    }\n  }\n"): (typeof documents)["\n  query AdminApp($id: ID!) {\n    networkApp(id: $id) {\n      ...NetworkAppFacts\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {\n    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {\n      totalCount\n      nodes {\n        id\n        action\n        subject\n        address\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminAudit($limit: Int!, $offset: Int!, $everybody: Boolean, $userId: ID) {\n    auditEntries(first: $limit, offset: $offset, everybody: $everybody, userId: $userId) {\n      totalCount\n      nodes {\n        id\n        action\n        subject\n        address\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminHeldCoins {\n    heldCoins {\n      treasury\n      treasuryBalance\n      missing\n      inTreasury\n      underWay\n      atAddresses\n      dueWithdrawals\n      amountDue\n      oldestDueAt\n      frozenDeposits\n      shortfall\n    }\n  }\n"): (typeof documents)["\n  query AdminHeldCoins {\n    heldCoins {\n      treasury\n      treasuryBalance\n      missing\n      inTreasury\n      underWay\n      atAddresses\n      dueWithdrawals\n      amountDue\n      oldestDueAt\n      frozenDeposits\n      shortfall\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminDeposits($limit: Int!, $offset: Int!, $filter: AccountDepositFilter) {\n    accountDeposits(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        depositId\n        userId\n        kind\n        status\n        amount\n        shortfall\n        transactionHash\n        createdAt\n        frozenAt\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminDeposits($limit: Int!, $offset: Int!, $filter: AccountDepositFilter) {\n    accountDeposits(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        depositId\n        userId\n        kind\n        status\n        amount\n        shortfall\n        transactionHash\n        createdAt\n        frozenAt\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminWithdrawals($limit: Int!, $offset: Int!, $filter: AccountWithdrawalFilter) {\n    accountWithdrawals(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        withdrawalId\n        userId\n        status\n        amount\n        total\n        to\n        transactionHash\n        failure\n        dueAt\n        settledAt\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminWithdrawals($limit: Int!, $offset: Int!, $filter: AccountWithdrawalFilter) {\n    accountWithdrawals(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        withdrawalId\n        userId\n        status\n        amount\n        total\n        to\n        transactionHash\n        failure\n        dueAt\n        settledAt\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminKeys($limit: Int!, $offset: Int!) {\n    apiKeys(first: $limit, offset: $offset) {\n      totalCount\n      nodes {\n        id\n        name\n        prefix\n        createdAt\n        revokedAt\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminKeys($limit: Int!, $offset: Int!) {\n    apiKeys(first: $limit, offset: $offset) {\n      totalCount\n      nodes {\n        id\n        name\n        prefix\n        createdAt\n        revokedAt\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminIssueKey($input: IssueApiKeyInput!) {\n    issueApiKey(input: $input) {\n      key\n      apiKey {\n        name\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminIssueKey($input: IssueApiKeyInput!) {\n    issueApiKey(input: $input) {\n      key\n      apiKey {\n        name\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminKey($id: ID!) {\n    node(id: $id) {\n      ... on ApiKey {\n        name\n        prefix\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminKey($id: ID!) {\n    node(id: $id) {\n      ... on ApiKey {\n        name\n        prefix\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminRevokeKey($id: ID!) {\n    revokeApiKey(input: { id: $id }) {\n      apiKey {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminRevokeKey($id: ID!) {\n    revokeApiKey(input: { id: $id }) {\n      apiKey {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment SaleFacts on Sale {\n    orderId\n    status\n    networkAppId\n    networkAppName\n    buyer {\n      id\n      username\n    }\n    price\n    numPaid\n    pointsPaid\n    totalPaid\n    totalRefunded\n    createdAt\n    paidAt\n    settledAt\n  }\n"): (typeof documents)["\n  fragment SaleFacts on Sale {\n    orderId\n    status\n    networkAppId\n    networkAppName\n    buyer {\n      id\n      username\n    }\n    price\n    numPaid\n    pointsPaid\n    totalPaid\n    totalRefunded\n    createdAt\n    paidAt\n    settledAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminSales($limit: Int!, $offset: Int!, $filter: SaleFilter) {\n    sales(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminSales($limit: Int!, $offset: Int!, $filter: SaleFilter) {\n    sales(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminSale($orderId: ID!) {\n    sale(orderId: $orderId) {\n      ...SaleFacts\n      refunds {\n        id\n        total\n        num\n        points\n        reason\n        createdAt\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminSale($orderId: ID!) {\n    sale(orderId: $orderId) {\n      ...SaleFacts\n      refunds {\n        id\n        total\n        num\n        points\n        reason\n        createdAt\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminQuoteRefund($orderId: ID!) {\n    quote(input: { refundOrder: { orderId: $orderId, reason: \"-\" } }) {\n      available\n      problems {\n        message\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminQuoteRefund($orderId: ID!) {\n    quote(input: { refundOrder: { orderId: $orderId, reason: \"-\" } }) {\n      available\n      problems {\n        message\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminRefundOrder($input: RefundOrderInput!) {\n    refundOrder(input: $input) {\n      refund {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminRefundOrder($input: RefundOrderInput!) {\n    refundOrder(input: $input) {\n      refund {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminOverview($days: Int!) {\n    pricing {\n      currency\n    }\n    figures(days: $days) {\n      waitingCommits\n      oldestWaitingCommitAt\n      waitingDeliveries\n      days {\n        day\n        revenueNum\n        revenuePoints\n        ordersMade\n        ordersPaid\n        refunds\n        commits\n        lagP50\n        lagP95\n        delivered\n        pending\n        givenUp\n        signUps\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminOverview($days: Int!) {\n    pricing {\n      currency\n    }\n    figures(days: $days) {\n      waitingCommits\n      oldestWaitingCommitAt\n      waitingDeliveries\n      days {\n        day\n        revenueNum\n        revenuePoints\n        ordersMade\n        ordersPaid\n        refunds\n        commits\n        lagP50\n        lagP95\n        delivered\n        pending\n        givenUp\n        signUps\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment UserFacts on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n"): (typeof documents)["\n  fragment UserFacts on User {\n    id\n    username\n    displayName\n    createdAt\n    lockedAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminUsers($search: String!) {\n    users(search: $search) {\n      ...UserFacts\n    }\n  }\n"): (typeof documents)["\n  query AdminUsers($search: String!) {\n    users(search: $search) {\n      ...UserFacts\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {\n    sales(first: $limit, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n    auditEntries(first: $limit, userId: $id) {\n      totalCount\n      nodes {\n        action\n        reason\n        createdAt\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminUserHistory($id: ID!, $limit: Int!, $filter: SaleFilter) {\n    sales(first: $limit, filter: $filter) {\n      totalCount\n      nodes {\n        ...SaleFacts\n      }\n    }\n    auditEntries(first: $limit, userId: $id) {\n      totalCount\n      nodes {\n        action\n        reason\n        createdAt\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminAccount($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on User {\n        ...UserFacts\n        address\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminAccount($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on User {\n        ...UserFacts\n        address\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminGrantPoints($input: GrantPointsInput!) {\n    grantPoints(input: $input) {\n      grant {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminGrantPoints($input: GrantPointsInput!) {\n    grantPoints(input: $input) {\n      grant {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminGrant($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on PointGrant {\n        id\n        amount\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminGrant($id: ID!) {\n    node(id: $id) {\n      __typename\n      ... on PointGrant {\n        id\n        amount\n        reason\n        createdAt\n        user {\n          id\n          username\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminLockUser($input: LockUserInput!) {\n    lockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminLockUser($input: LockUserInput!) {\n    lockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminUnlockUser($input: UnlockUserInput!) {\n    unlockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminUnlockUser($input: UnlockUserInput!) {\n    unlockUser(input: $input) {\n      user {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment DeliveryFacts on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkApp {\n      id\n      name\n      webhookUrl\n    }\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n  }\n"): (typeof documents)["\n  fragment DeliveryFacts on WebhookDelivery {\n    id\n    eventId\n    eventType\n    orderId\n    networkApp {\n      id\n      name\n      webhookUrl\n    }\n    status\n    attemptCount\n    nextAttemptAt\n    createdAt\n    settledAt\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {\n    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...DeliveryFacts\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {\n    webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {\n      totalCount\n      nodes {\n        ...DeliveryFacts\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AdminDelivery($id: ID!) {\n    webhookDelivery(id: $id) {\n      ...DeliveryFacts\n      payload\n      attempts {\n        number\n        startedAt\n        duration\n        statusCode\n        failure\n        response\n      }\n    }\n  }\n"): (typeof documents)["\n  query AdminDelivery($id: ID!) {\n    webhookDelivery(id: $id) {\n      ...DeliveryFacts\n      payload\n      attempts {\n        number\n        startedAt\n        duration\n        statusCode\n        failure\n        response\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation AdminReplay($id: ID!) {\n    replayWebhookDelivery(input: { id: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation AdminReplay($id: ID!) {\n    replayWebhookDelivery(input: { id: $id }) {\n      webhookDelivery {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query AssetPage($id: ID!, $first: Int!, $after: String) {\n    asset(id: $id) {\n      nid\n      assetFileName\n      assetFileMimeType\n      assetFileSize\n      assetFileUrl\n      thumbnailUrl\n      proofHash\n      caption\n      headline\n      altText\n      publicAccess\n      nitCommitCustom\n      uploadedAt\n      updatedAt\n      commitCount\n      owner {\n        displayName\n        address\n      }\n      creator {\n        displayName\n        address\n      }\n      contentCredentials {\n        state\n        trustList\n        signer\n        issuer\n        signedAt\n        generator\n        creators\n        actions\n        digitalSourceType\n        mining\n        problems\n        notChecked\n        remoteManifestUrl\n        manifestCount\n        checkedAt\n      }\n      registration {\n        status\n      }\n      commits(first: $first, after: $after) {\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n        nodes {\n          sequence\n          message\n          changes\n          createdAt\n          treeCid\n          status\n          transactionHash\n          explorerUrl\n          blockNumber\n          user {\n            displayName\n          }\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query AssetPage($id: ID!, $first: Int!, $after: String) {\n    asset(id: $id) {\n      nid\n      assetFileName\n      assetFileMimeType\n      assetFileSize\n      assetFileUrl\n      thumbnailUrl\n      proofHash\n      caption\n      headline\n      altText\n      publicAccess\n      nitCommitCustom\n      uploadedAt\n      updatedAt\n      commitCount\n      owner {\n        displayName\n        address\n      }\n      creator {\n        displayName\n        address\n      }\n      contentCredentials {\n        state\n        trustList\n        signer\n        issuer\n        signedAt\n        generator\n        creators\n        actions\n        digitalSourceType\n        mining\n        problems\n        notChecked\n        remoteManifestUrl\n        manifestCount\n        checkedAt\n      }\n      registration {\n        status\n      }\n      commits(first: $first, after: $after) {\n        pageInfo {\n          hasNextPage\n          endCursor\n        }\n        nodes {\n          sequence\n          message\n          changes\n          createdAt\n          treeCid\n          status\n          transactionHash\n          explorerUrl\n          blockNumber\n          user {\n            displayName\n          }\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query LookupPage($sha256: String, $cid: String, $first: Int!, $after: String) {\n    lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) {\n      totalCount\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      nodes {\n        nid\n        headline\n        assetFileName\n        uploadedAt\n        commitCount\n        creator {\n          displayName\n        }\n        registration {\n          status\n          blockNumber\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query LookupPage($sha256: String, $cid: String, $first: Int!, $after: String) {\n    lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) {\n      totalCount\n      pageInfo {\n        hasNextPage\n        endCursor\n      }\n      nodes {\n        nid\n        headline\n        assetFileName\n        uploadedAt\n        commitCount\n        creator {\n          displayName\n        }\n        registration {\n          status\n          blockNumber\n        }\n      }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;