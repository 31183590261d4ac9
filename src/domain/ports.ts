/** What the rules need from the world. The folders beside `domain` implement these; tests use the real parts. */

import type { PrismaClient } from '../platform/prisma/client.ts'
import type { Verification } from '../verify/verification.ts'
import { unavailable } from './errors.ts'
import type { Reader } from './read-position.ts'
import type { Query } from './sql.ts'

/** Prisma's read methods for the models that resolvers load. Implementations may answer faster than Prisma, never differently. */
type ReadMethods = 'findFirst' | 'findMany' | 'findUnique' | 'findUniqueOrThrow' | 'count'
type ReadModels =
  | 'user'
  | 'wallet'
  | 'asset'
  | 'commit'
  | 'auditEntry'
  | 'apiKey'
  | 'transfer'
  | 'networkApp'
  | 'order'
  | 'event'
  | 'deposit'
  | 'withdrawal'
  | 'refund'
  | 'webhookDelivery'
  | 'webhookAttempt'
/** What reads the models that resolvers load. */
export type ReadClient = { [Model in ReadModels]: Pick<PrismaClient[Model], ReadMethods> }

/** Reads from replicas, which are a little behind (decision 44). Where there are none, everything is read from the primary. */
export interface ReplicaReads {
  /**
   * During `work`, which shows something and decides nothing, what may be a little behind is read from a replica that shows all that this
   * reader must see. What `work` does not wait for must not read.
   */
  lagging<T>(reader: Reader, work: () => Promise<T>): Promise<T>
  /** During `work` everything is read as it is now. */
  upToDate<T>(work: () => Promise<T>): Promise<T>
  /**
   * Has all that was written until now shown to these users from now on, in all processes; tells the position that shows it to anybody.
   * Undefined where there are no replicas. Raises nothing.
   */
  noteWrites(users: readonly string[]): Promise<string | undefined>
}

/** The database, as services use it. */
export interface Database {
  /** Reads in Prisma's language. */
  readonly read: ReadClient
  /** As `read`, but a page of `findMany` ends early rather than hold more long texts than one answer takes; it has one row at least. */
  readonly readCut: ReadClient
  /** One round trip. A single statement is a transaction of its own, READ COMMITTED. Raises UNAVAILABLE when the database is down. */
  readonly query: Query
  readonly replicas: ReplicaReads
  /** Several statements in one transaction. Nothing but SQL belongs inside `work`. */
  transaction<T>(work: (query: Database['query']) => Promise<T>): Promise<T>
}

/** The constraint or unique index that refused a statement, or undefined when the error is another one. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof Error && 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined

/**
 * So many at once, and the others wait their turn for a while. `keys`: who and what it is done for, of which each has its share. Raises
 * UNAVAILABLE when no turn came.
 */
export type Gate = <T>(work: () => Promise<T>, keys?: readonly string[]) => Promise<T>

/**
 * So much at once for each key, and what goes beyond waits in a line of that key alone. Without a key it is done at once. Raises THROTTLED when
 * no turn came.
 */
export interface Shares {
  take<T>(key: string | undefined, size: number, work: () => Promise<T>): Promise<T>
  /** Whether it would be done at once. */
  hasRoom(key: string | undefined, size: number): boolean
}

/** What a file is called in the content store, and what it holds. */
export interface StoredFile {
  /** CIDv1: raw leaf for one block, dag-pb above. */
  cid: string
  /** 64 lowercase hex digits. */
  sha256: string
  /** Bytes. */
  size: number
}

/** The bytes of a file. */
export interface Pieces extends AsyncIterable<Uint8Array> {
  /** For a piece that nobody reads any more: its memory may be written to. What is never given back is left to the garbage collector. */
  giveBack?(piece: Uint8Array): void
}

/** A file that a request brought, on disk for as long as the request lasts. */
export interface HeldFile {
  /** Bytes. */
  readonly size: number
  /** May be called several times. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
  bytes(): Pieces
  /** Its room is free once nobody reads it any more. May be called again. */
  release(): Promise<void>
}

/** Where files of requests under way lie. */
export interface UploadFolder {
  /**
   * Writes a stream down, whose pieces nobody else may go on using: their memory is freed. `onBytes` is told how many bytes are to be written, is
   * waited for, and may refuse them. Nothing stays behind when it fails. Raises what the stream raises, INSUFFICIENT_STORAGE, UNAVAILABLE.
   */
  hold(bytes: AsyncIterable<Uint8Array>, onBytes: (count: number) => Promise<void>): Promise<HeldFile>
  /** Removes what was left behind more than `seconds` ago. `onError` is told of what cannot be removed, by its name. */
  sweep(seconds: number, onError: OnError): Promise<void>
}

/** Told of one item among many that could not be dealt with, and why; the others are. */
export type OnError = (item: string, error: unknown) => void

/** A file whose blocks lie in the store, and that nothing pins yet. */
export interface ImportedFile extends StoredFile {
  /** For a file that nobody wants after all: gives its room back, but for what others have imported, too. Raises nothing. */
  discard(): Promise<void>
}

/** How blocks that nobody needs are removed. */
export interface CollectionOptions {
  /** Ends it between two blocks: it raises then, and what is left is for the next time. */
  cancel?: AbortSignal | undefined
  onError?: OnError
  /** Whether a CID is pinned by now. */
  isPinned?(cid: string): Promise<boolean>
  /** Puts back what is needed and not there, where it can be had; a store that does not notice such files does not ask. */
  restore?(cid: string): Promise<void>
}

/** Which blocks of a file a CAR holds. */
export interface CarSelection {
  /** The first block alone, or what hangs on it, too. */
  scope: 'block' | 'all'
  /** Of what hangs on it only what these bytes of the file are read from. */
  range?: { offset: number; length: number } | undefined
  /** Whether a block is sent again each time that the file has it. */
  duplicates: boolean
}

/** The file network: blocks under their CIDs. */
export interface ContentStore {
  /**
   * Streams a file into blocks on disk. Memory stays flat. Blocks of a file that nobody pins are garbage; of a failed import
   * nothing stays. Raises what the source raises, INSUFFICIENT_STORAGE, UNAVAILABLE.
   */
  importFile(source: Pieces): Promise<ImportedFile>
  /** The identity a file would have, without storing anything. */
  identifyFile(source: Pieces): Promise<StoredFile>
  /** The identity a small document would have, without storing it. */
  identify(bytes: Uint8Array): { cid: string; sha256: string }
  /**
   * Stores a document as one raw block. `cancel` ends the wait for a store that does not answer. Raises INSUFFICIENT_STORAGE,
   * UNAVAILABLE.
   */
  putDocument(bytes: Uint8Array, cancel?: AbortSignal): Promise<string>
  /** A file's bytes, or a part of them. Raises NOT_FOUND. */
  read(cid: string, range?: { offset: number; length: number }): AsyncIterable<Uint8Array>
  /** Bytes of the whole file. Raises NOT_FOUND. */
  size(cid: string): Promise<number>
  /** Raises NOT_FOUND. */
  readBlock(cid: string): Promise<Uint8Array>
  /** Whether every block of it is there. Raises UNAVAILABLE. */
  isWhole(cid: string): Promise<boolean>
  /** The file's blocks as a CAR stream, depth first: all of them, each once, or those that are selected. Raises NOT_FOUND, UNAVAILABLE. */
  exportCar(cid: string, selection?: CarSelection): AsyncIterable<Uint8Array>
  /** The CIDs of all blocks below it, each once. Leaves are not read. Raises NOT_FOUND, UNAVAILABLE. */
  blocksBelow(cid: string): AsyncIterable<string>
  /**
   * Removes every block that no pinned CID reaches and that is older than `graceSeconds`; returns how many. What cannot be read or
   * removed keeps nothing else from it. Raises UNAVAILABLE when the store as a whole is away, and where nobody is told of troubles
   * the first of them.
   */
  collectGarbage(pinned: AsyncIterable<string>, graceSeconds: number, options?: CollectionOptions): Promise<number>
  /** Whether it answers now and takes files; false within two seconds at the latest. */
  isReachable(): Promise<boolean>
  /** Of a store on several nodes the names of those that do not answer now, within two seconds at the latest. */
  missingNodes?(): Promise<string[]>
}

/** A data key as the vault wrapped it. */
export interface WrappedKey {
  /** The key-encryption key that wrapped it. */
  keyId: string
  wrapped: Uint8Array
}

/**
 * Wraps and unwraps data keys under key-encryption keys that never leave the vault. The current one wraps; earlier ones
 * still unwrap. What is wrapped for an owner needs the owner's key share too, which only the vault holds.
 */
export interface KeyVault {
  /** `context` is bound as additional authenticated data. */
  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** Raises when the bytes were not wrapped by `keyId` for exactly this context. */
  unwrap(keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** As `wrap`, for one owner, a UUID; makes the owner's key share where there is none. */
  wrapFor(owner: string, dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** As `unwrap`. Raises also when the owner was forgotten. */
  unwrapFor(owner: string, keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** Destroys the owner's key share: what was wrapped for the owner opens never again. May be called again. */
  forget(owner: string): Promise<void>
  /**
   * Writes down for good that the owner was deleted, which a database that comes back from a backup does not know. From then
   * on nothing can be wrapped for the owner. May be called again.
   */
  markDeleted(owner: string): Promise<void>
  /** Owners that have a key share, in no order. */
  owners(): AsyncIterable<string>
  /** Owners that were marked as deleted, in no order. */
  deletedOwners(): AsyncIterable<string>
  /** A key of 32 bytes for one purpose: for signatures of our own links. It stays the same when keys are rotated. */
  derive(purpose: string): Uint8Array
}

/** The vault's key-encryption keys, for an operator. */
export interface KeyRing {
  /** Which key wraps now, and which ones still unwrap, newest first. */
  ids(): Promise<{ current: string; earlier: string[] }>
  /** Makes a new current key; false when the operator sets it. */
  renew(): Promise<boolean>
  /** Destroys the earlier keys that the vault keeps itself, and returns their ids. Raises CONFLICT when they wrapped too recently. */
  destroyEarlier(): Promise<string[]>
}

/** A custodial private key as it lies in the database. */
export interface SealedKey extends KeyWrapping {
  sealedPrivateKey: Uint8Array
}

/** The part of a sealed key that a rotation writes anew. */
export interface KeyWrapping {
  /** How it is wrapped: 1 by the vault's key alone, 2 also by the owner's key share. */
  version: number
  vaultKeyId: string
  wrappedDataKey: Uint8Array
}

/**
 * A transfer of the chain's own coin that is to be signed. Included, it costs its sender `value` and `gasLimit` times `gasPrice`, to the
 * wei. All in wei.
 */
export interface CoinPlan {
  chainId: number
  nonce: number
  /** With EIP-55 checksum. */
  to: string
  value: bigint
  gasPrice: bigint
  gasLimit: bigint
}

/** One of them, signed. */
export interface SignedCoins {
  hash: string
  raw: Uint8Array
  value: bigint
  gasPrice: bigint
}

/** Custodial key pairs. Private keys exist in the clear only inside these calls. */
export interface Custody {
  /** A new key pair for `userId`; only the address is public. */
  create(userId: string): Promise<SealedKey & { address: string }>
  /** EIP-191 personal_sign of `text`, 0x-prefixed. Raises LostKeyError when the key does not open. */
  sign(userId: string, key: SealedKey, text: string): Promise<string>
  /** Signs transfers of coins from the user's address. Raises LostKeyError when the key does not open. */
  signCoins(userId: string, key: SealedKey, plans: readonly CoinPlan[]): Promise<SignedCoins[]>
  /** The version that keys are wrapped in now. */
  readonly version: number
  /** The same data key under the vault's current key. Raises when it cannot be unwrapped. */
  rewrap(userId: string, wrapping: KeyWrapping): Promise<KeyWrapping>
  /** Makes the user's key useless for good, also to somebody who holds a copy of the database. May be called again. */
  forget(userId: string): Promise<void>
}

/** Small secrets at rest: each sealed under a key of its own, which the key vault wraps. */
export interface EnvelopeCipher {
  /** `context` names owner, purpose and version; it is authenticated, so that no sealed text can stand in for another. */
  seal(text: string, context: string): Promise<Uint8Array>
  /** Raises LostKeyError when the bytes were not sealed for exactly this context, or their key is gone. */
  open(sealed: Uint8Array, context: string): Promise<string>
  /** The same sealed text with its key wrapped by the vault's current key. Raises when it cannot be unwrapped. */
  rewrap(sealed: Uint8Array, context: string): Promise<Uint8Array>
  /** How everything begins whose key that key-encryption key wraps. */
  prefixOf(vaultKeyId: string): Uint8Array
}

/** Texts that are kept for days only, sealed under one key of this installation. */
export interface LocalCipher {
  /** Base64. `context` is authenticated, so that no sealed text can stand in for another. */
  seal(text: string, context: string): string
  /** Raises LostKeyError when it was not sealed for exactly this context. */
  open(sealed: string, context: string): string
}

/** What a mail says, before it is put into words. Amounts are decimal strings, ids are as callers see them. */
export type MailMessage = OrderMessage | AccountMessage

/** About an order. */
export type OrderMessage = OrderFacts &
  (
    | { template: 'receipt'; paid: Split; chargeId: string }
    | { template: 'sale'; earned: Split; platformShare: string }
    /** `contact`: where the seller can be reached, if anywhere. */
    | { template: 'order-failed'; paid: Split; contact: string | null }
    | { template: 'order-refunded'; returned: Split; chargeId: string; refundId: string }
    /** By an administrator, in part or all that was left. */
    | { template: 'refund'; returned: Split; isWhole: boolean; reason: string; chargeId: string; refundId: string }
  )

/** About an account. */
export type AccountMessage = AccountFacts &
  /** `link`: a URL that carries a secret, good for so many minutes. */
  (
    | { template: 'password-reset'; link: string; minutes: number }
    | { template: 'password-changed'; at: Date }
    /** Goes to the present address, of which another one is to take the place. */
    | { template: 'email-change-requested'; newEmail: string; at: Date }
    /** Goes to the address that was given up. */
    | { template: 'email-changed'; newEmail: string; at: Date }
    /** `link`: a URL that carries a secret, good for so many hours. */
    | { template: 'email-verification'; link: string; hours: number }
    /** Coins that were asked for. `dueAt`: until when it can be cancelled. */
    | ({ template: 'withdrawal-requested'; dueAt: Date } & WithdrawalFacts)
    /** What became of them; `amount` of one that is over is what came back, or what arrived. */
    | ({ template: 'withdrawal-confirmed' | 'withdrawal-failed' | 'withdrawal-cancelled' } & WithdrawalFacts)
  )

/** What every mail about a withdrawal tells. */
export interface WithdrawalFacts {
  withdrawalId: string
  amount: string
  fee: string
  to: string
  at: Date
}

/** What every mail about an account tells. */
export interface AccountFacts {
  username: string
}

/** What every mail about an order tells. */
export interface OrderFacts {
  appName: string
  orderId: string
  price: string
  /** When what it tells happened. */
  at: Date
}

/** An amount in the two currencies it was paid in. */
export interface Split {
  points: string
  num: string
}

/** A message in words. */
export interface ComposedMail {
  /** The language it came out in, such as `zh-TW`. */
  language: string
  subject: string
  text: string
  html: string
  /** The link it asks to open, which may carry a secret. */
  link?: string
}

/** Puts a message into the words of a language; one that is not known gets English. */
export type ComposeMail = (message: MailMessage, language: string) => ComposedMail

/** A mail that is about to go out. */
export interface OutgoingMail extends ComposedMail {
  /** Names the mail for good, in letters, digits, `.`, `_` and `-`: what is sent again under it is the same mail. */
  id: string
  to: { name: string; address: string }
  /** When it was written: the same each time it is sent again. */
  date: Date
}

/** Mail leaving the house. */
export interface Mailer {
  /** Resolves once the next server has taken the mail. Raises UNAVAILABLE, RefusedRecipientError. */
  send(mail: OutgoingMail): Promise<void>
}

/** One call of a webhook's receiver. */
export interface WebhookCall {
  url: string
  /** The event's id; the same at every attempt. */
  id: string
  /** When it is made: receivers refuse a call that tells a wrong time. */
  at: Date
  /** JSON text; the same at every attempt. */
  body: string
  /** Sign the call: one secret, or two during a rotation. */
  secrets: readonly string[]
  /** Texts that must not be kept should the receiver send them back. */
  redacted: readonly string[]
}

/** What came of a call. */
export interface WebhookOutcome {
  /** Left out when no answer came. */
  statusCode?: number
  /** Why it failed, in a sentence; left out when the receiver took the event (2xx). */
  failure?: string | undefined
  /** The first characters of the answer. */
  response: string
  /** Seconds after which the receiver wants to be asked again. */
  retryAfter?: number | undefined
  /** Milliseconds. */
  duration: number
}

/** What calls receivers of webhooks. */
export interface WebhookSender {
  /** Makes one attempt. A receiver's trouble is an outcome, never an error. */
  send(call: WebhookCall): Promise<WebhookOutcome>
}

/** Small pictures of what strangers sent. */
export interface PictureMaker {
  /**
   * WebP pictures that fit into squares of these sides, largest first, turned upright and without anything but the picture; undefined when
   * the source is no raster picture, or too large a one. Raises UNAVAILABLE, and what reading the source raises.
   */
  make(source: AsyncIterable<Uint8Array>, sides: readonly number[]): Promise<Uint8Array[] | undefined>
}

/** A manifest as the library takes it: title, generator and assertions. */
export interface ManifestDefinition {
  claim_generator_info: { name: string; version: string }[]
  title: string
  /** `created`: the word of who signs; else what was gathered from others. */
  assertions: { label: string; data: unknown; kind?: 'Json'; created?: true }[]
}

/** What is to be written into a file. */
export interface ManifestRequest {
  /** MIME type of the file, as its bytes show it. */
  format: string
  /** For a file that holds no manifest yet. */
  first: ManifestDefinition
  /** Whether `first` says how the file came about; else the file is taken as it was found. */
  firstIsOrigin: boolean
  /** For one that holds a manifest, which stays in it as what ours was made from. */
  following: ManifestDefinition
}

/** Manifests inside of files, as C2PA has them, each dealt with in a process of its own. */
export interface ContentCredentials {
  /**
   * Texts that change with who signs and how, the best way first and as it is done now last: a file that was signed in any of these
   * ways is good still. Undefined where nothing is signed. Raises UNAVAILABLE when the certificate has expired.
   */
  signedBy(): readonly [string, ...string[]] | undefined
  /**
   * The file with a signed manifest, as it is written. Raises, also after bytes came, VALIDATION_FAILED when the file cannot be dealt with,
   * UNAVAILABLE, and what the source raises.
   */
  write(source: AsyncIterable<Uint8Array>, request: ManifestRequest): AsyncIterable<Uint8Array>
  /**
   * A report on the manifest in a file, as the library writes it in JSON, and in words the certificates that its signer was judged
   * by; undefined when there is none. Raises VALIDATION_FAILED when the file cannot be dealt with, UNAVAILABLE, and what the
   * source raises.
   */
  read(
    source: AsyncIterable<Uint8Array>,
    format: string,
  ): Promise<{ report: string; trustList: string | null } | undefined>
}

/** Passwords, hashed with argon2id behind a bounded queue. */
export interface PasswordHasher {
  /** Raises UNAVAILABLE when too many are waiting. */
  hash(password: string): Promise<string>
  /** Takes the same time for an unknown account: pass undefined. Raises UNAVAILABLE when too many are waiting. */
  verify(encoded: string | undefined, password: string): Promise<boolean>
}

/** What is done about notifications of all processes. They say only where to look; what happened is read from the tables. */
export interface FeedListener {
  /** There may be new events in the feeds of these users. */
  onEvents(ownerIds: readonly string[]): void
  /** These access tokens and API keys, by UUID, have been revoked or deleted. */
  onRevoked(ids: readonly string[]): void
  /** Notifications may have been missed: called whenever the connection stands anew, and every two seconds besides. */
  onGap(): void
}

/** Notifications between processes. */
export interface FeedNotifications {
  /** Tells that a feed has grown; returns at once. To be called when the statement that wrote the event is done. */
  notify(ownerId: string): void
  /** Returns the way to stop. */
  listen(listener: FeedListener): () => void
}

/** Histories as the chain has them; `readTree` gives the bytes of a tree, undefined where it may not be read. */
export interface Histories {
  /** Where they stand; undefined before the first commit. No node is asked. */
  place(): Promise<{ chainId: number; registry: string } | undefined>
  /** What a history is worth. Raises UNAVAILABLE, CONFLICT while there is no registry. */
  verify(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): Promise<Verification>
  /** A history as a CAR that anybody can check. Raises UNAVAILABLE, CONFLICT while nothing is on the chain, before the first piece. */
  prove(nid: string, readTree: (cid: string) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array>
}

/** The chain as rules and presenters see it. */
export interface Chain {
  /** Is told that a commit waits; returns at once. */
  wake(): void
  /** Where a person can look at a transaction, or null when no explorer is configured. */
  explorerUrl(transactionHash: string): string | null
}

/** A deposit in a block of the chain. */
export interface FoundDeposit {
  /** `COIN`: the chain's own; `TOKEN`: of the configured contract. */
  kind: 'COIN' | 'TOKEN'
  transactionHash: string
  /** -1 for the chain's own coin; of a token its place among the token's events of the transaction, whose block may change. */
  position: number
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string above 0; it may be more than the books can hold. */
  amount: string
  blockNumber: number
  blockHash: string
}

/** Coins that a transaction of a wallet's own key took from its address. */
export interface FoundSpending {
  transactionHash: string
  /** The wallet's, with EIP-55 checksum. */
  address: string
  /** With its fee; a decimal string. */
  amount: string
  blockNumber: number
}

/** What blocks have to do with wallets' addresses. */
export interface FoundInBlocks {
  deposits: readonly FoundDeposit[]
  spendings: readonly FoundSpending[]
}

/** Where a scan of a chain stood, and where it is moved: text of the watcher's own. */
export interface ScanMove {
  from: string
  to: string
}

/** Where the scan of a chain stands, as the watcher wrote it down: what it has asked for is refused once somebody has moved it. */
export interface ScanPlace {
  chainId: number
  position: string
}

/** What a reorganisation took out of the books. */
export interface FrozenDeposits {
  /** References of the deposits. */
  frozen: string[]
  /** Currency units that wallets had spent of them, a decimal string. */
  shortfall: string
}

/** The books that deposits are credited in, as the watcher of the chain sees them. */
export interface DepositBooks {
  /** Where the scan of a chain stands, as the watcher wrote it down. */
  scanned(chainId: number): Promise<string | undefined>
  /** Where a scan begins, unless it has begun. */
  begin(chainId: number, position: string): Promise<void>
  /** Which of these addresses, with EIP-55 checksum, are wallets. */
  ours(addresses: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Moves the scan and writes down what it found, in one transaction; nothing of it counts yet. Returns whether nobody else had moved the
   * scan. Raises UNAVAILABLE while the database is away.
   */
  note(chainId: number, move: ScanMove, found: FoundInBlocks): Promise<boolean>
  /** Says how far the chain was seen, and up to which block deposits count. */
  noteHead(head: number, due: number): Promise<void>
  /**
   * Credits what stands in blocks up to `due`; returns how many. Each counts for itself: what the books refuse is tried ever more rarely, and
   * shown to the operator. Raises UNAVAILABLE.
   */
  creditDue(place: ScanPlace, due: number): Promise<number>
  /**
   * Takes out of the books what was credited from blocks above a height, a bounded part of it; with the last part the scan is moved back to `to`:
   * what lies above is found anew, and what of it did not count yet is forgotten. None, once all is done.
   */
  goBack(place: ScanPlace, to: string, height: number): Promise<FrozenDeposits>
  /** Begins to hold balances to what is known, unless it has begun: what earlier accounts hold then is taken for granted. */
  beginBalances(chainId: number): Promise<void>
  /** A page of wallets that may be sent something by contracts, in the order of their ids, after one of these. */
  watchedWallets(after: string | null, limit: number): Promise<{ id: string; address: string }[]>
  /**
   * Holds what addresses hold at a block, decimal strings, to what is known of them. Returns how many deposits of contracts were found, and
   * which addresses hold too little.
   */
  settleBalances(
    place: ScanPlace,
    block: { number: number; hash: string },
    balances: readonly { address: string; balance: string }[],
  ): Promise<{ found: number; lacking: string[] }>
}

/** What lies at one address of ours, as the books have it. Amounts in wei. */
export interface BookedCoins {
  /** With EIP-55 checksum. */
  address: string
  /** What was credited and is in no move. */
  lying: bigint
  /** The nonce after all that were ever signed here. */
  nextNonce: number
  /** The oldest move that is set aside, because the chain has lost its coins: what is signed next is signed at its nonce, and goes there. */
  aside?: { nonce: number; recipient: string }
  /** What was credited last and is in no move, the newest first: the last few. */
  newest: readonly bigint[]
  /** What is signed and not settled, in the order of nonces. */
  open: readonly { nonce: number; amount: bigint }[]
}

/** A move that is to be signed: the same coins at rising prices of gas, of which one gets into the chain. */
export interface MovePlan {
  /** Wei that leave the sender whichever of them it is. */
  amount: bigint
  /** Whether these are the coins that were credited, or, in part or whole, others that came in. */
  isBooked: boolean
  /** Whether a move that is set aside has the nonce. */
  isAnew: boolean
  /** The cheapest first; behind them others of less, for the case that the chain loses a part of the coins. */
  plans: readonly CoinPlan[]
}

/** The chain's own coin, as the rules see it. */
export interface Coins {
  /**
   * What takes everything that lies at an address into the treasury, and needs nothing that is known later: to be signed before the
   * address's key is destroyed. Where the node does not answer within two seconds, what the books know of.
   */
  planLast(booked: BookedCoins): Promise<MovePlan[]>
  /** The treasury, and what it has in wei: undefined where the node does not answer within two seconds. */
  treasury(): Promise<{ address: string; balance: bigint | undefined }>
  /** What it costs to send so many wei from the treasury to an address, as somebody wrote it. Raises UNAVAILABLE. */
  quote(to: string, value: bigint): Promise<QuotedTransfer>
}

/** What a withdrawal costs. */
export interface QuotedTransfer {
  /** With EIP-55 checksum. */
  address: string
  /** Currency units, a decimal string. */
  fee: string
  gasLimit: number
  /** Why nothing goes there, in a sentence; left out when it can. */
  refusal?: string
}

/** A withdrawal that may be signed for. Wei. */
export interface DueWithdrawal {
  id: string
  userId: string
  recipient: string
  amount: bigint
  /** What was charged. */
  fee: bigint
  gasLimit: bigint
}

/** What withdrawals are paid from: wei that no signed move takes, and wei that a unit of gas costs now. */
export interface Means {
  free: bigint
  price: bigint
}

/** Where no chain is asked and nothing can have come in. */
export const noCoins: Coins = {
  planLast: async () => [],
  treasury: async () => ({ address: '', balance: undefined }),
  quote: async () => {
    throw unavailable('The chain')
  },
}

/** A move of coins that was signed, to be stored. */
export interface SignedMove {
  /** Whose address it leaves. */
  userId: string
  sender: string
  recipient: string
  nonce: number
  /** Wei. */
  amount: bigint
  signed: readonly SignedCoins[]
  /** Whether a move that is set aside has the nonce, and goes on with these coins. */
  isAnew?: boolean
  /** Wei that the books have at the sender's address, all of which it takes; left out for coins that are not in the books. */
  lying?: bigint
}

/** A transaction of coins that is in the chain and that the books do not know: what it goes into them as. */
export type Adoption =
  | { kind: 'GATHERING'; move: SignedMove }
  /** `claim`: the withdrawal that it pays; without one the platform bears it. */
  | { kind: 'WITHDRAWAL'; move: Omit<SignedMove, 'userId'>; claim: { id: string; userId: string } | undefined }

/** Somebody's credited coins on their own address, with the key that signs for them. */
export interface LyingCoins extends BookedCoins {
  userId: string
  key: SealedKey
}

/** A move of coins that may still change: it is not settled, or its block is young. */
export interface CoinMove {
  id: string
  sender: string
  nonce: number
  status: 'SIGNED' | 'BROADCAST' | 'INCLUDED' | 'FINAL' | 'FAILED'
  /** The dearest that was sent, or the included one. */
  transactionHash: string
  blockNumber: number | null
  blockHash: string | null
  /** Whether its coins arrived in that block. */
  hasArrived: boolean
  /** Everything that was signed for it, the cheapest first; prices in wei. `isCurrent`: those that are sent, which move what the books have under way, or the filler of a
   * payment that is given up. */
  transactions: readonly { hash: string; gasPrice: bigint; isCurrent: boolean }[]
}

/** What the chain says of a move. */
export interface PlacedMove {
  id: string
  transactionHash: string
  blockNumber: number
  blockHash: string
  /** Wei. */
  fee: bigint
  /** Whether its coins arrived. */
  hasArrived: boolean
}

/** The books of the coins that we hold, as what moves them sees it. Each method may be called again. */
export interface CoinBooks {
  /** Credited coins that lie on their owners' addresses, at least `least` wei of each, by owner after `after`. */
  findLying(least: bigint, after: string, limit: number): Promise<LyingCoins[]>
  /** Stores a move before anything of it is sent. False when somebody was quicker, or the account is deleted. */
  store(move: SignedMove): Promise<boolean>
  /** The nonce after all that were signed for an address, and what of them is not settled. */
  readSender(address: string): Promise<Pick<BookedCoins, 'nextNonce' | 'open'>>
  /** How many transactions a treasury had sent when it was first looked at: `count`, if that is now. */
  noteTreasury(address: string, count: number): Promise<number>
  /** Says whether the chain counts transactions of the treasury that the books do not know: nothing is cancelled while it does. */
  doubtTreasury(address: string, doubted: boolean): Promise<void>
  /** What was gathered in other treasuries than this one and was not moved from there, in wei. */
  findEarlierTreasuries(current: string): Promise<{ address: string; held: bigint }[]>
  /** Withdrawals that may be signed for and that `means` pay for, or that may never be because they need more gas than `mostGas`; oldest first. */
  findDueWithdrawals(means: Means, mostGas: bigint, limit: number): Promise<DueWithdrawal[]>
  /** Wei of all withdrawals that may be signed for and that `means` do not pay for, with their fees. */
  sumDue(means: Means): Promise<bigint>
  /** Stores the move of a withdrawal. False when it was cancelled meanwhile, or somebody was quicker. */
  storeWithdrawal(id: string, move: SignedMove): Promise<boolean>
  /**
   * Stores what takes the place of all that is signed for a withdrawal, at its nonce, and moves nothing, the cheapest first. False when it has
   * some, or is in a block.
   */
  storeFillers(moveId: string, fillers: readonly SignedCoins[]): Promise<boolean>
  /** Gives a withdrawal back for which nothing was signed. */
  failWithdrawal(id: string, failure: string): Promise<void>
  /** Ends withdrawals whose moves are settled: a bounded part of them. */
  endWithdrawals(): Promise<void>
  /** A page of what is not settled, and what is in a block from `youngest` on, in the order of senders and nonces. */
  findOpen(youngest: number, after: Pick<CoinMove, 'sender' | 'nonce'> | undefined, limit: number): Promise<CoinMove[]>
  /** Sets moves aside whose coins the chain has lost an hour ago. Returns their addresses. */
  setAside(): Promise<string[]>
  /** A page of addresses where a move is set aside and the books have what is signed for at its nonce, in their order; `open` as in `BookedCoins`. */
  findResumable(after: string, limit: number): Promise<Pick<BookedCoins, 'address' | 'open'>[]>
  /**
   * Takes up again what is set aside at these addresses, with all that is signed for and that the chain has `free` there, in wei. Returns those
   * where it was; at the others the chain has more than was credited.
   */
  resume(seen: readonly { address: string; free: bigint }[]): Promise<string[]>
  /** Says how many of them wait, for the operator. */
  noteWaiting(count: number): Promise<void>
  /** Whether anything is signed and not settled, or at least `least` wei of somebody's lie where they came in. */
  hasWork(least: bigint): Promise<boolean>
  /** Stored bytes by hash. */
  readRaw(hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /** A node has taken these, each the transaction of a move. */
  markSent(sent: readonly { id: string; hash: string }[]): Promise<void>
  markIncluded(placed: readonly PlacedMove[]): Promise<void>
  /** The blocks of these are gone; what counted as settled is taken back in the books. */
  markDisplaced(ids: readonly string[]): Promise<void>
  /** Settles what is deep enough, where it still is in that block. */
  settle(moves: readonly { id: string; blockHash: string }[]): Promise<void>
}

/** A log of JSON lines: facts, and a sentence for people. Secrets never go into either. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}
