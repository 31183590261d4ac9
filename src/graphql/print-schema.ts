/** Writes schema.graphql, for `npm run generate`. */
import { writeFileSync } from 'node:fs'
import { loadModules } from '../app.ts'
import { createSchema, schemaText } from './schema.ts'

// Loads the types of the optional modules.
for (const module of Object.values(await loadModules())) await module.loadApi()
writeFileSync('schema.graphql', schemaText(createSchema()))
