/** The description of this interface, as a document for programs and as a page for people. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { lazily } from '../domain/lazily.ts'
import { prepareFile, type StaticFile, sendFile } from '../platform/http/static-file.ts'
import type { DirectRoute } from './define-route.ts'
import { corsHeaders } from './rest-handler.ts'

/** What the page consists of. */
export interface DocsPage {
  page: { headers: Record<string, string>; html: string }
  style: string
  script: string
}

const openApi = z
  .looseObject({ openapi: z.string().describe('The version of OpenAPI.') })
  .meta({ id: 'Description', description: 'A description of this interface.' })

/** A file is read when somebody first wants it, and stays. */
const once = (load: () => Promise<Buffer>) => lazily(async () => prepareFile(await load()))

const generated = (name: string) => once(() => readFile(new URL(`generated/${name}`, import.meta.url)))
const fromText = (text: string) => once(async () => Buffer.from(text))

/** The document, the page, and the files of the page. `presentRefusal`: how the page tells that it is refused. */
export function createDocsRoutes(
  { page, style, script }: DocsPage,
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
  const document = once(async () => {
    const text = await readFile(new URL('generated/openapi.json', import.meta.url), 'utf8')
    return Buffer.from(JSON.stringify(JSON.parse(text)))
  })
  const part = 'A file of the page that shows the description.'

  return [
    {
      ...file('/api/v3/openapi.json', 'The description of these routes.', 'application/json', document, corsHeaders),
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
    file('/api/v3/docs/page.css', part, 'text/css; charset=utf-8', fromText(style)),
    file('/api/v3/docs/page.js', part, 'text/javascript; charset=utf-8', fromText(script)),
    file('/api/v3/docs/swagger-ui.css', part, 'text/css; charset=utf-8', generated('swagger-ui.css')),
    file(
      '/api/v3/docs/swagger-ui-bundle.js',
      part,
      'text/javascript; charset=utf-8',
      generated('swagger-ui-bundle.js'),
    ),
  ]
}
