/** The direct routes without the parts that handle requests, for the OpenAPI document and tests. */
import type { DirectRoute } from './define-route.ts'
import { createDirectRoutes } from './direct-routes.ts'

const nothing = { status: 500, headers: {}, html: '' }

/** All direct routes but the pages with forms. */
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
