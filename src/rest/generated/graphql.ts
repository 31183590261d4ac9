/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Conditions that all hold. */
export type AssetFilter = {
  /** Whether the owner registered it. */
  isOriginalOwner?: boolean | null | undefined;
  /** The owner's e-mail address. */
  owner?: string | null | undefined;
  /** SHA-256 of the file, 64 hexadecimal digits. */
  proofHash?: string | null | undefined;
  /** The tag. */
  tag?: string | null | undefined;
};

/** Where a commit's chain transaction stands. A reorganisation of the chain moves INCLUDED back to BROADCAST. */
export type CommitStatus =
  /** Signed and sent to the chain. */
  | 'BROADCAST'
  /** Can never reach the chain; the charge was refunded. */
  | 'FAILED'
  /** Settled. */
  | 'FINAL'
  /** In a block, though not yet deep enough to be settled. */
  | 'INCLUDED'
  /** Accepted and paid for; not yet sent to the chain. */
  | 'PENDING';

/** The asset to take out of the service. */
export type DeleteAssetInput = {
  /** The nid. */
  id: string | number;
};

/** A file and the metadata of its first commit. */
export type RegisterAssetInput = {
  /** The file, at most 250 MB. */
  assetFile: unknown;
  /** MIME type; that of the upload when left out. */
  assetFileMimeType?: string | null | undefined;
  /** Brief description. */
  caption?: string | null | undefined;
  /** What you say about this change. */
  commitMessage?: string | null | undefined;
  /** Title, at most 25 characters. */
  headline?: string | null | undefined;
  /** JSON text kept as it is. */
  meta?: string | null | undefined;
  /** Custom fields, at most 10 KB and 16 levels deep. */
  nitCommitCustom?: Record<string, unknown> | null | undefined;
  /** Whether everybody may see it. */
  publicAccess?: boolean | null | undefined;
  /** JSON text kept as it is. */
  signature?: string | null | undefined;
  /** JSON text kept as it is. */
  signedMetadata?: string | null | undefined;
  /** Tag to find it by. */
  tag?: string | null | undefined;
};

/** Who signs in. */
export type SignInInput = {
  /** Address of the account. */
  email: string;
  /** Its password. */
  password: string;
};

/** What a new account needs. */
export type SignUpInput = {
  /** A valid address; it receives all notifications. */
  email: string;
  /** Language of mails, as in en-us. */
  language?: string | null | undefined;
  /** 8 to 32 characters. */
  password: string;
  /** Code of whoever sent them here. */
  referralCode?: string | null | undefined;
  /** At most 21 characters; unique without regard to case. */
  username: string;
};

/** Only what is given changes. */
export type UpdateAssetMetadataInput = {
  /** Brief description. */
  caption?: string | null | undefined;
  /** What you say about this change. */
  commitMessage?: string | null | undefined;
  /** Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one. */
  expectedHead?: string | number | null | undefined;
  /** Title, at most 25 characters. */
  headline?: string | null | undefined;
  /** The nid. */
  id: string | number;
  /** Custom fields to set or replace by top-level key; null removes a key. At most 10 KB and 16 levels deep. */
  nitCommitCustom?: Record<string, unknown> | null | undefined;
  /** Whether everybody may see it. */
  publicAccess?: boolean | null | undefined;
  /** JSON text kept as it is. */
  signature?: string | null | undefined;
  /** JSON text kept as it is. */
  signedMetadata?: string | null | undefined;
  /** Tag to find it by. */
  tag?: string | null | undefined;
};

export type RestSignUpMutationVariables = Exact<{
  input: SignUpInput;
}>;


export type RestSignUpMutation = { signUp: { email: string, user: { id: string, username: string } } };

export type RestLoginMutationVariables = Exact<{
  input: SignInInput;
}>;


export type RestLoginMutation = { signIn: { token: string } };

export type RestLogoutMutationVariables = Exact<{ [key: string]: never; }>;


export type RestLogoutMutation = { signOut: boolean };

export type RestMeQueryVariables = Exact<{ [key: string]: never; }>;


export type RestMeQuery = { me: { id: string, username: string, email: string | null, address: string, language: string | null, emailVerified: boolean | null, assetCount: number | null, referralCode: string | null, defaultTag: string | null, allowC2paDownload: boolean | null, displayName: string, description: string, wallet: { address: string, num: string, points: string } | null } };

export type RestRegisterAssetMutationVariables = Exact<{
  input: RegisterAssetInput;
}>;


export type RestRegisterAssetMutation = { registerAsset: { asset: { nid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, proofHash: string, caption: string, headline: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, email: string | null, address: string }, creator: { username: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } } };

export type RestUpdateAssetMutationVariables = Exact<{
  input: UpdateAssetMetadataInput;
}>;


export type RestUpdateAssetMutation = { updateAssetMetadata: { asset: { nid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, proofHash: string, caption: string, headline: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, email: string | null, address: string }, creator: { username: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } } };

export type RestAssetQueryVariables = Exact<{
  id: string | number;
}>;


export type RestAssetQuery = { asset: { nid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, proofHash: string, caption: string, headline: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, email: string | null, address: string }, creator: { username: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } | null };

export type RestAssetsQueryVariables = Exact<{
  limit: number;
  offset: number;
  filter?: AssetFilter | null | undefined;
}>;


export type RestAssetsQuery = { assets: { totalCount: number, nodes: Array<{ nid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, proofHash: string, caption: string, headline: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, email: string | null, address: string }, creator: { username: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } }> } };

export type RestDeleteAssetMutationVariables = Exact<{
  input: DeleteAssetInput;
}>;


export type RestDeleteAssetMutation = { deleteAsset: { id: string } };

export type RestHistoryQueryVariables = Exact<{
  id: string | number;
}>;


export type RestHistoryQuery = { asset: { nid: string, history: Array<{ transactionHash: string | null, treeCid: string, treeSha256: string, treeSignature: string | null, author: string, committer: string, provider: string, createdAt: Date, action: string, actionName: string, actionResult: string, message: string, changes: Record<string, unknown>, status: CommitStatus }> } | null };

export type AssetRecordFragment = { nid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, proofHash: string, caption: string, headline: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, email: string | null, address: string }, creator: { username: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } };

export type CommitRecordFragment = { transactionHash: string | null, treeCid: string, treeSha256: string, treeSignature: string | null, author: string, committer: string, provider: string, createdAt: Date, action: string, actionName: string, actionResult: string, message: string, changes: Record<string, unknown>, status: CommitStatus };

export type UserRecordFragment = { id: string, username: string, email: string | null, address: string, language: string | null, emailVerified: boolean | null, assetCount: number | null, referralCode: string | null, defaultTag: string | null, allowC2paDownload: boolean | null, displayName: string, description: string, wallet: { address: string, num: string, points: string } | null };

export const AssetRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<AssetRecordFragment, unknown>;
export const CommitRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CommitRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Commit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"treeCid"}},{"kind":"Field","name":{"kind":"Name","value":"treeSha256"}},{"kind":"Field","name":{"kind":"Name","value":"treeSignature"}},{"kind":"Field","name":{"kind":"Name","value":"author"}},{"kind":"Field","name":{"kind":"Name","value":"committer"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"actionName"}},{"kind":"Field","name":{"kind":"Name","value":"actionResult"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"changes"}},{"kind":"Field","name":{"kind":"Name","value":"status"}}]}}]} as unknown as DocumentNode<CommitRecordFragment, unknown>;
export const UserRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UserRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"language"}},{"kind":"Field","name":{"kind":"Name","value":"emailVerified"}},{"kind":"Field","name":{"kind":"Name","value":"assetCount"}},{"kind":"Field","name":{"kind":"Name","value":"referralCode"}},{"kind":"Field","name":{"kind":"Name","value":"defaultTag"}},{"kind":"Field","name":{"kind":"Name","value":"allowC2paDownload"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}}]} as unknown as DocumentNode<UserRecordFragment, unknown>;
export const RestSignUpDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestSignUp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SignUpInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signUp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}}]}}]}}]}}]} as unknown as DocumentNode<RestSignUpMutation, RestSignUpMutationVariables>;
export const RestLoginDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestLogin"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SignInInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signIn"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}}]}}]}}]} as unknown as DocumentNode<RestLoginMutation, RestLoginMutationVariables>;
export const RestLogoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestLogout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signOut"}}]}}]} as unknown as DocumentNode<RestLogoutMutation, RestLogoutMutationVariables>;
export const RestMeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestMe"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UserRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UserRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"language"}},{"kind":"Field","name":{"kind":"Name","value":"emailVerified"}},{"kind":"Field","name":{"kind":"Name","value":"assetCount"}},{"kind":"Field","name":{"kind":"Name","value":"referralCode"}},{"kind":"Field","name":{"kind":"Name","value":"defaultTag"}},{"kind":"Field","name":{"kind":"Name","value":"allowC2paDownload"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}}]} as unknown as DocumentNode<RestMeQuery, RestMeQueryVariables>;
export const RestRegisterAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRegisterAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterAssetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerAsset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestRegisterAssetMutation, RestRegisterAssetMutationVariables>;
export const RestUpdateAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUpdateAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateAssetMetadataInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateAssetMetadata"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestUpdateAssetMutation, RestUpdateAssetMutationVariables>;
export const RestAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestAssetQuery, RestAssetQueryVariables>;
export const RestAssetsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAssets"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"AssetFilter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"assets"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestAssetsQuery, RestAssetsQueryVariables>;
export const RestDeleteAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestDeleteAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteAssetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteAsset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<RestDeleteAssetMutation, RestDeleteAssetMutationVariables>;
export const RestHistoryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestHistory"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"history"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"CommitRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CommitRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Commit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"treeCid"}},{"kind":"Field","name":{"kind":"Name","value":"treeSha256"}},{"kind":"Field","name":{"kind":"Name","value":"treeSignature"}},{"kind":"Field","name":{"kind":"Name","value":"author"}},{"kind":"Field","name":{"kind":"Name","value":"committer"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"actionName"}},{"kind":"Field","name":{"kind":"Name","value":"actionResult"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"changes"}},{"kind":"Field","name":{"kind":"Name","value":"status"}}]}}]} as unknown as DocumentNode<RestHistoryQuery, RestHistoryQueryVariables>;