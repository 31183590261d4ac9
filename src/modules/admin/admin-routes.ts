import type { Run } from '../pages/page.ts'
import { actionRoutes, type TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { appActions } from './app-actions.ts'
import { appRoutes } from './apps.ts'
import { auditRoutes } from './audit.ts'
import { coinRoutes } from './coins.ts'
import { keyActions, keyRoutes } from './keys.ts'
import { orderActions, orderRoutes } from './orders.ts'
import { overviewRoutes } from './overview.ts'
import { userActions, userRoutes } from './users.ts'
import { webhookActions, webhookRoutes } from './webhooks.ts'

const pages = [overviewRoutes, orderRoutes, appRoutes, webhookRoutes, coinRoutes, keyRoutes, userRoutes, auditRoutes]
const actions = [orderActions, appActions, webhookActions, keyActions, userActions]

/** Routes of all pages and actions except the sign-in. */
export const adminRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [
  ...pages.flatMap((make) => make(run, tell)),
  ...actions.flatMap((make) => make(run)).flatMap((action) => actionRoutes(action, tell)),
]
