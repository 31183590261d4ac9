/** The OpenAPI document, and the reference page that shows it. */
import { readFile } from 'node:fs/promises'
import fastify from 'fastify'
import { z } from 'zod'
import { memoizeAsync } from '../../shared/async.ts'
import { prepareFile, type StaticFile, sendFile } from '../static-file.ts'
import type { DirectRoute } from './define-route.ts'
import { corsHeaders } from './send.ts'

/** The reference page without the script that renders it. */
export interface DocsPage {
  page: { headers: Record<string, string>; html: string }
  script: string
}

const openApi = z
  .looseObject({ openapi: z.string().describe('The version of OpenAPI.') })
  .meta({ id: 'Description', description: 'A description of this interface.' })

/** Loads a file at the first request and keeps it. */
const once = (load: () => Promise<Buffer>) => memoizeAsync(async () => prepareFile(await load()))
const fromText = (text: string) => once(async () => Buffer.from(text))

/** Returns the OpenAPI document without white space. */
async function loadDocument(): Promise<Buffer> {
  const text = await readFile(new URL('./generated/openapi.json', import.meta.url), 'utf8')
  return Buffer.from(JSON.stringify(JSON.parse(text)))
}

/** Returns the script of Scalar. Its package exports only a plugin, whose page needs inline scripts. */
async function loadScalar(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(scalar, { configuration: { url: '/api/v3/openapi.json' } })
  const { rawPayload } = await app.inject('/reference/js/scalar.js')
  await app.close()
  return rawPayload
}

/** Creates the routes of the document, the page, and its scripts. `presentRefusal` presents an error of the page. */
export function createDocsRoutes(
  { page, script }: DocsPage,
  presentRefusal: NonNullable<DirectRoute['presentRefusal']>,
): DirectRoute[] {
  const file = (
    path: string,
    reason: string,
    type: string,
    load: () => Promise<StaticFile>,
    headers: object = {},
  ): DirectRoute => ({
    ...{ method: 'GET', path, reason, ignoresCredentials: true },
    handle: async ({ req, res }) =>
      sendFile(req, res, await load(), { 'Content-Type': type, ...headers, 'Cache-Control': 'public, no-cache' }),
  })
  const part = 'A script of the reference page.'
  const javaScript = 'text/javascript; charset=utf-8'

  return [
    {
      ...file('/api/v3/openapi.json', 'The OpenAPI document.', 'application/json', once(loadDocument), corsHeaders),
      description: {
        ...{ operationId: 'getDescription', tag: 'Service', access: 'everybody' },
        summary: 'Read this document',
        answers: {
          200: { description: 'OpenAPI 3.1.', mediaType: 'application/json', schema: openApi, isVersioned: true },
          304: { description: 'It is as you have it.', isVersioned: true },
        },
      },
    },
    {
      ...file('/api/v3/docs', 'A page for people.', 'text/html; charset=utf-8', fromText(page.html), page.headers),
      presentRefusal,
    },
    file('/api/v3/docs/page.js', part, javaScript, fromText(script)),
    file('/api/v3/docs/scalar.js', part, javaScript, once(loadScalar)),
  ]
}
