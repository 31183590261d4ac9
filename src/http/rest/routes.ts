/** The route table of the REST API `/api/v3`, without the optional modules. */

import { credentialRoutes } from '../../modules/accounts/credentials.rest.ts'
import { userRoutes } from '../../modules/accounts/users.rest.ts'
import { assetLinkRoutes } from '../../modules/assets/asset-links.rest.ts'
import { assetRoutes } from '../../modules/assets/assets.rest.ts'
import { auditRoutes } from '../../modules/audit/audit.rest.ts'
import { commitRoutes } from '../../modules/commits/commits.rest.ts'
import { eventRoutes } from '../../modules/events/events.rest.ts'
import { apiKeyRoutes } from '../../modules/store/api-keys.rest.ts'
import { networkAppRoutes } from '../../modules/store/network-apps.rest.ts'
import { orderRoutes } from '../../modules/store/orders.rest.ts'
import { grantRoutes, transferRoutes, walletRoutes } from '../../modules/wallet/wallet.rest.ts'
import { webhookDeliveryRoutes } from '../../modules/webhooks/webhook-deliveries.rest.ts'
import type { Route } from './define-route.ts'

/** REST routes that execute a GraphQL operation. */
export const routes: Route[] = [
  ...credentialRoutes,
  ...userRoutes,
  ...walletRoutes,
  ...auditRoutes,
  ...assetRoutes,
  ...assetLinkRoutes,
  ...commitRoutes,
  ...networkAppRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...orderRoutes,
  ...webhookDeliveryRoutes,
  ...grantRoutes,
  ...transferRoutes,
]
