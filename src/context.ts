/** The context of use cases. A use case declares the fields it needs: `Use<'actor' | 'database'>`. */
import type { KeyObject } from 'node:crypto'
import type { Chain, Coins, Histories } from './chain/chain-types.ts'
import type { Config } from './config.ts'
import type { Database } from './db/database-types.ts'
import type { FeedNotifications } from './db/processes.ts'
import type { ContentCredentials, ContentStore } from './files/file-types.ts'
import type { PictureMaker } from './files/picture-maker.ts'
import type { Custody, EnvelopeCipher } from './keys/envelope-encryption.ts'
import type { KeyVault } from './keys/key-vault.ts'
import type { PasswordHasher } from './keys/password-hasher.ts'
import type { ComposeMail, Mailer } from './mail/mail-types.ts'
import type { Credentials } from './modules/accounts/authenticate.ts'
import type { Uploads } from './modules/assets/uploads.ts'
import type { EventStreams } from './modules/events/event-streams.ts'
import type { FindWebhookEvent } from './modules/webhooks/delivery-payload.ts'
import type { UnsavedOutcomes, WebhookSender } from './modules/webhooks/webhook-sender.ts'
import type { ConcurrencyCounter } from './shared/concurrency-counter.ts'
import type { DomainError } from './shared/errors.ts'
import type { IdempotencyContext, IdempotencySecrets } from './shared/idempotency.ts'
import type { RateLimiter, RequestQuota, Semaphores } from './shared/limiters.ts'
import type { Log } from './shared/log.ts'
import type { Actor } from './shared/policy.ts'
import type { Meter, Tracer } from './telemetry/telemetry-types.ts'

export interface AppContext {
  readonly config: Config
  readonly database: Database
  readonly contentStore: ContentStore
  readonly custody: Custody
  readonly passwords: PasswordHasher
  readonly pictures: PictureMaker
  readonly contentCredentials: ContentCredentials
  readonly signedCopies: SignedCopies
  readonly vault: KeyVault
  readonly envelopeCipher: EnvelopeCipher
  readonly mailer: Mailer
  readonly composeMail: ComposeMail
  readonly coins: Coins
  readonly notifications: FeedNotifications
  readonly eventStreams: EventStreams
  /** Gas fee of a commit at this time, in currency units. */
  gasFee(): string
  /** Histories on the chain. Undefined in commands that need no chain. */
  readonly histories: Histories | undefined
  readonly chain: Chain
  readonly meter: Meter
  readonly tracer: Tracer
  /** Log of the process. Requests use `requestLog`, which adds their ID. */
  readonly log: Log
  /** Base URL in commits on the chain, without a trailing slash. Links in responses start with `baseUrl`. */
  readonly publicUrl: string
  readonly linkConfig: LinkConfig
  readonly version: string
  readonly webhookSender: WebhookSender
  readonly unsavedOutcomes: UnsavedOutcomes
  readonly findWebhookEvent: FindWebhookEvent
  readonly idempotencySecrets: IdempotencySecrets
  readonly rateLimiter: RateLimiter
  readonly requestQuota: RequestQuota
  readonly counter: ConcurrencyCounter
  readonly credentials: Credentials
  readonly uploads: Uploads
  /** Signs links to asset pages. All processes use the same key. */
  readonly assetLinkKey: KeyObject
  readonly semaphores: Semaphores
  /** Running deletions of accounts, by UUID of the user. A second deletion waits for the first. */
  readonly deletions: Map<string, Promise<void>>
}

export interface SignedCopies {
  /** CIDs of copies that are being created, by asset and version. */
  readonly inProgress: Map<string, Promise<string>>
  /** Errors of files that cannot be signed, by asset and version. `until`: milliseconds on the monotonic clock. */
  readonly rejections: Map<string, { error: DomainError; until: number }>
}

export interface LinkConfig {
  /** See `AppContext.publicUrl`. */
  publicUrl: string
  provider: string
  explorerUrl: Chain['explorerUrl']
  /** Nids of documents that describe actions, by name of the action. */
  actionNids: Record<string, string>
  /** Returns path and query of a link that works for at least an hour. */
  signFilePath(assetId: string, cid: string): string
}

export interface Context extends AppContext {
  readonly actor: Actor
  /** True for an invalid or expired token. Then the actor is anonymous, and most requests are rejected. */
  readonly hasStaleToken: boolean
  /** Base URL that this caller uses, without a trailing slash. */
  readonly baseUrl: string
  /** A getter would give each context its own hidden class in V8. */
  readonly requestLog: () => Log
  /** True if long texts may end a page early. Set only by readers that continue at the end of the page. */
  readonly cutsPages?: boolean
  readonly idempotency: IdempotencyContext
}

/** The system itself is the caller of a job or a command. */
export const asSystem = (app: AppContext): Context => ({
  ...app,
  actor: { kind: 'system' },
  hasStaleToken: false,
  baseUrl: app.publicUrl,
  requestLog: () => app.log,
  idempotency: { key: undefined, replayed: false },
})

export type Use<Field extends keyof Context> = Pick<Context, Field>

export type Identity = Use<'actor' | 'hasStaleToken'>

/** `isOpen`: true for public bytes, which need no signed link. */
export const fileUrl = (
  { baseUrl, linkConfig }: Use<'baseUrl' | 'linkConfig'>,
  { assetId, cid, isOpen }: { assetId: string; cid: string; isOpen: boolean },
) => baseUrl + (isOpen ? `/ipfs/${cid}` : linkConfig.signFilePath(assetId, cid))
