/** The direct routes as a table, for those who read what stands in it: nothing can be asked of them here. */
import type { DirectRoute } from './define-route.ts'
import { createDirectRoutes } from './direct-routes.ts'

const nothing = { status: 500, headers: {}, html: '' }

/** All direct routes but the pages with forms, told by their methods, paths and descriptions. */
export const directRouteTable: DirectRoute[] = createDirectRoutes({
  missing: async () => [],
  degraded: async () => [],
  version: '',
  schemaText: null,
  homePage: () => nothing,
  docs: { page: nothing, script: '' },
  homeRefusal: () => nothing,
  publicDocuments: new Set(),
  links: { verify: () => undefined },
  gateway: { send: async () => {}, nameOf: (cid) => cid, isProbe: () => false },
})
