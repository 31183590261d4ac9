/** The schema: importing a type's file adds it. */
import './scalars.ts'
import './node.ts'
import './user.ts'
import './wallet.ts'
import './commit.ts'
import './asset.ts'
import './asset-mutations.ts'
import './asset-version.ts'
import './network-app.ts'
import './api-key.ts'
import './order.ts'
import './refund.ts'
import './sale.ts'
import './figures.ts'
import './quote.ts'
import './webhook-delivery.ts'
import './session.ts'
import './password.ts'
import './email.ts'
import './account.ts'
import './session-list.ts'
import './audit-entry.ts'
import './event.ts'
import './subscriptions.ts'
import './grant.ts'
import './user-administration.ts'
import './transfer.ts'
import './withdrawal.ts'
import './deposit.ts'
import './held-coins.ts'
import './verification.ts'
import './asset-link.ts'
import { GraphQLOneOfDirective, lexicographicSortSchema, printDirective, printSchema } from 'graphql'
import { builder } from './builder.ts'
import { guardRootFields } from './stale-token.ts'

/** The one schema, which GraphQL serves and REST routes execute operations on. */
export const schema = guardRootFields(builder.toSchema({ sortSchema: true }))

let text: string | undefined

/**
 * Returns the schema as SDL, sorted and with descriptions. It defines `@oneOf`, which `printSchema` leaves out as a standard
 * directive: graphql-js before 16.9, Apollo's composition and other tools do not know it.
 */
export const schemaText = (): string =>
  (text ??= `${printDirective(GraphQLOneOfDirective)}\n\n${printSchema(lexicographicSortSchema(schema))}\n`)
