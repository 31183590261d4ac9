/** `npm run generate`: writes the OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../../../package.json' with { type: 'json' }
import { loadModules } from '../../app.ts'
import { loadApi } from '../create-routes.ts'
import { directRouteTable } from '../rest/direct-routes.ts'
import { createDocument, type Examples } from './document.ts'
import type { ErrorExamples } from './error-responses.ts'

const { operations, errors }: { operations: Examples; errors: ErrorExamples } = JSON.parse(
  readFileSync(new URL('examples.json', import.meta.url), 'utf8'),
)
const { schema, routes, createDirectRoutes } = await loadApi(await loadModules())
const document = createDocument({
  ...{ schema, routes, directRoutes: directRouteTable(createDirectRoutes), version: manifest.version },
  ...{ examples: operations, errorExamples: errors },
})
writeFileSync(new URL('../rest/generated/openapi.json', import.meta.url), `${JSON.stringify(document, undefined, 2)}\n`)
