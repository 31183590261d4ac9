/** GraphQL types and pages of administrators. Importing this file adds the types. */
import './statistics.graphql.ts'

export { adminRoutes, createAdminHandler } from './admin-handler.ts'
