/** `npm run generate`: prints the schema into schema.graphql, where frontends and reviewers read it. */
import { writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

writeFileSync('schema.graphql', `${printSchema(lexicographicSortSchema(schema))}\n`)
