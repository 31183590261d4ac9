import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

let text: string | undefined

/** The schema as code generators and reviewers read it: sorted, with its descriptions. */
export const schemaText = (): string => (text ??= `${printSchema(lexicographicSortSchema(schema))}\n`)
