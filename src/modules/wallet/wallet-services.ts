/** The services of wallets: prices, balances, deposits, grants and the statement. The deposit watcher writes deposits. */

import type { Database } from '../../db/database-types.ts'
import type { Idempotency } from '../../shared/idempotency.ts'
import { createDepositService } from '../coins/deposit-service.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { createGrantService } from './grant-service.ts'
import { createStatementService } from './statement-service.ts'

interface Dependencies {
  database: Database
  notifications: FeedNotifications
  idempotency: Idempotency
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** The services of wallets, by the names that the context has for them. */
export type WalletServices = ReturnType<typeof createWalletServices>

/** Makes the services of wallets. */
export const createWalletServices = (deps: Dependencies) => ({
  deposits: createDepositService(deps),
  grants: createGrantService(deps),
  statement: createStatementService(deps),
})
