/** The route table of `/api/v3`. */

import type { Route } from './define-route.ts'
import { accountRoutes } from './v3/account.ts'
import { apiKeyRoutes } from './v3/api-keys.ts'
import { assetLinkRoutes } from './v3/asset-links.ts'
import { assetReadingRoutes } from './v3/asset-readings.ts'
import { assetVersionRoutes } from './v3/asset-versions.ts'
import { assetRoutes } from './v3/assets.ts'
import { auditRoutes } from './v3/audit-entries.ts'
import { contentCredentialsRoutes } from './v3/content-credentials.ts'
import { depositRoutes } from './v3/deposits.ts'
import { deviceRoutes } from './v3/devices.ts'
import { eventRoutes } from './v3/events.ts'
import { grantRoutes } from './v3/grants.ts'
import { identityRoutes } from './v3/identity.ts'
import { lookupRoutes } from './v3/lookup.ts'
import { networkAppRoutes } from './v3/network-apps.ts'
import { orderRoutes } from './v3/orders.ts'
import { passwordRoutes } from './v3/passwords.ts'
import { profileRoutes } from './v3/profile.ts'
import { sessionRoutes } from './v3/sessions.ts'
import { transferRoutes } from './v3/transfers.ts'
import { userRoutes } from './v3/users.ts'
import { walletRoutes } from './v3/wallets.ts'
import { webhookDeliveryRoutes } from './v3/webhook-deliveries.ts'
import { withdrawalRoutes } from './v3/withdrawals.ts'

/** Every route that executes an operation. */
export const routes: Route[] = [
  ...accountRoutes,
  ...passwordRoutes,
  ...identityRoutes,
  ...profileRoutes,
  ...sessionRoutes,
  ...deviceRoutes,
  ...walletRoutes,
  ...auditRoutes,
  ...assetRoutes,
  ...assetLinkRoutes,
  ...assetReadingRoutes,
  ...assetVersionRoutes,
  ...lookupRoutes,
  ...contentCredentialsRoutes,
  ...networkAppRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...orderRoutes,
  ...webhookDeliveryRoutes,
  ...grantRoutes,
  ...transferRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...userRoutes,
]
