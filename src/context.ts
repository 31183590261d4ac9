/** What a resolver gets. */

import type { Chain } from './chain/chain-types.ts'
import type { Database } from './db/database-types.ts'
import type { AccountServices } from './modules/accounts/account-services.ts'
import type { StatisticsService } from './modules/admin/statistics.ts'
import type { AssetServices } from './modules/assets/asset-services.ts'
import type { AuditService } from './modules/audit/audit-service.ts'
import type { HeldCoinService } from './modules/coins/held-coin-service.ts'
import type { WithdrawalService } from './modules/coins/withdrawal-service.ts'
import type { EventService } from './modules/events/event-service.ts'
import type { StoreServices } from './modules/store/store-services.ts'
import type { WalletServices } from './modules/wallet/wallet-services.ts'
import type { Actor } from './shared/actor.ts'
import type { Idempotency, IdempotencyContext } from './shared/idempotency.ts'
import type { Log } from './shared/log.ts'
import type { RequestQuota } from './shared/rate-limiter.ts'

/** Everything that can be asked of the domain, for resolvers, direct routes, pages and commands. */
export interface Services extends AccountServices, AssetServices, StoreServices, WalletServices {
  audit: AuditService
  events: EventService
  statistics: StatisticsService
  withdrawals: WithdrawalService
  heldCoins: HeldCoinService
  idempotency: Idempotency
  requestQuota: RequestQuota
}

/** Facts that links and records are made from. */
export interface LinkConfig {
  /** The base URL of the installation, without a trailing slash. Commits on the chain contain it. Links in responses start with `Context.baseUrl`. */
  publicUrl: string
  provider: string
  explorerUrl: Chain['explorerUrl']
  /** Name of an action → the nid of the document that describes it. */
  actionNids: Record<string, string>
  /** Returns path and query of a link to bytes of an asset (by its UUID). It works for at least an hour without credentials. */
  signFilePath(assetId: string, cid: string): string
}

/** What a request comes with. */
export interface Context {
  /** Where this caller reaches the service, without a trailing slash. */
  readonly baseUrl: string
  readonly actor: Actor
  /** Whether they came with a token that is good no more. Then the actor is anonymous, and only what is open to that may go on. */
  readonly hasStaleToken: boolean
  readonly services: Services
  readonly database: Pick<Database, 'read'>
  readonly linkConfig: LinkConfig
  /**
   * The log, with what the request is called there; made when it is asked for, since most requests have nothing to say. No getter: V8 makes each object
   * that is written with one a shape of its own, and keeps that, and all that the getter holds, until its whole heap is marked.
   */
  readonly log: () => Log
  /** True when long texts may end a page early. Only set by a reader that continues where the page ended. */
  readonly cutsPages?: boolean
  /** The request's idempotency key, if it has one. */
  readonly idempotency: IdempotencyContext
}

/** Returns the absolute URL of bytes of an asset. `isOpen`: whether anyone may read them; all others get a signed link. */
export const fileUrl = (
  { baseUrl, linkConfig }: Pick<Context, 'baseUrl' | 'linkConfig'>,
  { assetId, cid, isOpen }: { assetId: string; cid: string; isOpen: boolean },
) => baseUrl + (isOpen ? `/ipfs/${cid}` : linkConfig.signFilePath(assetId, cid))

/** Who asks. */
export type Identity = Pick<Context, 'actor' | 'hasStaleToken'>
