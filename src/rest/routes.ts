/** The route table of `/api/v3`. */

import type { Route } from './define-route.ts'
import { accountRoutes } from './v3/account.ts'
import { assetRoutes } from './v3/assets.ts'

export const routes: Route[] = [...accountRoutes, ...assetRoutes]
