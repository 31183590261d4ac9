/** `npm run generate`: writes the OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../../package.json' with { type: 'json' }
import { schema } from '../graphql/schema.ts'
import { directRouteTable as directRoutes } from './direct-route-table.ts'
import { createDocument, type Examples } from './openapi/document.ts'
import type { ErrorExamples } from './openapi/refusals.ts'
import { routes } from './routes.ts'

const { operations, errors }: { operations: Examples; errors: ErrorExamples } = JSON.parse(
  readFileSync(new URL('openapi/examples.json', import.meta.url), 'utf8'),
)
const document = createDocument({
  ...{ schema, routes, directRoutes, version: manifest.version },
  ...{ examples: operations, errorExamples: errors },
})
writeFileSync(new URL('generated/openapi.json', import.meta.url), `${JSON.stringify(document, undefined, 2)}\n`)
