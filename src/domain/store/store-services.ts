/** All about the store, made from its parts: what is sold, to whom, and how its sellers are told. */
import type { Idempotency } from '../idempotency.ts'
import type { Database } from '../ports/database.ts'
import type { FeedNotifications } from '../ports/feed.ts'
import type { EnvelopeCipher, KeyVault } from '../ports/keys.ts'
import type { Log } from '../ports/log.ts'
import type { ComposeMail, Mailer } from '../ports/mail.ts'
import type { WebhookSender } from '../ports/webhooks.ts'
import type { Meter } from '../telemetry.ts'
import type { FundsService } from '../wallet/funds.ts'
import type { ActionArgs } from './action-args.ts'
import { createApiKeyService } from './api-key-service.ts'
import { createDeliveryService } from './delivery-service.ts'
import { createNetworkAppService } from './network-app-service.ts'
import { createOrderMail } from './order-mail.ts'
import { createOrderService } from './order-service.ts'
import { createRefundService } from './refund-service.ts'
import { createSaleService } from './sale-service.ts'

interface Dependencies {
  database: Database
  vault: KeyVault
  envelopeCipher: EnvelopeCipher
  notifications: FeedNotifications
  sender: WebhookSender
  mailer: Mailer
  compose: ComposeMail
  idempotency: Idempotency
  actionArgs: ActionArgs
  funds: FundsService
  log: Log
  meter: Meter
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
  config: {
    orderWindowSeconds: number
    platformShare: string
    openOrdersPerUser: number
    orderArgumentsDays: number
    allowInsecureWebhooks: boolean
  }
}

/** The services of the store, by the names that the context has for them. */
export type StoreServices = ReturnType<typeof createStoreServices>['services']

/** Makes the services of the store, and what carries out their jobs. */
export function createStoreServices(deps: Dependencies) {
  const deliveries = createDeliveryService(deps)
  const mail = createOrderMail(deps)
  return {
    services: {
      apiKeys: createApiKeyService(deps),
      networkApps: createNetworkAppService(deps),
      orders: createOrderService(deps),
      refunds: createRefundService(deps),
      sales: createSaleService(deps),
      deliveries,
    },
    jobs: { mail: mail.handle, webhookDelivery: deliveries.handle, abandonedDelivery: deliveries.abandon },
  }
}
