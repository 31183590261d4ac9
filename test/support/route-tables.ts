/** The routes that are no operations of REST, as tables: nothing can be asked of them here. */
import { blindWatch } from '../../src/domain/telemetry.ts'
import { adminRoutes } from '../../src/pages/admin/admin-routes.ts'
import { createAssetPage } from '../../src/pages/asset/asset-page.ts'
import { createEmailVerificationPage } from '../../src/pages/email-verification.ts'
import { createLookupPage } from '../../src/pages/lookup/lookup-page.ts'
import { createPasswordResetPage } from '../../src/pages/password-reset.ts'
import { refusalPage } from '../../src/pages/refusal.ts'
import type { DirectRoute } from '../../src/rest/define-route.ts'
import { directRouteTable } from '../../src/rest/direct-route-table.ts'
import { createPageRoutes } from '../../src/rest/page-routes.ts'

const nobodyRuns = () => Promise.reject(new Error('Nothing is carried out here.'))

/** Direct routes, and the pages with forms. */
export const directRoutes: DirectRoute[] = [
  ...directRouteTable,
  ...createPageRoutes({
    pages: {
      forms: [
        createAssetPage({ run: nobodyRuns }),
        createLookupPage({ run: nobodyRuns, codeOf: () => undefined }),
        createPasswordResetPage({ passwordLength: { min: 8, max: 32 }, passwordProblem: () => undefined }),
        createEmailVerificationPage(),
      ],
      refusal: refusalPage,
    },
    readText: async () => '',
    watch: blindWatch,
  }),
]

/** Pages for administrators, with those that begin and end their sessions. */
export const adminPages: readonly { method: 'GET' | 'POST'; path: string }[] = [
  { method: 'GET', path: '/admin/sign-in' },
  { method: 'POST', path: '/admin/sign-in' },
  { method: 'POST', path: '/admin/sign-out' },
  ...adminRoutes(nobodyRuns, () => undefined),
]
