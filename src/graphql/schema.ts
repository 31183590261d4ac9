/** The schema. Importing a type's file adds the type. */
import './node.ts'
import '../modules/accounts/users.graphql.ts'
import '../modules/wallet/wallet.graphql.ts'
import '../modules/assets/assets.graphql.ts'
import '../modules/store/network-apps.graphql.ts'
import '../modules/store/api-keys.graphql.ts'
import '../modules/store/orders.graphql.ts'
import '../modules/wallet/quotes.graphql.ts'
import '../modules/webhooks/webhook-deliveries.graphql.ts'
import '../modules/accounts/credentials.graphql.ts'
import '../modules/audit/audit.graphql.ts'
import '../modules/events/events.graphql.ts'
import '../modules/wallet/grants.graphql.ts'
import '../modules/commits/histories.graphql.ts'
import '../modules/assets/asset-links.graphql.ts'
import {
  GraphQLOneOfDirective,
  type GraphQLSchema,
  lexicographicSortSchema,
  printDirective,
  printSchema,
} from 'graphql'
import { builder, guardRootFields } from './builder.ts'

let schema: GraphQLSchema | undefined

/**
 * Returns the schema of the types that are loaded. GraphQL requests, REST routes and pages execute operations on it.
 * Load the types of the optional modules first: the schema is created once.
 */
export const createSchema = (): GraphQLSchema => (schema ??= guardRootFields(builder.toSchema({ sortSchema: true })))

/**
 * Returns the schema as sorted SDL with descriptions. It includes `@oneOf`, which `printSchema` omits as a standard
 * directive. graphql-js before 16.9, Apollo's composition and other tools do not support this directive.
 */
export const schemaText = (schema: GraphQLSchema): string =>
  `${printDirective(GraphQLOneOfDirective)}\n\n${printSchema(lexicographicSortSchema(schema))}\n`
