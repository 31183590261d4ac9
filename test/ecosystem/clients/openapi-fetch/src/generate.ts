/** Generates types from the OpenAPI document of the server. Files have the type Blob. */
import { mkdir, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

const document = new URL('/api/v3/openapi.json', process.env.ANNAL_URL ?? 'http://localhost:4000')
const blob = ts.factory.createTypeReferenceNode('Blob')

const types = await openapiTS(document, {
  transform: ({ format }) => (format === 'binary' ? blob : undefined),
})
await mkdir('src/generated', { recursive: true })
await writeFile('src/generated/annal.ts', astToString(types))
