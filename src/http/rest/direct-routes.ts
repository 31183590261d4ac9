/** Routes that execute no GraphQL operation: probes, documents, pages, streams, and constants for existing apps. Each gives its reason. */
import { readFile } from 'node:fs/promises'
import fastify from 'fastify'
import { z } from 'zod'
import { exportDescription, pictureRoutes, sendExport } from '../../modules/accounts/profiles.rest.ts'
import { proofDescription, sendProof } from '../../modules/commits/commits.rest.ts'
import { streamDescription, streamEvents } from '../../modules/events/events.rest.ts'
import type { PageAnswer } from '../../modules/pages/page.ts'
import { memoizeAsync } from '../../shared/async.ts'
import { notFound } from '../../shared/errors.ts'
import { assertMay } from '../../shared/policy.ts'
import { createProbes, type ProbeParts, sendProbe } from '../probes.ts'
import { corsHeaders, prepareFile, type StaticFile, sendJson, sendPage, sendStaticFile } from '../send.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { createFileRoutes, type FileParts } from './file-routes.ts'
import { always } from './values.ts'

export interface DirectParts extends FileParts, ProbeParts {
  /** Returns the GraphQL schema. Null if introspection is off. */
  schemaText: (() => string) | null
  homePage: (req: DirectRequest['req']) => PageAnswer
  docs: DocsPage
  /** Presents an error of the home page and the API reference. */
  homeRefusal: NonNullable<DirectRoute['presentRefusal']>
}

/** The reference page without the script that renders it. */
interface DocsPage {
  page: { headers: Record<string, string>; html: string }
  script: string
}

const openApi = z
  .looseObject({ openapi: z.string().describe('OpenAPI version.') })
  .meta({ id: 'Description', description: 'An OpenAPI document.' })

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
function createDocsRoutes(
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
      sendStaticFile(req, res, await load(), { 'Content-Type': type, ...headers, 'Cache-Control': 'public, no-cache' }),
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
          304: { description: 'Not modified.', isVersioned: true },
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

const emptyPage = { count: 0, next: null, previous: null, results: [] }
/** No version of an app is ever too old. */
const appInfo = { latest_app_version: '0.0.0', update_urgency: 'low' }

const appInfoRecord = z
  .object({
    latest_app_version: z.literal(appInfo.latest_app_version),
    update_urgency: z.literal(appInfo.update_urgency),
  })
  .meta({ id: 'AppInfo', description: 'No version of an app is ever too old.' })

const emptyPageRecord = z
  .object({ count: always(0), next: always(null), previous: always(null), results: z.array(z.unknown()).max(0) })
  .meta({ id: 'EmptyPage', description: 'A page of a list that is always empty.' })

const describeConstant = (
  operationId: string,
  summary: string,
  access: DirectDescription['access'],
  schema: z.ZodType,
): DirectDescription => ({
  ...{ operationId, summary, access, tag: 'Earlier apps', deprecated: true },
  answers: { 200: { description: 'The same for all callers.', mediaType: 'application/json', schema } },
})

const getConstant = (
  path: string,
  reason: string,
  description: DirectDescription,
  handle: (request: DirectRequest) => void,
): DirectRoute => ({
  method: 'GET',
  path,
  reason,
  description,
  ignoresCredentials: description.access === 'everybody',
  handle: async (request) => handle(request),
})

/** Constants for apps, by the names of their operations. */
const appInfos = { getAppInfo: '/api/v3/app-info', getServicesAppInfo: '/api/v3/services/app-info' }
/** Lists of a marketplace, which anybody may open. */
const openLists = {
  listSeries: '/api/v3/series',
  listProducts: '/api/v3/products',
  listStoreProducts: '/api/v3/store/products',
}
/** Lists of the caller. The phone app requests its transactions from version 2. */
const ownLists = {
  listContacts: '/api/v3/contacts',
  listInbox: '/api/v3/transactions/inbox',
  listTransactions: '/api/v3/transactions',
  listTransactionsOfVersion2: '/api/v2/transactions',
}

/** Constants and empty lists that the phone apps request at start. The apps stop when such a request fails. */
const bootstrapRoutes: DirectRoute[] = [
  ...Object.entries(appInfos).map(([operationId, path]) =>
    getConstant(
      path,
      'A constant that tells apps not to update.',
      describeConstant(operationId, 'Check for an app update', 'everybody', appInfoRecord),
      ({ reply }) => void sendJson(reply, appInfo),
    ),
  ),
  ...Object.entries(openLists).map(([operationId, path]) =>
    getConstant(
      path,
      'Existing apps read this list at start. It is always empty.',
      describeConstant(operationId, `The empty list ${path}`, 'everybody', emptyPageRecord),
      ({ reply }) => void sendJson(reply, emptyPage),
    ),
  ),
  ...Object.entries(ownLists).map(([operationId, path]) =>
    getConstant(
      path,
      'Existing apps read this list at start. It is always empty.',
      describeConstant(operationId, `The empty list ${path}`, 'user', emptyPageRecord),
      (request) => {
        assertMay(request.context.actor, 'account:read')
        sendJson(request.reply, emptyPage)
      },
    ),
  ),
]

const json = (description: string, schema: z.ZodType) => ({ description, mediaType: 'application/json', schema })

const probeDescription = (
  operationId: string,
  summary: string,
  answers: DirectDescription['answers'],
): DirectDescription => ({ operationId, summary, tag: 'Service', access: 'everybody', answers })

const missing = z.array(z.string()).describe('Unavailable parts.')
const probeDescriptions = {
  healthz: probeDescription('getHealth', 'Check that the process runs', {
    200: json(
      'The process runs.',
      z.object({ status: z.literal('ok') }).meta({ id: 'Health', description: 'The process runs.' }),
    ),
  }),
  readyz: probeDescription('getReadiness', 'Check readiness', {
    200: json(
      'Requests can be served. `degraded`: most of them.',
      z
        .object({ status: z.enum(['ok', 'degraded']), missing: missing.optional() })
        .meta({ id: 'Readiness', description: 'Requests can be served.' }),
    ),
    503: json(
      'Requests cannot be served.',
      z
        .object({ status: z.enum(['unavailable', 'starting', 'stopping']), missing: missing.optional() })
        .meta({ id: 'Unreadiness', description: 'Requests cannot be served.' }),
    ),
  }),
  version: probeDescription('getVersion', 'Read the version', {
    200: json(
      'The version.',
      z
        .object({ version: z.string().describe('Version of the package.') })
        .meta({ id: 'Version', description: 'The running version.' }),
    ),
  }),
}

/** Creates all direct routes except pages with forms. */
export function createDirectRoutes(parts: DirectParts): DirectRoute[] {
  const get = (
    path: string,
    reason: string,
    handle: DirectRoute['handle'],
    description?: DirectDescription,
  ): DirectRoute => ({
    method: 'GET',
    path,
    reason,
    description,
    handle,
  })

  const probes = createProbes(parts)
  const sameForAll = (...route: Parameters<typeof get>): DirectRoute => ({ ...get(...route), ignoresCredentials: true })
  const probe = (name: keyof typeof probes, reason: string): DirectRoute => ({
    ...sameForAll(
      `/${name}`,
      reason,
      async ({ reply }) => sendProbe(reply, await probes[name]()),
      probeDescriptions[name],
    ),
    isUncounted: name !== 'version',
  })

  return [
    probe('healthz', 'Liveness probe of supervisors. Checks no other part.'),
    probe('readyz', 'Readiness probe of load balancers.'),
    probe('version', 'Read by operators.'),
    sameForAll(
      '/schema.graphql',
      'A document for code generators that do not use introspection.',
      async ({ reply }) => {
        if (!parts.schemaText) throw notFound('Schema')
        reply.headers({ 'Content-Type': 'application/graphql; charset=utf-8', 'Cache-Control': 'no-cache' })
        reply.send(parts.schemaText())
      },
    ),
    {
      ...sameForAll('/', 'A page for people.', async ({ req, reply }) => void sendPage(reply, parts.homePage(req))),
      presentRefusal: parts.homeRefusal,
    },
    get('/api/v3/events/stream', 'Server-sent events: a response without an end.', streamEvents, streamDescription),
    // The phone app uses these paths without the prefix.
    get('/api/v3/auth/users/me/export', 'A document of any size, streamed.', sendExport, exportDescription),
    get('/auth/users/me/export', 'Alias for the phone app.', sendExport),
    get('/api/v3/assets/:nid/proof', 'A file of any size, streamed.', sendProof, proofDescription),
    ...createDocsRoutes(parts.docs, parts.homeRefusal),
    ...bootstrapRoutes,
    ...pictureRoutes,
    ...createFileRoutes(parts),
  ]
}

const noPage = { status: 500, headers: {}, html: '' }
const noParts: DirectParts = {
  missing: async () => [],
  degraded: async () => [],
  version: '',
  schemaText: null,
  homePage: () => noPage,
  docs: { page: noPage, script: '' },
  homeRefusal: () => noPage,
  publicDocuments: new Set(),
  links: { verify: () => undefined },
  gateway: { send: async () => {}, nameOf: (cid) => cid, isProbe: () => false },
}

/** Returns the direct routes without the parts that handle requests, for the OpenAPI document and tests. `ofModules` creates those of modules. */
export const directRouteTable = (ofModules: (parts: FileParts) => DirectRoute[]): DirectRoute[] => [
  ...createDirectRoutes(noParts),
  ...ofModules(noParts),
]
