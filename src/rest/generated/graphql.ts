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
  /** The owner's e-mail address; left out, the list is your own when you are signed in. */
  owner?: string | null | undefined;
  /** SHA-256 of the file, 64 hexadecimal digits. */
  proofHash?: string | null | undefined;
  /** The whole tag, its capitals and small letters as they are. */
  tag?: string | null | undefined;
};

/** An asset tree and the time of its commit. */
export type AssetTreeInput = {
  /** As a commit names it. */
  assetTreeCid: string;
  /** When it was committed. */
  createdAt: Date;
};

/** Which order to cancel. */
export type CancelOrderInput = {
  /** Identifier of the order. */
  id: string | number;
};

/** Which withdrawal to cancel. */
export type CancelWithdrawalInput = {
  /** Identifier of the withdrawal. */
  id: string | number;
};

/** Another address for your account. */
export type ChangeEmailInput = {
  /** Your password. */
  currentPassword: string;
  /** A valid address; it receives all notifications. */
  newEmail: string;
};

/** A new password in place of the present one. */
export type ChangePasswordInput = {
  /** The present one. */
  currentPassword: string;
  /** 8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. Control characters, invisible characters and unassigned characters are not allowed. */
  newPassword: string;
};

/** Another username for your account. */
export type ChangeUsernameInput = {
  /** Your password. */
  currentPassword: string;
  /** At most 21 characters; unique without regard to case. */
  newUsername: string;
};

/** Status of a commit's chain transaction. A reorganisation of the chain moves INCLUDED back to BROADCAST. */
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

/** What to pay. */
export type ConfirmOrderInput = {
  /** Identifier of the order. */
  id: string | number;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
};

/** The validation state of the manifest in a file. */
export type ContentCredentialsState =
  /** The manifest does not match the file, or its signature is wrong. */
  | 'INVALID'
  /** The file has no manifest but names the URL of one. Annal does not fetch remote manifests. */
  | 'REMOTE'
  /** The manifest is intact, and the signer is on the operator’s trust list. */
  | 'TRUSTED'
  /** The file has a manifest that cannot be read. */
  | 'UNREADABLE'
  /** The manifest is intact. The signer is on no trust list, so the name of the signer proves nothing. */
  | 'VALID';

/** The asset, and how long the link is to be good. */
export type CreateAssetLinkInput = {
  /** When it ends, at most 366 days from now; in seven days when left out. */
  expiresAt?: Date | null | undefined;
  /** The nid. */
  id: string | number;
  /** What you know it by, such as whom it is for, at most 100 characters. Nobody else sees it. */
  label?: string | null | undefined;
};

/** A paid action to sell. */
export type CreateNetworkAppInput = {
  /** What becomes of a paid order whose webhook was given up; KEEP when left out. */
  deliveryFailurePolicy?: DeliveryFailurePolicy | null | undefined;
  /** 1 to 100 characters; unique without regard to case. */
  name: string;
  /** Currency units as a decimal string such as "0.5", at most 12 digits before and 18 after the point; 0 is free. */
  price: string;
  /** How the price is made; FIXED when left out. */
  priceMode?: PriceMode | null | undefined;
  /** Called after a payment: https, never an internal address. */
  webhookUrl?: string | null | undefined;
};

/** What to buy. */
export type CreateOrderInput = {
  /** Arguments for its webhook, at most 64 KB. */
  actionArgs?: Record<string, unknown> | null | undefined;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
  /** Identifier or name of the network app. */
  networkApp: string;
};

/** The app to take out of sale. */
export type DeactivateNetworkAppInput = {
  /** Identifier of the app. */
  id: string | number;
};

/** The asset to take out of the service. */
export type DeleteAssetInput = {
  /** The nid. */
  id: string | number;
};

/** What becomes of a paid order whose webhook was given up. */
export type DeliveryFailurePolicy =
  /** It stays paid; the app's owner settles it with the buyer. */
  | 'KEEP'
  /** The buyer gets the money back. */
  | 'REFUND';

/** Status of a webhook delivery. */
export type DeliveryStatus =
  /** The receiver took it. */
  | 'DELIVERED'
  /** The last attempt failed, or the receiver said that it is gone. */
  | 'GIVEN_UP'
  /** An attempt is due or under way. */
  | 'PENDING';

/** The currency of a deposit. */
export type DepositKind =
  /** The chain’s own coin. */
  | 'COIN'
  /** The ERC-20 token that the operator configured. */
  | 'TOKEN';

/** Whether a deposit counts. */
export type DepositStatus =
  /** In the wallet. */
  | 'CREDITED'
  /** Was in the wallet, and the chain has lost its block: taken out again until the chain has it. */
  | 'FROZEN'
  /** In a block that is not deep enough: it can still disappear, and cannot be spent. */
  | 'PENDING';

/** Why a request is refused: `extensions.code` of every error is one of these. Read the code, not the message; more may be added. */
export type ErrorCode =
  /** The wallet cannot pay for the commit. `extensions.required`, `available` and `missing` tell how much. */
  | 'ASSET_COMMIT_INSUFFICIENT_FUND'
  /** The asset is visible to you, but not yours to change. */
  | 'ASSET_WRITE_PERMISSION_DENIED'
  /** The credentials that were sent are not valid, or not any more. */
  | 'AUTHENTICATION_FAILED'
  /** Something else was faster, or what the request builds on has changed. */
  | 'CONFLICT'
  /** The file is registered already; `extensions.details` names the asset. */
  | 'DUPLICATE_ASSET'
  /** Another account has the e-mail address. */
  | 'DUPLICATE_EMAIL'
  /** Another account has the username. */
  | 'DUPLICATE_USERNAME'
  /** The account signs in once its e-mail address is verified. */
  | 'EMAIL_NOT_VERIFIED'
  /** The headers of the request are too large. */
  | 'HEADERS_TOO_LARGE'
  /** The first request with the key is still being carried out; ask again after `extensions.retryAfter` seconds. */
  | 'IDEMPOTENCY_KEY_IN_USE'
  /** The key belongs to another request, or what it was answered is worth nothing any more. Use a new one. */
  | 'IDEMPOTENCY_KEY_REUSED'
  /** No account has this e-mail address and password. */
  | 'INCORRECT_LOGIN_CREDENTIALS'
  /** The wallet cannot pay for the order. `extensions.required`, `available` and `missing` tell how much. */
  | 'INSUFFICIENT_FUND'
  /** There is no room for the file. Nothing was charged. */
  | 'INSUFFICIENT_STORAGE'
  /** A fault of ours. It is logged under the request id of the answer. */
  | 'INTERNAL'
  /** No network app has this name or identifier. */
  | 'INVALID_NETWORK_APP_NAME'
  /** The mailed link is not valid, or not any more. */
  | 'INVALID_TOKEN'
  /** The HTTP method is not one of this address. */
  | 'METHOD_NOT_ALLOWED'
  /** The answer has no form that the request accepts. */
  | 'NOT_ACCEPTABLE'
  /** The request needs somebody who is signed in. */
  | 'NOT_AUTHENTICATED'
  /** There is no such thing, or none that you may see. */
  | 'NOT_FOUND'
  /** The order was not confirmed in time. */
  | 'ORDER_EXPIRED'
  /** The request cannot be read: JSON, a form or a GraphQL document is malformed. */
  | 'PARSE_ERROR'
  /** The request is larger than the limit. */
  | 'PAYLOAD_TOO_LARGE'
  /** Only an administrator may do this. */
  | 'PERMISSION_DENIED'
  /** Only documents of the operator’s list are carried out here: name one by its identifier instead of sending its text. */
  | 'PERSISTED_QUERY_ID_REQUIRED'
  /** No document is known by this identifier. Send it again together with the document. */
  | 'PERSISTED_QUERY_NOT_FOUND'
  /** Only documents of the operator’s list are carried out here, and this is none of them. */
  | 'PERSISTED_QUERY_NOT_IN_LIST'
  /** It costs more than the request lets it. */
  | 'PRICE_EXCEEDS_MAX_COST'
  /** The request took too long to arrive. */
  | 'REQUEST_TIMEOUT'
  /** Too many requests; ask again after `extensions.retryAfter` seconds. */
  | 'THROTTLED'
  /** So many orders wait to be confirmed that no other can be made; one ends by itself after `extensions.retryAfter` seconds. */
  | 'TOO_MANY_OPEN_ORDERS'
  /** The order is in a state in which it cannot be cancelled. */
  | 'UNABLE_TO_CANCEL_ORDER'
  /** The withdrawal is signed for, or over: it cannot be cancelled. */
  | 'UNABLE_TO_CANCEL_WITHDRAWAL'
  /** The order is in a state in which it cannot be confirmed. */
  | 'UNABLE_TO_CONFIRM_ORDER'
  /** The order is in a state in which nothing of it can be given back: it is not paid, all of it came back already, or its buyer is gone. */
  | 'UNABLE_TO_REFUND_ORDER'
  /** A part of the service is down; ask again after `extensions.retryAfter` seconds. */
  | 'UNAVAILABLE'
  /** The body has a media type that is not read here. */
  | 'UNSUPPORTED_MEDIA_TYPE'
  /** The API key is missing, unknown or revoked. */
  | 'UNTRUSTED_CLIENT'
  /** Something that was sent is not as it has to be; `extensions.details` tells by field what is wrong. */
  | 'VALIDATION_FAILED'
  /** The password or e-mail address was changed lately: nothing is withdrawn before `extensions.retryAfter` seconds have passed. */
  | 'WITHDRAWALS_PAUSED';

/** The recipient, the number of points and the reason. */
export type GrantPointsInput = {
  /** Number of points, more than 0. */
  amount: string;
  /** Reason, at most 500 characters. The user can read it. */
  reason: string;
  /** The user's ID, e-mail address or username. */
  userId: string | number;
};

/** Who gets a key. */
export type IssueApiKeyInput = {
  /** Which service it is for, 1 to 100 characters. */
  name: string;
};

/** The time by which a list is sorted. */
export type ListOrder =
  /** The time of creation. */
  | 'CREATED_AT'
  /** The time of the last update. */
  | 'UPDATED_AT';

/** Whose account to lock, and why. */
export type LockUserInput = {
  /** Why, in at most 500 characters: it stands in the audit trail. */
  reason: string;
  /** The user's identifier, e-mail address or username. */
  userId: string | number;
};

/** Conditions that all hold. */
export type NetworkAppFilter = {
  /** Whether it is sold. */
  isActive?: boolean | null | undefined;
  /** A part of the name, in any case. An app of exactly this name stands first. */
  name?: string | null | undefined;
};

/** Status of an order. */
export type OrderStatus =
  /** Withdrawn before it was paid. */
  | 'CANCELLED'
  /** To be confirmed before it expires; nothing was charged. */
  | 'CREATED'
  /** Not confirmed in time; nothing was charged. */
  | 'EXPIRED'
  /** Paid, and the webhook given up; the owner of the network app settles it with the buyer. */
  | 'FAILURE'
  /** Paid; the webhook of the network app was not delivered yet. */
  | 'PENDING'
  /** Paid, and all of the money given back. */
  | 'REFUNDED'
  /** Paid, and the webhook delivered if there is one. */
  | 'SUCCESS';

/** How the price of a network app is made. */
export type PriceMode =
  /** Every order costs the same. */
  | 'FIXED';

/** The mutation to quote, with its input. */
export type QuoteInput =
  {   /** A confirmation. Returns a PaymentQuote. */
  confirmOrder: ConfirmOrderInput; createOrder?: never; refundOrder?: never; registerAsset?: never; revertAsset?: never; updateAssetMetadata?: never; withdraw?: never; }
  |  { confirmOrder?: never;   /** An order. Returns a PaymentQuote with the cost of its confirmation. */
  createOrder: CreateOrderInput; refundOrder?: never; registerAsset?: never; revertAsset?: never; updateAssetMetadata?: never; withdraw?: never; }
  |  { confirmOrder?: never; createOrder?: never;   /** A refund; for administrators. Returns a RefundQuote. */
  refundOrder: RefundOrderInput; registerAsset?: never; revertAsset?: never; updateAssetMetadata?: never; withdraw?: never; }
  |  { confirmOrder?: never; createOrder?: never; refundOrder?: never;   /** A registration. Returns a PaymentQuote. */
  registerAsset: QuoteRegisterAssetInput; revertAsset?: never; updateAssetMetadata?: never; withdraw?: never; }
  |  { confirmOrder?: never; createOrder?: never; refundOrder?: never; registerAsset?: never;   /** A revert. Returns a PaymentQuote. */
  revertAsset: RevertAssetInput; updateAssetMetadata?: never; withdraw?: never; }
  |  { confirmOrder?: never; createOrder?: never; refundOrder?: never; registerAsset?: never; revertAsset?: never;   /** A change of metadata. Returns a PaymentQuote. */
  updateAssetMetadata: UpdateAssetMetadataInput; withdraw?: never; }
  |  { confirmOrder?: never; createOrder?: never; refundOrder?: never; registerAsset?: never; revertAsset?: never; updateAssetMetadata?: never;   /** A withdrawal. Returns a WithdrawalQuote. */
  withdraw: QuoteWithdrawInput; };

/** A registration, with or without its file. */
export type QuoteRegisterAssetInput = {
  /** Alternative text for accessibility (IPTC), for those who cannot see it, at most 1,000 characters. */
  altText?: string | null | undefined;
  /** The file. Nothing of it is kept. Without it, only the other fields are checked. DUPLICATE_ASSET is reported only of an asset that you may see; the mutation also raises it if someone else registered the file privately. */
  assetFile?: unknown;
  /** MIME type of the file. Defaults to the type of the upload. Annal detects the type from the content if the given type is a placeholder, such as `application/octet-stream`, or an alias, such as `image/jpg`. */
  assetFileMimeType?: string | null | undefined;
  /** Brief description, at most 4,000 characters. */
  caption?: string | null | undefined;
  /** What you say about this change, at most 1000 characters. It stands on the chain for good, where everybody reads it, also of a private asset. */
  commitMessage?: string | null | undefined;
  /** Title, at most 100 characters in a registration and 25 in an update. */
  headline?: string | null | undefined;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
  /** What the device recorded with the file: JSON text kept as it was sent, at most 64 KB. */
  meta?: string | null | undefined;
  /** Custom fields of the asset tree. Keys are free; one that the tree has already, such as assetCreator or license, wins there, but for those that identify the file, which are refused in upper and lower case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. At most 10 KB and 16 levels deep. */
  nitCommitCustom?: Record<string, unknown> | null | undefined;
  /** Whether everybody may see it. */
  publicAccess?: boolean | null | undefined;
  /** Signatures of that metadata: JSON text kept as it was sent, at most 32 KB. */
  signature?: string | null | undefined;
  /** The metadata that was signed: JSON text kept as it was sent, at most 32 KB. */
  signedMetadata?: string | null | undefined;
  /** Tag to find it by, at most 255 characters. */
  tag?: string | null | undefined;
};

/** A withdrawal, without the password. */
export type QuoteWithdrawInput = {
  /** The amount to arrive, in currency units, more than 0. The fee is added to it. */
  amount: string;
  /** Refuses a higher fee with PRICE_EXCEEDS_MAX_COST. */
  maxFee?: string | null | undefined;
  /** The destination address on the chain, which is no account of this service. In mixed case its EIP-55 checksum must be right. */
  to: string;
};

/** The refund to make. */
export type RefundOrderInput = {
  /** The amount, more than 0. Without it, everything that is left. */
  amount?: string | null | undefined;
  /** Identifier of the order. */
  orderId: string | number;
  /** The reason, at most 500 characters. The buyer reads it. */
  reason: string;
};

/** A file and the metadata of its first commit. White space at both ends of texts is removed. */
export type RegisterAssetInput = {
  /** Alternative text for accessibility (IPTC), for those who cannot see it, at most 1,000 characters. */
  altText?: string | null | undefined;
  /** The file, at most 250 MB. */
  assetFile: unknown;
  /** MIME type of the file. Defaults to the type of the upload. Annal detects the type from the content if the given type is a placeholder, such as `application/octet-stream`, or an alias, such as `image/jpg`. */
  assetFileMimeType?: string | null | undefined;
  /** Brief description, at most 4,000 characters. */
  caption?: string | null | undefined;
  /** What you say about this change, at most 1000 characters. It stands on the chain for good, where everybody reads it, also of a private asset. */
  commitMessage?: string | null | undefined;
  /** Title, at most 100 characters in a registration and 25 in an update. */
  headline?: string | null | undefined;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
  /** What the device recorded with the file: JSON text kept as it was sent, at most 64 KB. */
  meta?: string | null | undefined;
  /** Custom fields of the asset tree. Keys are free; one that the tree has already, such as assetCreator or license, wins there, but for those that identify the file, which are refused in upper and lower case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. At most 10 KB and 16 levels deep. */
  nitCommitCustom?: Record<string, unknown> | null | undefined;
  /** Whether everybody may see it. */
  publicAccess?: boolean | null | undefined;
  /** Signatures of that metadata: JSON text kept as it was sent, at most 32 KB. */
  signature?: string | null | undefined;
  /** The metadata that was signed: JSON text kept as it was sent, at most 32 KB. */
  signedMetadata?: string | null | undefined;
  /** Tag to find it by, at most 255 characters. */
  tag?: string | null | undefined;
};

/** What to send once more. */
export type ReplayWebhookDeliveryInput = {
  /** Identifier of the webhook delivery. */
  id: string | number;
};

/** Whose address is to be verified. */
export type RequestEmailVerificationInput = {
  /** Address of the account; left out, it is yours. */
  email?: string | null | undefined;
};

/** Whose password is lost. */
export type RequestPasswordResetInput = {
  /** Address of the account. */
  email: string;
};

/** A new password, by a mailed link `…/account/password-reset/{uid}/{token}`. */
export type ResetPasswordInput = {
  /** 8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. Control characters, invisible characters and unassigned characters are not allowed. */
  newPassword: string;
  /** Secret from the link. */
  token: string;
  /** Identifier of the account, from the link. */
  uid: string | number;
};

/** The version to revert an asset to. */
export type RevertAssetInput = {
  /** What you say about this change, at most 1000 characters; `Revert to commit_…` when left out. It stands on the chain for good, where everybody reads it, also of a private asset. */
  commitMessage?: string | null | undefined;
  /** Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one. */
  expectedHead?: string | number | null | undefined;
  /** The nid. */
  id: string | number;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
  /** The version: a time (`2026-11-22T10:00:00Z`, or seconds since 1970, which mean the end of that second) or the identifier of a commit (`commit_01h2x…`). */
  revertTo: string;
};

/** The key to end. */
export type RevokeApiKeyInput = {
  /** Identifier of the key. */
  id: string | number;
};

/** The link to end. */
export type RevokeAssetLinkInput = {
  /** Identifier of the link. */
  id: string | number;
};

/** The asset whose links are to end. */
export type RevokeAssetLinksInput = {
  /** The nid. */
  id: string | number;
};

/** The session to end. */
export type RevokeSessionInput = {
  /** Identifier of the session. */
  id: string | number;
};

/** The app whose calls are to be signed with a new secret. */
export type RotateWebhookSecretInput = {
  /** Identifier of the app. */
  id: string | number;
};

/** Whose receiver to try. */
export type SendTestEventInput = {
  /** Identifier of the network app. */
  networkAppId: string | number;
};

/** Who signs in. */
export type SignInInput = {
  /** Address of the account. */
  email: string;
  /** What the session is recognised by, such as the device: at most 100 characters. */
  name?: string | null | undefined;
  /** Its password. */
  password: string;
};

/** What a new account needs. */
export type SignUpInput = {
  /** A valid address; it receives all notifications. */
  email: string;
  /** Language of mails, as in en-us. */
  language?: string | null | undefined;
  /** 8 to 32 characters, counted after Unicode normalization (NFC). All spaces count as U+0020. Control characters, invisible characters and unassigned characters are not allowed. */
  password: string;
  /** Code of whoever sent them here. */
  referralCode?: string | null | undefined;
  /** At most 21 visible characters, and not the e-mail address of somebody else; unique without regard to case, width and composition. */
  username: string;
};

/** What a transfer is about. */
export type TransferKind =
  /** The charge for a commit. */
  | 'COMMIT'
  /** Currency units that came in over the chain. */
  | 'DEPOSIT'
  /** What was still owed for a frozen deposit, taken by the operator. */
  | 'DEPOSIT_COLLECTION'
  /** A deposit that the chain has lost after it was credited, taken back. */
  | 'DEPOSIT_FREEZE'
  /** A frozen deposit that the chain has again. */
  | 'DEPOSIT_RELEASE'
  /** Points from an administrator. */
  | 'GRANT'
  /** The payment of an order, or what the sale brought to the owner of the network app. */
  | 'ORDER'
  /** The payment of an order, given back. */
  | 'ORDER_REFUND'
  /** Something else. */
  | 'OTHER'
  /** A commit that could not reach the chain, given back. */
  | 'REFUND'
  /** The points an account starts with. */
  | 'SIGN_UP'
  /** Currency units that were withdrawn, with their fee. */
  | 'WITHDRAWAL'
  /** A withdrawal that was cancelled or failed, given back. */
  | 'WITHDRAWAL_REFUND';

/** Whose account to unlock, and why. */
export type UnlockUserInput = {
  /** Why, in at most 500 characters: it stands in the audit trail. */
  reason: string;
  /** The user's identifier, e-mail address or username. */
  userId: string | number;
};

/** The changes to the metadata of an asset. Fields that are left out stay unchanged. White space at both ends of texts is removed. */
export type UpdateAssetMetadataInput = {
  /** Alternative text for accessibility (IPTC), for those who cannot see it, at most 1,000 characters. */
  altText?: string | null | undefined;
  /** Brief description, at most 4,000 characters. */
  caption?: string | null | undefined;
  /** What you say about this change, at most 1000 characters. It stands on the chain for good, where everybody reads it, also of a private asset. */
  commitMessage?: string | null | undefined;
  /** Identifier of the newest commit you saw; refused with CONFLICT when there is a newer one. */
  expectedHead?: string | number | null | undefined;
  /** Title, at most 100 characters in a registration and 25 in an update. */
  headline?: string | null | undefined;
  /** The nid. */
  id: string | number;
  /** Refuses a higher total with PRICE_EXCEEDS_MAX_COST. */
  maxCost?: string | null | undefined;
  /** Custom fields of the asset tree to set or replace by top-level key; null removes a key. Keys are free; one that the tree has already, such as assetCreator or license, wins there, but for those that identify the file, which are refused in upper and lower case: assetCid, assetSha256, encodingFormat, assetTimestampCreated. At most 10 KB and 16 levels deep. */
  nitCommitCustom?: Record<string, unknown> | null | undefined;
  /** Whether everybody may see it. */
  publicAccess?: boolean | null | undefined;
  /** Signatures of that metadata: JSON text kept as it was sent, at most 32 KB. */
  signature?: string | null | undefined;
  /** The metadata that was signed: JSON text kept as it was sent, at most 32 KB. */
  signedMetadata?: string | null | undefined;
  /** Tag to find it by, at most 255 characters. */
  tag?: string | null | undefined;
};

/** Only what is given changes. */
export type UpdateNetworkAppInput = {
  /** What becomes of a paid order whose webhook was given up. */
  deliveryFailurePolicy?: DeliveryFailurePolicy | null | undefined;
  /** Identifier of the app. */
  id: string | number;
  /** 1 to 100 characters; unique without regard to case. */
  name?: string | null | undefined;
  /** Currency units as a decimal string. Orders that were made keep the price they were made at. */
  price?: string | null | undefined;
  /** https, never an internal address; null removes the webhook. Rotate the secret of a first URL to see it. */
  webhookUrl?: string | null | undefined;
};

/** What to change of your own record; what is left out stays. */
export type UpdateProfileInput = {
  /** Whether clients may offer files with content credentials. */
  allowC2paDownload?: boolean | null | undefined;
  /** Tag that clients offer for new assets, at most 100 characters. */
  defaultTag?: string | null | undefined;
  /** What you say about yourself, at most 1000 characters. */
  description?: string | null | undefined;
  /** The name shown to others, at most 100 characters. */
  displayName?: string | null | undefined;
  /** Language of mails, as in en-us. */
  language?: string | null | undefined;
  /** The picture behind your profile. JPEG, PNG, WebP, GIF, AVIF or TIFF, at most 10 MB; it is kept smaller and without its metadata. Null takes it away. */
  profileBackground?: unknown;
  /** Your picture. JPEG, PNG, WebP, GIF, AVIF or TIFF, at most 10 MB; it is kept smaller and without its metadata. Null takes it away. */
  profilePicture?: unknown;
};

/** Order of accounts by creation time. */
export type UserOrder =
  /** Newest first. */
  | 'NEWEST'
  /** Oldest first. */
  | 'OLDEST';

/** A mailed link `…/account/email-verification/{uid}/{token}`. */
export type VerifyEmailInput = {
  /** Secret from the link. */
  token: string;
  /** Identifier of the account, from the link. */
  uid: string | number;
};

/** Which webhook deliveries to list; what is given must all fit. */
export type WebhookDeliveryFilter = {
  /** Only those of this network app. */
  networkAppId?: string | number | null | undefined;
  /** Only those of this order. */
  orderId?: string | number | null | undefined;
  /** Only those with this status. */
  status?: DeliveryStatus | null | undefined;
};

/** The withdrawal to make. */
export type WithdrawInput = {
  /** The amount to arrive, in currency units, more than 0. The fee is added to it. */
  amount: string;
  /** Your password. */
  currentPassword: string;
  /** Refuses a higher fee with PRICE_EXCEEDS_MAX_COST. */
  maxFee?: string | null | undefined;
  /** The destination address on the chain, which is no account of this service. In mixed case its EIP-55 checksum must be right. */
  to: string;
};

/** How far a withdrawal is. */
export type WithdrawalStatus =
  /** It was cancelled; amount and fee are back in the wallet. */
  | 'CANCELLED'
  /** The coins arrived for good. */
  | 'CONFIRMED'
  /** The recipient refused the coins; the amount is back in the wallet. */
  | 'FAILED'
  /** It is signed for, and not deep enough in the chain. */
  | 'SENDING'
  /** Nothing is signed for it: it can be cancelled. Also while the treasury is short of coins. */
  | 'WAITING';

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


export type RestMeQuery = { me: { id: string, username: string, email: string | null, address: string, language: string | null, emailVerified: boolean | null, pendingEmail: string | null, assetCount: number | null, referralCode: string | null, defaultTag: string | null, allowC2paDownload: boolean | null, displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null, wallet: { address: string, num: string, points: string } | null } };

export type RestDeleteMeMutationVariables = Exact<{ [key: string]: never; }>;


export type RestDeleteMeMutation = { deleteAccount: { id: string } };

export type ApiKeyRecordFragment = { id: string, name: string, prefix: string, createdAt: Date, revokedAt: Date | null };

export type RestIssueApiKeyMutationVariables = Exact<{
  input: IssueApiKeyInput;
}>;


export type RestIssueApiKeyMutation = { issueApiKey: { key: string, apiKey: { id: string, name: string, prefix: string, createdAt: Date, revokedAt: Date | null } } };

export type RestApiKeysQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestApiKeysQuery = { apiKeys: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, name: string, prefix: string, createdAt: Date, revokedAt: Date | null }> } };

export type RestRevokeApiKeyMutationVariables = Exact<{
  input: RevokeApiKeyInput;
}>;


export type RestRevokeApiKeyMutation = { revokeApiKey: { apiKey: { id: string } } };

export type AssetLinkRecordFragment = { id: string, label: string, url: string, createdAt: Date, expiresAt: Date, revokedAt: Date | null, lastUsedAt: Date | null };

export type RestCreateAssetLinkMutationVariables = Exact<{
  input: CreateAssetLinkInput;
}>;


export type RestCreateAssetLinkMutation = { createAssetLink: { link: { id: string, label: string, url: string, createdAt: Date, expiresAt: Date, revokedAt: Date | null, lastUsedAt: Date | null } } };

export type RestAssetLinksQueryVariables = Exact<{
  id: string | number;
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestAssetLinksQuery = { asset: { links: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, label: string, url: string, createdAt: Date, expiresAt: Date, revokedAt: Date | null, lastUsedAt: Date | null }> } | null } | null };

export type RestRevokeAssetLinkMutationVariables = Exact<{
  input: RevokeAssetLinkInput;
}>;


export type RestRevokeAssetLinkMutation = { revokeAssetLink: { link: { id: string } } };

export type RestRevokeAssetLinksMutationVariables = Exact<{
  input: RevokeAssetLinksInput;
}>;


export type RestRevokeAssetLinksMutation = { revokeAssetLinks: { __typename: 'RevokeAssetLinksPayload' } };

export type RestMergeTreesQueryVariables = Exact<{
  trees: Array<AssetTreeInput> | AssetTreeInput;
}>;


export type RestMergeTreesQuery = { mergedAssetTree: { mergedAssetTree: Record<string, unknown>, assetTrees: Array<Record<string, unknown>> } };

export type RestDownloadQueryVariables = Exact<{
  id: string | number;
}>;


export type RestDownloadQuery = { asset: { assetFileUrl: string, thumbnailUrl: string | null } | null };

export type RestAssetTreeQueryVariables = Exact<{
  id: string | number;
  at?: string | null | undefined;
}>;


export type RestAssetTreeQuery = { asset: { nid: string, commitAt: { id: string, message: string, treeCid: string, treeSha256: string, treeSignature: string | null, createdAt: Date, tree: Record<string, unknown> | null } | null } | null };

export type RestRevertAssetMutationVariables = Exact<{
  input: RevertAssetInput;
}>;


export type RestRevertAssetMutation = { revertAsset: { asset: { nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } } };

export type RestRegisterAssetMutationVariables = Exact<{
  input: RegisterAssetInput;
}>;


export type RestRegisterAssetMutation = { registerAsset: { asset: { nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } } };

export type RestUpdateAssetMutationVariables = Exact<{
  input: UpdateAssetMetadataInput;
}>;


export type RestUpdateAssetMutation = { updateAssetMetadata: { asset: { nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } } };

export type RestAssetQueryVariables = Exact<{
  id: string | number;
}>;


export type RestAssetQuery = { asset: { nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } } | null };

export type RestAssetsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
  orderBy?: ListOrder | null | undefined;
  filter?: AssetFilter | null | undefined;
}>;


export type RestAssetsQuery = { assets: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } }> } };

export type RestDeleteAssetMutationVariables = Exact<{
  input: DeleteAssetInput;
}>;


export type RestDeleteAssetMutation = { deleteAsset: { id: string } };

export type RestHistoryQueryVariables = Exact<{
  id: string | number;
  limit: number;
  offset: number;
  after?: number | null | undefined;
  newestFirst: boolean;
  search?: string | null | undefined;
}>;


export type RestHistoryQuery = { asset: { nid: string, commitCount: number, history: Array<{ sequence: number, id: string, transactionHash: string | null, treeCid: string, treeSha256: string, treeSignature: string | null, author: string, committer: string, provider: string, createdAt: Date, action: string, actionName: string, actionResult: string, message: string, changes: Record<string, unknown>, status: CommitStatus, gasUsed: number | null, feePaid: string | null }> } | null };

export type RestAuditEntriesQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestAuditEntriesQuery = { auditEntries: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, action: string, subject: string | null, address: string | null, reason: string | null, createdAt: Date }> } };

export type RestContentCredentialsQueryVariables = Exact<{
  id: string | number;
}>;


export type RestContentCredentialsQuery = { asset: { nid: string, contentCredentials: { state: ContentCredentialsState, trustList: string | null, signer: string | null, issuer: string | null, signedAt: string | null, generator: string | null, title: string | null, creators: Array<string>, actions: Array<string>, digitalSourceType: string | null, mining: Array<string>, problems: Array<string>, notChecked: Array<string>, remoteManifestUrl: string | null, manifestCount: number, checkedAt: Date } | null } | null };

export type RestDepositsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
  status?: DepositStatus | null | undefined;
}>;


export type RestDepositsQuery = { deposits: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, kind: DepositKind, status: DepositStatus, amount: string, transactionHash: string, blockNumber: number | null, confirmations: number | null, shortfall: string, createdAt: Date, creditedAt: Date | null, frozenAt: Date | null }> } };

export type RestDeviceQueryVariables = Exact<{ [key: string]: never; }>;


export type RestDeviceQuery = { me: { id: string } };

export type RestEventsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestEventsQuery = { events: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, sequence: number, type: string, createdAt: Date, orderId: string | null, commitId: string | null, deliveryId: string | null, transferId: string | null, data: Record<string, unknown> | null }> } };

export type RestGrantPointsMutationVariables = Exact<{
  input: GrantPointsInput;
}>;


export type RestGrantPointsMutation = { grantPoints: { grant: { id: string, amount: string, reason: string, createdAt: Date, user: { id: string } } } };

export type RestChangeEmailMutationVariables = Exact<{
  input: ChangeEmailInput;
}>;


export type RestChangeEmailMutation = { changeEmail: { user: { id: string } } };

export type RestChangeUsernameMutationVariables = Exact<{
  input: ChangeUsernameInput;
}>;


export type RestChangeUsernameMutation = { changeUsername: { user: { id: string } } };

export type RestVerifyEmailMutationVariables = Exact<{
  input: VerifyEmailInput;
}>;


export type RestVerifyEmailMutation = { verifyEmail: { user: { id: string } } };

export type RestRequestEmailVerificationMutationVariables = Exact<{
  input: RequestEmailVerificationInput;
}>;


export type RestRequestEmailVerificationMutation = { requestEmailVerification: { email: string } };

export type RestLookupQueryVariables = Exact<{
  sha256?: string | null | undefined;
  cid?: string | null | undefined;
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
  orderBy?: ListOrder | null | undefined;
}>;


export type RestLookupQuery = { lookup: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } }> } };

export type NetworkAppRecordFragment = { id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date };

export type RestCreateNetworkAppMutationVariables = Exact<{
  input: CreateNetworkAppInput;
}>;


export type RestCreateNetworkAppMutation = { createNetworkApp: { webhookSecret: string | null, networkApp: { id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date } } };

export type RestNetworkAppsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
  orderBy?: ListOrder | null | undefined;
  filter?: NetworkAppFilter | null | undefined;
}>;


export type RestNetworkAppsQuery = { networkApps: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date }> } };

export type RestNetworkAppQueryVariables = Exact<{
  id: string | number;
}>;


export type RestNetworkAppQuery = { networkApp: { id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date } | null };

export type RestUpdateNetworkAppMutationVariables = Exact<{
  input: UpdateNetworkAppInput;
}>;


export type RestUpdateNetworkAppMutation = { updateNetworkApp: { networkApp: { id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date } } };

export type RestDeactivateNetworkAppMutationVariables = Exact<{
  input: DeactivateNetworkAppInput;
}>;


export type RestDeactivateNetworkAppMutation = { deactivateNetworkApp: { networkApp: { id: string } } };

export type RestRotateWebhookSecretMutationVariables = Exact<{
  input: RotateWebhookSecretInput;
}>;


export type RestRotateWebhookSecretMutation = { rotateWebhookSecret: { webhookSecret: string | null, networkApp: { id: string, name: string, priceMode: PriceMode, price: string, webhookUrl: string | null, isActive: boolean, deliveryFailurePolicy: DeliveryFailurePolicy, createdAt: Date, updatedAt: Date } } };

export type RefundRecordFragment = { id: string, orderId: string, num: string, points: string, total: string, reason: string, transferId: string, createdAt: Date };

export type RestCreateOrderMutationVariables = Exact<{
  input: CreateOrderInput;
}>;


export type RestCreateOrderMutation = { createOrder: { order: { id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } } } };

export type RestConfirmOrderMutationVariables = Exact<{
  input: ConfirmOrderInput;
}>;


export type RestConfirmOrderMutation = { confirmOrder: { order: { id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } } } };

export type RestCancelOrderMutationVariables = Exact<{
  input: CancelOrderInput;
}>;


export type RestCancelOrderMutation = { cancelOrder: { order: { id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } } } };

export type RestOrderQueryVariables = Exact<{
  id: string | number;
}>;


export type RestOrderQuery = { order: { id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } } | null };

export type RestOrdersQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestOrdersQuery = { orders: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } }> } };

export type RestRefundsQueryVariables = Exact<{
  id: string | number;
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestRefundsQuery = { refunds: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, orderId: string, num: string, points: string, total: string, reason: string, transferId: string, createdAt: Date }> } };

export type RestRefundOrderMutationVariables = Exact<{
  input: RefundOrderInput;
}>;


export type RestRefundOrderMutation = { refundOrder: { refund: { id: string, orderId: string, num: string, points: string, total: string, reason: string, transferId: string, createdAt: Date } } };

export type RestRequestPasswordResetMutationVariables = Exact<{
  input: RequestPasswordResetInput;
}>;


export type RestRequestPasswordResetMutation = { requestPasswordReset: { email: string } };

export type RestResetPasswordMutationVariables = Exact<{
  input: ResetPasswordInput;
}>;


export type RestResetPasswordMutation = { resetPassword: { user: { id: string } } };

export type RestChangePasswordMutationVariables = Exact<{
  input: ChangePasswordInput;
}>;


export type RestChangePasswordMutation = { changePassword: { user: { id: string } } };

export type AssetRecordFragment = { nid: string, uuid: string, headId: string, assetFileName: string, assetFileMimeType: string, assetFileSize: string, assetFileUrl: string, thumbnailUrl: string | null, proofHash: string, caption: string, headline: string, altText: string, tag: string, publicAccess: boolean, uploadedAt: Date, updatedAt: Date, isOwn: boolean, isOriginalOwner: boolean, meta: string | null, signature: string | null, signedMetadata: string | null, nitCommitCustom: Record<string, unknown>, owner: { username: string, displayName: string, email: string | null, address: string }, creator: { username: string, displayName: string, address: string }, registration: { transactionHash: string | null, explorerUrl: string | null } };

export type CommitRecordFragment = { id: string, transactionHash: string | null, treeCid: string, treeSha256: string, treeSignature: string | null, author: string, committer: string, provider: string, createdAt: Date, action: string, actionName: string, actionResult: string, message: string, changes: Record<string, unknown>, status: CommitStatus, gasUsed: number | null, feePaid: string | null };

export type EventRecordFragment = { id: string, sequence: number, type: string, createdAt: Date, orderId: string | null, commitId: string | null, deliveryId: string | null, transferId: string | null, data: Record<string, unknown> | null };

export type OrderRecordFragment = { id: string, status: OrderStatus, networkAppId: string, networkAppName: string, actionArgs: Record<string, unknown>, price: string, pointsQuoted: string, numQuoted: string, pointsPaid: string, numPaid: string, transferId: string | null, createdAt: Date, expiresAt: Date, buyer: { email: string | null } };

export type ProfileRecordFragment = { displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null };

export type UserRecordFragment = { id: string, username: string, email: string | null, address: string, language: string | null, emailVerified: boolean | null, pendingEmail: string | null, assetCount: number | null, referralCode: string | null, defaultTag: string | null, allowC2paDownload: boolean | null, displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null, wallet: { address: string, num: string, points: string } | null };

export type RestUpdateMeMutationVariables = Exact<{
  input: UpdateProfileInput;
}>;


export type RestUpdateMeMutation = { updateProfile: { user: { id: string, username: string, email: string | null, address: string, language: string | null, emailVerified: boolean | null, pendingEmail: string | null, assetCount: number | null, referralCode: string | null, defaultTag: string | null, allowC2paDownload: boolean | null, displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null, wallet: { address: string, num: string, points: string } | null } } };

export type RestUpdateProfileMutationVariables = Exact<{
  input: UpdateProfileInput;
}>;


export type RestUpdateProfileMutation = { updateProfile: { user: { displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null } } };

export type RestProfileQueryVariables = Exact<{ [key: string]: never; }>;


export type RestProfileQuery = { me: { displayName: string, description: string, profilePictureUrl: string | null, profilePictureThumbnailUrl: string | null, profileBackgroundUrl: string | null, profileBackgroundThumbnailUrl: string | null } };

export type RestQuoteQueryVariables = Exact<{
  input: QuoteInput;
}>;


export type RestQuoteQuery = { quote:
    | { __typename: 'PaymentQuote', price: string, gas: string, num: string, points: string, pointsCharged: string, numCharged: string, missing: string, total: string, available: string, problems: Array<{ code: ErrorCode, message: string, field: string | null }> }
    | { __typename: 'RefundQuote', num: string, points: string, total: string, available: string, problems: Array<{ code: ErrorCode, message: string, field: string | null }> }
    | { __typename: 'WithdrawalQuote', amount: string, fee: string, leftToday: string, total: string, available: string, problems: Array<{ code: ErrorCode, message: string, field: string | null }> }
   };

export type RestSessionsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestSessionsQuery = { sessions: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, name: string, createdAt: Date, lastUsedAt: Date | null, expiresAt: Date | null, isCurrent: boolean }> } };

export type RestRevokeSessionMutationVariables = Exact<{
  input: RevokeSessionInput;
}>;


export type RestRevokeSessionMutation = { revokeSession: { id: string } };

export type RestRevokeOtherSessionsMutationVariables = Exact<{ [key: string]: never; }>;


export type RestRevokeOtherSessionsMutation = { revokeOtherSessions: { session: { id: string } } };

export type RestTransfersQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestTransfersQuery = { transfers: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, kind: TransferKind, subjectId: string | null, num: string, points: string, createdAt: Date, balance: { num: string, points: string } }> } };

export type AdministeredUserFragment = { id: string, username: string, displayName: string, createdAt: Date, lockedAt: Date | null };

export type RestUsersQueryVariables = Exact<{
  search: string;
  limit: number;
  offset: number;
  order?: UserOrder | null | undefined;
}>;


export type RestUsersQuery = { userCount: number, users: Array<{ id: string, username: string, displayName: string, createdAt: Date, lockedAt: Date | null }> };

export type RestLockUserMutationVariables = Exact<{
  input: LockUserInput;
}>;


export type RestLockUserMutation = { lockUser: { user: { id: string, username: string, displayName: string, createdAt: Date, lockedAt: Date | null } } };

export type RestUnlockUserMutationVariables = Exact<{
  input: UnlockUserInput;
}>;


export type RestUnlockUserMutation = { unlockUser: { user: { id: string, username: string, displayName: string, createdAt: Date, lockedAt: Date | null } } };

export type RestWalletQueryVariables = Exact<{ [key: string]: never; }>;


export type RestWalletQuery = { me: { wallet: { address: string, num: string } | null } };

export type WebhookDeliveryRecordFragment = { id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> };

export type WebhookDeliveryDetailFragment = { payload: Record<string, unknown>, id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> };

export type RestWebhookDeliveriesQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
  filter?: WebhookDeliveryFilter | null | undefined;
}>;


export type RestWebhookDeliveriesQuery = { webhookDeliveries: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> }> } };

export type RestWebhookDeliveryQueryVariables = Exact<{
  id: string | number;
}>;


export type RestWebhookDeliveryQuery = { webhookDelivery: { payload: Record<string, unknown>, id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> } | null };

export type RestReplayWebhookDeliveryMutationVariables = Exact<{
  input: ReplayWebhookDeliveryInput;
}>;


export type RestReplayWebhookDeliveryMutation = { replayWebhookDelivery: { webhookDelivery: { payload: Record<string, unknown>, id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> } } };

export type RestSendTestEventMutationVariables = Exact<{
  input: SendTestEventInput;
}>;


export type RestSendTestEventMutation = { sendTestEvent: { webhookDelivery: { payload: Record<string, unknown>, id: string, eventId: string, eventType: string, orderId: string | null, networkAppId: string, status: DeliveryStatus, attemptCount: number, nextAttemptAt: Date | null, createdAt: Date, settledAt: Date | null, attempts: Array<{ number: number, startedAt: Date, duration: number, statusCode: number | null, failure: string | null, response: string }> } } };

export type WithdrawalRecordFragment = { id: string, status: WithdrawalStatus, amount: string, fee: string, total: string, to: string, transactionHash: string | null, failure: string | null, createdAt: Date, dueAt: Date, settledAt: Date | null };

export type RestWithdrawMutationVariables = Exact<{
  input: WithdrawInput;
}>;


export type RestWithdrawMutation = { withdraw: { withdrawal: { id: string, status: WithdrawalStatus, amount: string, fee: string, total: string, to: string, transactionHash: string | null, failure: string | null, createdAt: Date, dueAt: Date, settledAt: Date | null } } };

export type RestWithdrawalsQueryVariables = Exact<{
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  offset?: number | null | undefined;
  search?: string | null | undefined;
}>;


export type RestWithdrawalsQuery = { withdrawals: { totalCount: number, pageInfo: { startCursor: string | null, endCursor: string | null }, nodes: Array<{ id: string, status: WithdrawalStatus, amount: string, fee: string, total: string, to: string, transactionHash: string | null, failure: string | null, createdAt: Date, dueAt: Date, settledAt: Date | null }> } };

export type RestCancelWithdrawalMutationVariables = Exact<{
  input: CancelWithdrawalInput;
}>;


export type RestCancelWithdrawalMutation = { cancelWithdrawal: { withdrawal: { id: string, status: WithdrawalStatus, amount: string, fee: string, total: string, to: string, transactionHash: string | null, failure: string | null, createdAt: Date, dueAt: Date, settledAt: Date | null } } };

export const ApiKeyRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"prefix"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}}]} as unknown as DocumentNode<ApiKeyRecordFragment, unknown>;
export const AssetLinkRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetLinkRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AssetLink"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<AssetLinkRecordFragment, unknown>;
export const NetworkAppRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<NetworkAppRecordFragment, unknown>;
export const RefundRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefundRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Refund"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RefundRecordFragment, unknown>;
export const AssetRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<AssetRecordFragment, unknown>;
export const CommitRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CommitRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Commit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"treeCid"}},{"kind":"Field","name":{"kind":"Name","value":"treeSha256"}},{"kind":"Field","name":{"kind":"Name","value":"treeSignature"}},{"kind":"Field","name":{"kind":"Name","value":"author"}},{"kind":"Field","name":{"kind":"Name","value":"committer"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"actionName"}},{"kind":"Field","name":{"kind":"Name","value":"actionResult"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"changes"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"gasUsed"}},{"kind":"Field","name":{"kind":"Name","value":"feePaid"}}]}}]} as unknown as DocumentNode<CommitRecordFragment, unknown>;
export const EventRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EventRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Event"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"sequence"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"commitId"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryId"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"data"}}]}}]} as unknown as DocumentNode<EventRecordFragment, unknown>;
export const OrderRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<OrderRecordFragment, unknown>;
export const ProfileRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}}]} as unknown as DocumentNode<ProfileRecordFragment, unknown>;
export const UserRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UserRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"language"}},{"kind":"Field","name":{"kind":"Name","value":"emailVerified"}},{"kind":"Field","name":{"kind":"Name","value":"pendingEmail"}},{"kind":"Field","name":{"kind":"Name","value":"assetCount"}},{"kind":"Field","name":{"kind":"Name","value":"referralCode"}},{"kind":"Field","name":{"kind":"Name","value":"defaultTag"}},{"kind":"Field","name":{"kind":"Name","value":"allowC2paDownload"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProfileRecord"}},{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}}]} as unknown as DocumentNode<UserRecordFragment, unknown>;
export const AdministeredUserFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AdministeredUser"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lockedAt"}}]}}]} as unknown as DocumentNode<AdministeredUserFragment, unknown>;
export const WebhookDeliveryRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}}]} as unknown as DocumentNode<WebhookDeliveryRecordFragment, unknown>;
export const WebhookDeliveryDetailFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryDetail"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryRecord"}},{"kind":"Field","name":{"kind":"Name","value":"payload"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}}]} as unknown as DocumentNode<WebhookDeliveryDetailFragment, unknown>;
export const WithdrawalRecordFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WithdrawalRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Withdrawal"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"fee"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"dueAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}}]}}]} as unknown as DocumentNode<WithdrawalRecordFragment, unknown>;
export const RestSignUpDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestSignUp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SignUpInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signUp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}}]}}]}}]}}]} as unknown as DocumentNode<RestSignUpMutation, RestSignUpMutationVariables>;
export const RestLoginDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestLogin"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SignInInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signIn"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}}]}}]}}]} as unknown as DocumentNode<RestLoginMutation, RestLoginMutationVariables>;
export const RestLogoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestLogout"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"signOut"}}]}}]} as unknown as DocumentNode<RestLogoutMutation, RestLogoutMutationVariables>;
export const RestMeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestMe"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UserRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UserRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"language"}},{"kind":"Field","name":{"kind":"Name","value":"emailVerified"}},{"kind":"Field","name":{"kind":"Name","value":"pendingEmail"}},{"kind":"Field","name":{"kind":"Name","value":"assetCount"}},{"kind":"Field","name":{"kind":"Name","value":"referralCode"}},{"kind":"Field","name":{"kind":"Name","value":"defaultTag"}},{"kind":"Field","name":{"kind":"Name","value":"allowC2paDownload"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProfileRecord"}},{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}}]} as unknown as DocumentNode<RestMeQuery, RestMeQueryVariables>;
export const RestDeleteMeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestDeleteMe"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteAccount"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<RestDeleteMeMutation, RestDeleteMeMutationVariables>;
export const RestIssueApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestIssueApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"IssueApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issueApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ApiKeyRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"prefix"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}}]} as unknown as DocumentNode<RestIssueApiKeyMutation, RestIssueApiKeyMutationVariables>;
export const RestApiKeysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestApiKeys"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKeys"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ApiKeyRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"prefix"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}}]} as unknown as DocumentNode<RestApiKeysQuery, RestApiKeysQueryVariables>;
export const RestRevokeApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevokeApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestRevokeApiKeyMutation, RestRevokeApiKeyMutationVariables>;
export const RestCreateAssetLinkDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestCreateAssetLink"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateAssetLinkInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createAssetLink"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"link"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetLinkRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetLinkRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AssetLink"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<RestCreateAssetLinkMutation, RestCreateAssetLinkMutationVariables>;
export const RestAssetLinksDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAssetLinks"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"links"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetLinkRecord"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetLinkRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AssetLink"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"url"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<RestAssetLinksQuery, RestAssetLinksQueryVariables>;
export const RestRevokeAssetLinkDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevokeAssetLink"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeAssetLinkInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeAssetLink"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"link"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestRevokeAssetLinkMutation, RestRevokeAssetLinkMutationVariables>;
export const RestRevokeAssetLinksDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevokeAssetLinks"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeAssetLinksInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeAssetLinks"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}}]}}]}}]} as unknown as DocumentNode<RestRevokeAssetLinksMutation, RestRevokeAssetLinksMutationVariables>;
export const RestMergeTreesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestMergeTrees"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"trees"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AssetTreeInput"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mergedAssetTree"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"trees"},"value":{"kind":"Variable","name":{"kind":"Name","value":"trees"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"mergedAssetTree"}},{"kind":"Field","name":{"kind":"Name","value":"assetTrees"}}]}}]}}]} as unknown as DocumentNode<RestMergeTreesQuery, RestMergeTreesQueryVariables>;
export const RestDownloadDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestDownload"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}}]}}]}}]} as unknown as DocumentNode<RestDownloadQuery, RestDownloadQueryVariables>;
export const RestAssetTreeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAssetTree"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"commitAt"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"treeCid"}},{"kind":"Field","name":{"kind":"Name","value":"treeSha256"}},{"kind":"Field","name":{"kind":"Name","value":"treeSignature"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"tree"}}]}}]}}]}}]} as unknown as DocumentNode<RestAssetTreeQuery, RestAssetTreeQueryVariables>;
export const RestRevertAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevertAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevertAssetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revertAsset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestRevertAssetMutation, RestRevertAssetMutationVariables>;
export const RestRegisterAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRegisterAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterAssetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerAsset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestRegisterAssetMutation, RestRegisterAssetMutationVariables>;
export const RestUpdateAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUpdateAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateAssetMetadataInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateAssetMetadata"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestUpdateAssetMutation, RestUpdateAssetMutationVariables>;
export const RestAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestAssetQuery, RestAssetQueryVariables>;
export const RestAssetsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAssets"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ListOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"AssetFilter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"assets"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestAssetsQuery, RestAssetsQueryVariables>;
export const RestDeleteAssetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestDeleteAsset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteAssetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteAsset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<RestDeleteAssetMutation, RestDeleteAssetMutationVariables>;
export const RestHistoryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestHistory"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"newestFirst"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"commitCount"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}]},{"kind":"Field","name":{"kind":"Name","value":"history"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"newestFirst"},"value":{"kind":"Variable","name":{"kind":"Name","value":"newestFirst"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sequence"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"CommitRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"CommitRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Commit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"treeCid"}},{"kind":"Field","name":{"kind":"Name","value":"treeSha256"}},{"kind":"Field","name":{"kind":"Name","value":"treeSignature"}},{"kind":"Field","name":{"kind":"Name","value":"author"}},{"kind":"Field","name":{"kind":"Name","value":"committer"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"actionName"}},{"kind":"Field","name":{"kind":"Name","value":"actionResult"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"changes"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"gasUsed"}},{"kind":"Field","name":{"kind":"Name","value":"feePaid"}}]}}]} as unknown as DocumentNode<RestHistoryQuery, RestHistoryQueryVariables>;
export const RestAuditEntriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestAuditEntries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"auditEntries"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"subject"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}}]}}]} as unknown as DocumentNode<RestAuditEntriesQuery, RestAuditEntriesQueryVariables>;
export const RestContentCredentialsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestContentCredentials"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"asset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"contentCredentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"state"}},{"kind":"Field","name":{"kind":"Name","value":"trustList"}},{"kind":"Field","name":{"kind":"Name","value":"signer"}},{"kind":"Field","name":{"kind":"Name","value":"issuer"}},{"kind":"Field","name":{"kind":"Name","value":"signedAt"}},{"kind":"Field","name":{"kind":"Name","value":"generator"}},{"kind":"Field","name":{"kind":"Name","value":"title"}},{"kind":"Field","name":{"kind":"Name","value":"creators"}},{"kind":"Field","name":{"kind":"Name","value":"actions"}},{"kind":"Field","name":{"kind":"Name","value":"digitalSourceType"}},{"kind":"Field","name":{"kind":"Name","value":"mining"}},{"kind":"Field","name":{"kind":"Name","value":"problems"}},{"kind":"Field","name":{"kind":"Name","value":"notChecked"}},{"kind":"Field","name":{"kind":"Name","value":"remoteManifestUrl"}},{"kind":"Field","name":{"kind":"Name","value":"manifestCount"}},{"kind":"Field","name":{"kind":"Name","value":"checkedAt"}}]}}]}}]}}]} as unknown as DocumentNode<RestContentCredentialsQuery, RestContentCredentialsQueryVariables>;
export const RestDepositsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestDeposits"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"status"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DepositStatus"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deposits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"status"},"value":{"kind":"Variable","name":{"kind":"Name","value":"status"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"blockNumber"}},{"kind":"Field","name":{"kind":"Name","value":"confirmations"}},{"kind":"Field","name":{"kind":"Name","value":"shortfall"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"creditedAt"}},{"kind":"Field","name":{"kind":"Name","value":"frozenAt"}}]}}]}}]}}]} as unknown as DocumentNode<RestDepositsQuery, RestDepositsQueryVariables>;
export const RestDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestDevice"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<RestDeviceQuery, RestDeviceQueryVariables>;
export const RestEventsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestEvents"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"events"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EventRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EventRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Event"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"sequence"}},{"kind":"Field","name":{"kind":"Name","value":"type"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"commitId"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryId"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"data"}}]}}]} as unknown as DocumentNode<RestEventsQuery, RestEventsQueryVariables>;
export const RestGrantPointsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestGrantPoints"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"GrantPointsInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"grantPoints"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"grant"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}}]}}]} as unknown as DocumentNode<RestGrantPointsMutation, RestGrantPointsMutationVariables>;
export const RestChangeEmailDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestChangeEmail"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ChangeEmailInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changeEmail"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestChangeEmailMutation, RestChangeEmailMutationVariables>;
export const RestChangeUsernameDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestChangeUsername"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ChangeUsernameInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changeUsername"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestChangeUsernameMutation, RestChangeUsernameMutationVariables>;
export const RestVerifyEmailDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestVerifyEmail"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"VerifyEmailInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"verifyEmail"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestVerifyEmailMutation, RestVerifyEmailMutationVariables>;
export const RestRequestEmailVerificationDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRequestEmailVerification"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RequestEmailVerificationInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestEmailVerification"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestRequestEmailVerificationMutation, RestRequestEmailVerificationMutationVariables>;
export const RestLookupDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestLookup"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"sha256"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"cid"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ListOrder"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lookup"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"sha256"},"value":{"kind":"Variable","name":{"kind":"Name","value":"sha256"}}},{"kind":"Argument","name":{"kind":"Name","value":"cid"},"value":{"kind":"Variable","name":{"kind":"Name","value":"cid"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AssetRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AssetRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Asset"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nid"}},{"kind":"Field","name":{"kind":"Name","value":"uuid"}},{"kind":"Field","name":{"kind":"Name","value":"headId"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileName"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileMimeType"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileSize"}},{"kind":"Field","name":{"kind":"Name","value":"assetFileUrl"}},{"kind":"Field","name":{"kind":"Name","value":"thumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"proofHash"}},{"kind":"Field","name":{"kind":"Name","value":"caption"}},{"kind":"Field","name":{"kind":"Name","value":"headline"}},{"kind":"Field","name":{"kind":"Name","value":"altText"}},{"kind":"Field","name":{"kind":"Name","value":"tag"}},{"kind":"Field","name":{"kind":"Name","value":"publicAccess"}},{"kind":"Field","name":{"kind":"Name","value":"uploadedAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"isOwn"}},{"kind":"Field","name":{"kind":"Name","value":"isOriginalOwner"}},{"kind":"Field","name":{"kind":"Name","value":"meta"}},{"kind":"Field","name":{"kind":"Name","value":"signature"}},{"kind":"Field","name":{"kind":"Name","value":"signedMetadata"}},{"kind":"Field","name":{"kind":"Name","value":"nitCommitCustom"}},{"kind":"Field","name":{"kind":"Name","value":"owner"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"creator"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"address"}}]}},{"kind":"Field","name":{"kind":"Name","value":"registration"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"explorerUrl"}}]}}]}}]} as unknown as DocumentNode<RestLookupQuery, RestLookupQueryVariables>;
export const RestCreateNetworkAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestCreateNetworkApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateNetworkAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createNetworkApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookSecret"}},{"kind":"Field","name":{"kind":"Name","value":"networkApp"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NetworkAppRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RestCreateNetworkAppMutation, RestCreateNetworkAppMutationVariables>;
export const RestNetworkAppsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestNetworkApps"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"ListOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkAppFilter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"networkApps"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NetworkAppRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RestNetworkAppsQuery, RestNetworkAppsQueryVariables>;
export const RestNetworkAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestNetworkApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"networkApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NetworkAppRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RestNetworkAppQuery, RestNetworkAppQueryVariables>;
export const RestUpdateNetworkAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUpdateNetworkApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateNetworkAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateNetworkApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"networkApp"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NetworkAppRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RestUpdateNetworkAppMutation, RestUpdateNetworkAppMutationVariables>;
export const RestDeactivateNetworkAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestDeactivateNetworkApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeactivateNetworkAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deactivateNetworkApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"networkApp"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestDeactivateNetworkAppMutation, RestDeactivateNetworkAppMutationVariables>;
export const RestRotateWebhookSecretDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRotateWebhookSecret"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RotateWebhookSecretInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rotateWebhookSecret"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookSecret"}},{"kind":"Field","name":{"kind":"Name","value":"networkApp"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"NetworkAppRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"NetworkAppRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"NetworkApp"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"priceMode"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"webhookUrl"}},{"kind":"Field","name":{"kind":"Name","value":"isActive"}},{"kind":"Field","name":{"kind":"Name","value":"deliveryFailurePolicy"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}}]}}]} as unknown as DocumentNode<RestRotateWebhookSecretMutation, RestRotateWebhookSecretMutationVariables>;
export const RestCreateOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestCreateOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrderRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestCreateOrderMutation, RestCreateOrderMutationVariables>;
export const RestConfirmOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestConfirmOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ConfirmOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"confirmOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrderRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestConfirmOrderMutation, RestConfirmOrderMutationVariables>;
export const RestCancelOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestCancelOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CancelOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cancelOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrderRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestCancelOrderMutation, RestCancelOrderMutationVariables>;
export const RestOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrderRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestOrderQuery, RestOrderQueryVariables>;
export const RestOrdersDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestOrders"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orders"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrderRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrderRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Order"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppName"}},{"kind":"Field","name":{"kind":"Name","value":"actionArgs"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"pointsQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"numQuoted"}},{"kind":"Field","name":{"kind":"Name","value":"pointsPaid"}},{"kind":"Field","name":{"kind":"Name","value":"numPaid"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"buyer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestOrdersQuery, RestOrdersQueryVariables>;
export const RestRefundsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestRefunds"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"refunds"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orderId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"RefundRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefundRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Refund"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RestRefundsQuery, RestRefundsQueryVariables>;
export const RestRefundOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRefundOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RefundOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"refundOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"refund"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"RefundRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefundRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Refund"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"transferId"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]} as unknown as DocumentNode<RestRefundOrderMutation, RestRefundOrderMutationVariables>;
export const RestRequestPasswordResetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRequestPasswordReset"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RequestPasswordResetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestPasswordReset"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"email"}}]}}]}}]} as unknown as DocumentNode<RestRequestPasswordResetMutation, RestRequestPasswordResetMutationVariables>;
export const RestResetPasswordDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestResetPassword"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ResetPasswordInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resetPassword"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestResetPasswordMutation, RestResetPasswordMutationVariables>;
export const RestChangePasswordDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestChangePassword"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ChangePasswordInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"changePassword"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestChangePasswordMutation, RestChangePasswordMutationVariables>;
export const RestUpdateMeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUpdateMe"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateProfileInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateProfile"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UserRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UserRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"email"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"language"}},{"kind":"Field","name":{"kind":"Name","value":"emailVerified"}},{"kind":"Field","name":{"kind":"Name","value":"pendingEmail"}},{"kind":"Field","name":{"kind":"Name","value":"assetCount"}},{"kind":"Field","name":{"kind":"Name","value":"referralCode"}},{"kind":"Field","name":{"kind":"Name","value":"defaultTag"}},{"kind":"Field","name":{"kind":"Name","value":"allowC2paDownload"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProfileRecord"}},{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}}]} as unknown as DocumentNode<RestUpdateMeMutation, RestUpdateMeMutationVariables>;
export const RestUpdateProfileDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUpdateProfile"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateProfileInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateProfile"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProfileRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}}]} as unknown as DocumentNode<RestUpdateProfileMutation, RestUpdateProfileMutationVariables>;
export const RestProfileDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestProfile"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ProfileRecord"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ProfileRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profilePictureThumbnailUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundUrl"}},{"kind":"Field","name":{"kind":"Name","value":"profileBackgroundThumbnailUrl"}}]}}]} as unknown as DocumentNode<RestProfileQuery, RestProfileQueryVariables>;
export const RestQuoteDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestQuote"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"QuoteInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"quote"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"problems"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"field"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PaymentQuote"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"gas"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}},{"kind":"Field","name":{"kind":"Name","value":"pointsCharged"}},{"kind":"Field","name":{"kind":"Name","value":"numCharged"}},{"kind":"Field","name":{"kind":"Name","value":"missing"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WithdrawalQuote"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"fee"}},{"kind":"Field","name":{"kind":"Name","value":"leftToday"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RefundQuote"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}}]}}]}}]} as unknown as DocumentNode<RestQuoteQuery, RestQuoteQueryVariables>;
export const RestSessionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestSessions"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sessions"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"isCurrent"}}]}}]}}]}}]} as unknown as DocumentNode<RestSessionsQuery, RestSessionsQueryVariables>;
export const RestRevokeSessionDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevokeSession"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RevokeSessionInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeSession"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]} as unknown as DocumentNode<RestRevokeSessionMutation, RestRevokeSessionMutationVariables>;
export const RestRevokeOtherSessionsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestRevokeOtherSessions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeOtherSessions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"session"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}}]}}]}}]} as unknown as DocumentNode<RestRevokeOtherSessionsMutation, RestRevokeOtherSessionsMutationVariables>;
export const RestTransfersDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestTransfers"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transfers"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"subjectId"}},{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}},{"kind":"Field","name":{"kind":"Name","value":"balance"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"num"}},{"kind":"Field","name":{"kind":"Name","value":"points"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}}]}}]}}]}}]} as unknown as DocumentNode<RestTransfersQuery, RestTransfersQueryVariables>;
export const RestUsersDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestUsers"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"order"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UserOrder"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"users"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"order"},"value":{"kind":"Variable","name":{"kind":"Name","value":"order"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AdministeredUser"}}]}},{"kind":"Field","name":{"kind":"Name","value":"userCount"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}}]}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AdministeredUser"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lockedAt"}}]}}]} as unknown as DocumentNode<RestUsersQuery, RestUsersQueryVariables>;
export const RestLockUserDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestLockUser"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LockUserInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lockUser"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AdministeredUser"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AdministeredUser"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lockedAt"}}]}}]} as unknown as DocumentNode<RestLockUserMutation, RestLockUserMutationVariables>;
export const RestUnlockUserDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestUnlockUser"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UnlockUserInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"unlockUser"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"user"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AdministeredUser"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AdministeredUser"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"User"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"username"}},{"kind":"Field","name":{"kind":"Name","value":"displayName"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lockedAt"}}]}}]} as unknown as DocumentNode<RestUnlockUserMutation, RestUnlockUserMutationVariables>;
export const RestWalletDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestWallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"wallet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"num"}}]}}]}}]}}]} as unknown as DocumentNode<RestWalletQuery, RestWalletQueryVariables>;
export const RestWebhookDeliveriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestWebhookDeliveries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDeliveryFilter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookDeliveries"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}},{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}}]} as unknown as DocumentNode<RestWebhookDeliveriesQuery, RestWebhookDeliveriesQueryVariables>;
export const RestWebhookDeliveryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestWebhookDelivery"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookDelivery"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryDetail"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryDetail"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryRecord"}},{"kind":"Field","name":{"kind":"Name","value":"payload"}}]}}]} as unknown as DocumentNode<RestWebhookDeliveryQuery, RestWebhookDeliveryQueryVariables>;
export const RestReplayWebhookDeliveryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestReplayWebhookDelivery"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ReplayWebhookDeliveryInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayWebhookDelivery"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookDelivery"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryDetail"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryDetail"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryRecord"}},{"kind":"Field","name":{"kind":"Name","value":"payload"}}]}}]} as unknown as DocumentNode<RestReplayWebhookDeliveryMutation, RestReplayWebhookDeliveryMutationVariables>;
export const RestSendTestEventDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestSendTestEvent"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SendTestEventInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sendTestEvent"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"webhookDelivery"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryDetail"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"orderId"}},{"kind":"Field","name":{"kind":"Name","value":"networkAppId"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"attemptCount"}},{"kind":"Field","name":{"kind":"Name","value":"nextAttemptAt"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}},{"kind":"Field","name":{"kind":"Name","value":"attempts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"duration"}},{"kind":"Field","name":{"kind":"Name","value":"statusCode"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"response"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WebhookDeliveryDetail"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"WebhookDelivery"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WebhookDeliveryRecord"}},{"kind":"Field","name":{"kind":"Name","value":"payload"}}]}}]} as unknown as DocumentNode<RestSendTestEventMutation, RestSendTestEventMutationVariables>;
export const RestWithdrawDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestWithdraw"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"WithdrawInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"withdraw"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"withdrawal"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WithdrawalRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WithdrawalRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Withdrawal"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"fee"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"dueAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}}]}}]} as unknown as DocumentNode<RestWithdrawMutation, RestWithdrawMutationVariables>;
export const RestWithdrawalsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RestWithdrawals"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"offset"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"search"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"withdrawals"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"offset"},"value":{"kind":"Variable","name":{"kind":"Name","value":"offset"}}},{"kind":"Argument","name":{"kind":"Name","value":"search"},"value":{"kind":"Variable","name":{"kind":"Name","value":"search"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WithdrawalRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WithdrawalRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Withdrawal"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"fee"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"dueAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}}]}}]} as unknown as DocumentNode<RestWithdrawalsQuery, RestWithdrawalsQueryVariables>;
export const RestCancelWithdrawalDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RestCancelWithdrawal"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CancelWithdrawalInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cancelWithdrawal"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"withdrawal"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"WithdrawalRecord"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"WithdrawalRecord"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Withdrawal"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"amount"}},{"kind":"Field","name":{"kind":"Name","value":"fee"}},{"kind":"Field","name":{"kind":"Name","value":"total"}},{"kind":"Field","name":{"kind":"Name","value":"to"}},{"kind":"Field","name":{"kind":"Name","value":"transactionHash"}},{"kind":"Field","name":{"kind":"Name","value":"failure"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"dueAt"}},{"kind":"Field","name":{"kind":"Name","value":"settledAt"}}]}}]} as unknown as DocumentNode<RestCancelWithdrawalMutation, RestCancelWithdrawalMutationVariables>;