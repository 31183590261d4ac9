/** `npm run generate`: prints the schema into schema.graphql, where frontends and reviewers read it. */
import { writeFileSync } from 'node:fs'
import { schemaText } from './schema.ts'

writeFileSync('schema.graphql', schemaText())
