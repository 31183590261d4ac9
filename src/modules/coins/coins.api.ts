/** GraphQL types and REST routes of coins. Importing this file adds the types. */
import './coins.graphql.ts'

export { coinRoutes as routes } from './coins.rest.ts'
