/** What a resolver gets. */
import type { AccountService } from './domain/account/account-service.ts'
import type { Actor } from './domain/actor.ts'
import type { AssetService } from './domain/asset/asset-service.ts'
import type { Attempt, Idempotency } from './domain/idempotency.ts'
import type { Chain, Database, Log } from './domain/ports.ts'
import type { Pricing } from './domain/wallet/pricing.ts'

export interface Services {
  accounts: AccountService
  assets: AssetService
  idempotency: Idempotency
  pricing: Pricing
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
  readonly services: Services
  readonly database: Pick<Database, 'read'>
  readonly publication: Publication
  readonly log: Log
  /** The request's idempotency key, if it has one. */
  readonly attempt: Attempt
}
