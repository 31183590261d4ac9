/** `npm run generate`: writes the description of the REST interface, and the files that its page is drawn with. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import manifest from '../../package.json' with { type: 'json' }
import { schema } from '../graphql/schema.ts'
import { directRouteTable as directRoutes } from './direct-route-table.ts'
import { createDocument, type Examples } from './openapi/document.ts'
import type { ErrorExamples } from './openapi/refusals.ts'
import { routes } from './routes.ts'

const file = (name: string) => new URL(`generated/${name}`, import.meta.url)

const { operations, errors }: { operations: Examples; errors: ErrorExamples } = JSON.parse(
  readFileSync(file('examples.json'), 'utf8'),
)
const document = createDocument({
  ...{ schema, routes, directRoutes, version: manifest.version },
  ...{ examples: operations, errorExamples: errors },
})
writeFileSync(file('openapi.json'), `${JSON.stringify(document, null, 2)}\n`)

// Ours from then on: an installation needs nothing of the package, which would tell its maker who installs it.
const { resolve } = createRequire(import.meta.url)
for (const name of ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css']) {
  copyFileSync(resolve(`swagger-ui-dist/${name}`), file(name))
}
copyFileSync(resolve('swagger-ui-dist/LICENSE'), file('swagger-ui.LICENSE.txt'))
