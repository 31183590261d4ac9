/** GraphQL types and REST routes of coins. Importing this file adds the types. */
import './withdrawals.graphql.ts'
import './deposits.graphql.ts'
import { depositRoutes } from './deposits.rest.ts'
import { withdrawalRoutes } from './withdrawals.rest.ts'

export const routes = [...withdrawalRoutes, ...depositRoutes]
