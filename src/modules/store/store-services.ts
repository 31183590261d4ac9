/** All about the store, made from its parts: what is sold, to whom, and how its sellers are told. */

import type { Database } from '../../db/database-types.ts'
import type { EnvelopeCipher, KeyVault } from '../../keys/key-types.ts'
import type { ComposeMail, Mailer } from '../../mail/mail-types.ts'
import type { Idempotency } from '../../shared/idempotency.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { createDeliveryService } from '../webhooks/delivery-service.ts'
import type { WebhookSender } from '../webhooks/webhook-types.ts'
import type { ActionArgs } from './action-args.ts'
import { createApiKeyService } from './api-key-service.ts'
import { createNetworkAppService } from './network-app-service.ts'
import { createOrderMail } from './order-mail.ts'
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
      refunds: createRefundService(deps),
      sales: createSaleService(deps),
      deliveries,
    },
    jobs: { mail: mail.handle, webhookDelivery: deliveries.handle, abandonedDelivery: deliveries.abandon },
  }
}
