/** `npm run generate`: writes the OpenAPI document. */
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../../package.json' with { type: 'json' }
import { schema } from '../graphql/schema.ts'
import { directRouteTable as directRoutes } from './direct-route-table.ts'
import { createDocument, type Examples } from './openapi/document.ts'
import type { ErrorExamples } from './openapi/refusals.ts'
import { routes } from './routes.ts'

const file = (name: string) => new URL(`generated/${name}`, import.meta.url)

/** Maximum length of a line. */
const WIDTH = 140

/** Prints JSON with each object and list on one line where it fits. */
function print(value: unknown, indent: string): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const items = Array.isArray(value)
    ? value.map((item) => inner + print(item, inner))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${print(item, inner)}`)
  return `${open}\n${items.join(',\n')}\n${indent}${close}`
}

const { operations, errors }: { operations: Examples; errors: ErrorExamples } = JSON.parse(
  readFileSync(file('examples.json'), 'utf8'),
)
const document = createDocument({
  ...{ schema, routes, directRoutes, version: manifest.version },
  ...{ examples: operations, errorExamples: errors },
})
writeFileSync(file('openapi.json'), `${print(document, '')}\n`)
