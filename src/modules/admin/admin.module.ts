/** The optional module of the pages for administrators. Only `app.ts` imports it. */

/** Loads the GraphQL types and the pages. */
export const loadApi = () => import('./admin.api.ts')
