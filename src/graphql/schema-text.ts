import { GraphQLOneOfDirective, lexicographicSortSchema, printDirective, printSchema } from 'graphql'
import { schema } from './schema.ts'

let text: string | undefined

/**
 * Returns the schema as SDL, sorted and with descriptions. It defines `@oneOf`, which `printSchema` leaves out as a standard
 * directive: graphql-js before 16.9, Apollo's composition and other tools do not know it.
 */
export const schemaText = (): string =>
  (text ??= `${printDirective(GraphQLOneOfDirective)}\n\n${printSchema(lexicographicSortSchema(schema))}\n`)
