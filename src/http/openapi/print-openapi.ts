/** `npm run generate`: writes the OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../../../package.json' with { type: 'json' }
import { schema } from '../../graphql/schema.ts'
import { directRouteTable } from '../rest/direct-routes.ts'
import { routes } from '../rest/routes.ts'
import { createDocument, type Examples } from './document.ts'
import type { ErrorExamples } from './error-responses.ts'

const { operations, errors }: { operations: Examples; errors: ErrorExamples } = JSON.parse(
  readFileSync(new URL('examples.json', import.meta.url), 'utf8'),
)
const document = createDocument({
  ...{ schema, routes, directRoutes: directRouteTable(), version: manifest.version },
  ...{ examples: operations, errorExamples: errors },
})
writeFileSync(new URL('../rest/generated/openapi.json', import.meta.url), `${JSON.stringify(document, undefined, 2)}\n`)
