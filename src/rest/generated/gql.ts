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
    "\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestRegisterAssetDocument,
    "\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestUpdateAssetDocument,
    "\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  ": typeof types.RestAssetDocument,
    "\n    query RestAssets($limit: Int!, $offset: Int!, $filter: AssetFilter) {\n      assets(first: $limit, offset: $offset, filter: $filter) {\n        totalCount\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": typeof types.RestAssetsDocument,
    "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  ": typeof types.RestDeleteAssetDocument,
    "\n  query RestHistory($id: ID!) {\n    asset(id: $id) {\n      nid\n      history {\n        ...CommitRecord\n      }\n    }\n  }\n": typeof types.RestHistoryDocument,
    "\n  fragment AssetRecord on Asset {\n    nid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    proofHash\n    caption\n    headline\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      email\n      address\n    }\n    creator {\n      username\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n": typeof types.AssetRecordFragmentDoc,
    "\n  fragment CommitRecord on Commit {\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n  }\n": typeof types.CommitRecordFragmentDoc,
    "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    displayName\n    description\n    wallet {\n      address\n      num\n      points\n    }\n  }\n": typeof types.UserRecordFragmentDoc,
};
const documents: Documents = {
    "\n    mutation RestSignUp($input: SignUpInput!) {\n      signUp(input: $input) {\n        email\n        user {\n          id\n          username\n        }\n      }\n    }\n  ": types.RestSignUpDocument,
    "\n    mutation RestLogin($input: SignInInput!) {\n      signIn(input: $input) {\n        token\n      }\n    }\n  ": types.RestLoginDocument,
    "\n    mutation RestLogout {\n      signOut\n    }\n  ": types.RestLogoutDocument,
    "\n  query RestMe {\n    me {\n      ...UserRecord\n    }\n  }\n": types.RestMeDocument,
    "\n    mutation RestRegisterAsset($input: RegisterAssetInput!) {\n      registerAsset(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestRegisterAssetDocument,
    "\n    mutation RestUpdateAsset($input: UpdateAssetMetadataInput!) {\n      updateAssetMetadata(input: $input) {\n        asset {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestUpdateAssetDocument,
    "\n    query RestAsset($id: ID!) {\n      asset(id: $id) {\n        ...AssetRecord\n      }\n    }\n  ": types.RestAssetDocument,
    "\n    query RestAssets($limit: Int!, $offset: Int!, $filter: AssetFilter) {\n      assets(first: $limit, offset: $offset, filter: $filter) {\n        totalCount\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  ": types.RestAssetsDocument,
    "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  ": types.RestDeleteAssetDocument,
    "\n  query RestHistory($id: ID!) {\n    asset(id: $id) {\n      nid\n      history {\n        ...CommitRecord\n      }\n    }\n  }\n": types.RestHistoryDocument,
    "\n  fragment AssetRecord on Asset {\n    nid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    proofHash\n    caption\n    headline\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      email\n      address\n    }\n    creator {\n      username\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n": types.AssetRecordFragmentDoc,
    "\n  fragment CommitRecord on Commit {\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n  }\n": types.CommitRecordFragmentDoc,
    "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    displayName\n    description\n    wallet {\n      address\n      num\n      points\n    }\n  }\n": types.UserRecordFragmentDoc,
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
export function graphql(source: "\n    query RestAssets($limit: Int!, $offset: Int!, $filter: AssetFilter) {\n      assets(first: $limit, offset: $offset, filter: $filter) {\n        totalCount\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "): (typeof documents)["\n    query RestAssets($limit: Int!, $offset: Int!, $filter: AssetFilter) {\n      assets(first: $limit, offset: $offset, filter: $filter) {\n        totalCount\n        nodes {\n          ...AssetRecord\n        }\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  "): (typeof documents)["\n    mutation RestDeleteAsset($input: DeleteAssetInput!) {\n      deleteAsset(input: $input) {\n        id\n      }\n    }\n  "];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query RestHistory($id: ID!) {\n    asset(id: $id) {\n      nid\n      history {\n        ...CommitRecord\n      }\n    }\n  }\n"): (typeof documents)["\n  query RestHistory($id: ID!) {\n    asset(id: $id) {\n      nid\n      history {\n        ...CommitRecord\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment AssetRecord on Asset {\n    nid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    proofHash\n    caption\n    headline\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      email\n      address\n    }\n    creator {\n      username\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n"): (typeof documents)["\n  fragment AssetRecord on Asset {\n    nid\n    headId\n    assetFileName\n    assetFileMimeType\n    assetFileSize\n    assetFileUrl\n    proofHash\n    caption\n    headline\n    tag\n    publicAccess\n    uploadedAt\n    updatedAt\n    isOwn\n    meta\n    signature\n    signedMetadata\n    nitCommitCustom\n    owner {\n      username\n      email\n      address\n    }\n    creator {\n      username\n      address\n    }\n    registration {\n      transactionHash\n      explorerUrl\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment CommitRecord on Commit {\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n  }\n"): (typeof documents)["\n  fragment CommitRecord on Commit {\n    transactionHash\n    treeCid\n    treeSha256\n    treeSignature\n    author\n    committer\n    provider\n    createdAt\n    action\n    actionName\n    actionResult\n    message\n    changes\n    status\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    displayName\n    description\n    wallet {\n      address\n      num\n      points\n    }\n  }\n"): (typeof documents)["\n  fragment UserRecord on User {\n    id\n    username\n    email\n    address\n    language\n    emailVerified\n    assetCount\n    referralCode\n    defaultTag\n    allowC2paDownload\n    displayName\n    description\n    wallet {\n      address\n      num\n      points\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;