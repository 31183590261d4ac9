/** Tables of the routes that are not REST operations. Their handlers do not work. */

import type { DirectRoute } from '../../src/http/rest/define-route.ts'
import { directRouteTable } from '../../src/http/rest/direct-routes.ts'
import { createAssetPage } from '../../src/modules/pages/asset/asset-page.ts'
import { createLookupPage } from '../../src/modules/pages/lookup/lookup-page.ts'
import { emailVerificationPage, passwordResetPage } from '../../src/modules/pages/mailed-forms.ts'
import { refusalPage } from '../../src/modules/pages/page.ts'
import { createPageRoutes } from '../../src/modules/pages/page-routes.ts'
import { noopWatch } from '../../src/telemetry/telemetry-types.ts'
import { api } from './full-api.ts'

const nobodyRuns = () => Promise.reject(new Error('Nothing is carried out here.'))

/** Direct routes, and the pages with forms. The documentation site is left out: its files are the same for every caller. */
export const directRoutes: DirectRoute[] = [
  ...directRouteTable(api.createDirectRoutes),
  ...createPageRoutes({
    pages: {
      forms: [
        createAssetPage({ run: nobodyRuns }),
        createLookupPage({ run: nobodyRuns, codeOf: () => undefined }),
        passwordResetPage,
        emailVerificationPage,
      ],
      refusal: refusalPage,
    },
    watch: noopWatch,
  }),
]

/** Pages for administrators, including sign-in and sign-out. */
export const adminPages: readonly { method: 'GET' | 'POST'; path: string }[] = [
  { method: 'GET', path: '/admin/sign-in' },
  { method: 'POST', path: '/admin/sign-in' },
  { method: 'POST', path: '/admin/sign-out' },
  ...api.admin!.adminRoutes,
]
