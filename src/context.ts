/** What a resolver gets. */
import type { AccountService } from './domain/account/account-service.ts'
import type { DeletionService } from './domain/account/deletion-service.ts'
import type { ExportService } from './domain/account/export-service.ts'
import type { IdentityService } from './domain/account/identity-service.ts'
import type { PasswordService } from './domain/account/password-service.ts'
import type { ProfileService } from './domain/account/profile-service.ts'
import type { SessionService } from './domain/account/session-service.ts'
import type { Actor } from './domain/actor.ts'
import type { AssetService } from './domain/asset/asset-service.ts'
import type { ThumbnailService } from './domain/asset/thumbnail-service.ts'
import type { TreeService } from './domain/asset/tree-service.ts'
import type { Uploads } from './domain/asset/uploads.ts'
import type { AuditService } from './domain/audit/audit-service.ts'
import type { EventService } from './domain/event/event-service.ts'
import type { Attempt, Idempotency } from './domain/idempotency.ts'
import type { Chain, Database, Log } from './domain/ports.ts'
import type { ApiKeyService } from './domain/store/api-key-service.ts'
import type { DeliveryService } from './domain/store/delivery-service.ts'
import type { NetworkAppService } from './domain/store/network-app-service.ts'
import type { OrderService } from './domain/store/order-service.ts'
import type { FundsService } from './domain/wallet/funds.ts'
import type { GrantService } from './domain/wallet/grant-service.ts'
import type { Pricing } from './domain/wallet/pricing.ts'
import type { StatementService } from './domain/wallet/statement-service.ts'

export interface Services {
  accounts: AccountService
  apiKeys: ApiKeyService
  assets: AssetService
  audit: AuditService
  events: EventService
  exports: ExportService
  deletions: DeletionService
  deliveries: DeliveryService
  grants: GrantService
  idempotency: Idempotency
  identities: IdentityService
  networkApps: NetworkAppService
  passwords: PasswordService
  orders: OrderService
  pricing: Pricing
  funds: FundsService
  profiles: ProfileService
  sessions: SessionService
  statement: StatementService
  thumbnails: ThumbnailService
  trees: TreeService
  uploads: Uploads
}

/** Facts that links and records are made from. */
export interface Publication {
  /** Where callers reach the service, without a trailing slash. */
  publicUrl: string
  provider: string
  explorerUrl: Chain['explorerUrl']
  /** Name of an action → the nid of the document that describes it. */
  actionNids: Record<string, string>
  /** A link to a private file that works for a while without credentials. */
  signFileUrl(nid: string): string
}

export interface Context {
  readonly actor: Actor
  /** Whether they came with a token that is good no more. Then the actor is anonymous, and only what is open to that may go on. */
  readonly hasStaleToken: boolean
  readonly services: Services
  readonly database: Pick<Database, 'read'>
  readonly publication: Publication
  readonly log: Log
  /** Whether a page may end early, lest its texts make an answer too large: its reader tells where the next one begins. */
  readonly cutsPages: boolean
  /** The request's idempotency key, if it has one. */
  readonly attempt: Attempt
}
