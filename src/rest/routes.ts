/** The route table of `/api/v3`. */

import type { Route } from './define-route.ts'
import { accountRoutes } from './v3/account.ts'
import { apiKeyRoutes } from './v3/api-keys.ts'
import { assetRoutes } from './v3/assets.ts'
import { eventRoutes } from './v3/events.ts'
import { grantRoutes } from './v3/grants.ts'
import { networkAppRoutes } from './v3/network-apps.ts'
import { orderRoutes } from './v3/orders.ts'
import { transferRoutes } from './v3/transfers.ts'
import { webhookDeliveryRoutes } from './v3/webhook-deliveries.ts'

export const routes: Route[] = [
  ...accountRoutes,
  ...assetRoutes,
  ...networkAppRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...orderRoutes,
  ...webhookDeliveryRoutes,
  ...grantRoutes,
  ...transferRoutes,
]
