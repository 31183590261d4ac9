/** Routes that execute no GraphQL operation: probes, documents, pages, streams, and constants for existing apps. */
import { readFile } from 'node:fs/promises'
import fastify from 'fastify'
import { z } from 'zod'
import { exportDescription, pictureRoutes, sendExport } from '../../modules/accounts/users.rest.ts'
import { proofDescription, sendProof } from '../../modules/commits/commits.rest.ts'
import { streamDescription, streamEvents } from '../../modules/events/events.rest.ts'
import { apiDocsPage, apiDocsScript } from '../../modules/pages/home.ts'
import { type PageAnswer, refusalPage } from '../../modules/pages/page.ts'
import { memoizeAsync } from '../../shared/async.ts'
import { notFound } from '../../shared/errors.ts'
import { assertMay } from '../../shared/policy.ts'
import { statuses } from '../error-status.ts'
import { corsHeaders, prepareFile, sendJson, sendPage, sendStaticFile } from '../http-server.ts'
import { createProbes, type ProbeParts, sendProbe } from '../probes.ts'
import type { DirectDescription, DirectRequest, DirectRoute } from './define-route.ts'
import { always } from './fields.ts'
import { createFileRoutes, type FileParts } from './file-routes.ts'

interface DirectParts extends FileParts, ProbeParts {
  schemaText: (() => string) | null
  homePage: (req: DirectRequest['req']) => PageAnswer
}

export const presentRefusalPage: NonNullable<DirectRoute['presentRefusal']> = ({ code }, { headers }) =>
  refusalPage(code, statuses[code].status, headers['accept-language'] ?? '', false)

const openApi = z
  .looseObject({ openapi: z.string().describe('Version of the OpenAPI specification.') })
  .meta({ id: 'Description', description: 'An OpenAPI document.' })

async function loadDocument(): Promise<Buffer> {
  const text = await readFile(new URL('./generated/openapi.json', import.meta.url), 'utf8')
  return Buffer.from(JSON.stringify(JSON.parse(text)))
}

/** Loads the script of Scalar. Scalar's own Fastify plugin needs inline scripts. */
async function loadScalar(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(scalar, { configuration: { url: '/api/v3/openapi.json' } })
  const { rawPayload } = await app.inject('/reference/js/scalar.js')
  await app.close()
  return rawPayload
}

const file = (path: string, type: string, headers: object, loadBytes: () => Promise<Buffer>): DirectRoute => {
  const load = memoizeAsync(async () => prepareFile(await loadBytes()))
  const allHeaders = { 'Content-Type': type, ...headers, 'Cache-Control': 'public, no-cache' }
  return {
    ...{ method: 'GET', path, ignoresCredentials: true },
    handle: async ({ req, res }) => sendStaticFile(req, res, await load(), allHeaders),
  }
}

const html = 'text/html; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'
const docsRoutes: DirectRoute[] = [
  {
    ...file('/api/v3/openapi.json', 'application/json', corsHeaders, loadDocument),
    description: {
      ...{ operationId: 'getDescription', tag: 'Service', access: 'everybody', summary: 'Read the OpenAPI document' },
      answers: {
        200: { description: 'OpenAPI document.', mediaType: 'application/json', schema: openApi, isVersioned: true },
        304: { description: 'The document has not changed.', isVersioned: true },
      },
    },
  },
  {
    ...file('/api/v3/docs', html, apiDocsPage.headers, async () => Buffer.from(apiDocsPage.html)),
    presentRefusal: presentRefusalPage,
  },
  file('/api/v3/docs/page.js', javascript, {}, async () => Buffer.from(apiDocsScript)),
  file('/api/v3/docs/scalar.js', javascript, {}, loadScalar),
]

const appInfo = { latest_app_version: '0.0.0', update_urgency: 'low' }
const appInfoRecord = z
  .object({
    latest_app_version: z.literal(appInfo.latest_app_version),
    update_urgency: z.literal(appInfo.update_urgency),
  })
  .meta({ id: 'AppInfo', description: 'Update check of phone apps. It never requires an update.' })

const emptyPage = { count: 0, next: null, previous: null, results: [] }
const emptyPageRecord = z
  .object({ count: always(0), next: always(null), previous: always(null), results: z.array(z.unknown()).max(0) })
  .meta({ id: 'EmptyPage', description: 'A page of a list that is always empty.' })

/** Phone apps request these paths at start, and stop if a request fails. Only lists have the third item, `access`. */
const constants: [operationId: string, path: string, access?: DirectDescription['access']][] = [
  ['getAppInfo', '/api/v3/app-info'],
  ['getServicesAppInfo', '/api/v3/services/app-info'],
  ['listSeries', '/api/v3/series', 'everybody'],
  ['listProducts', '/api/v3/products', 'everybody'],
  ['listStoreProducts', '/api/v3/store/products', 'everybody'],
  ['listContacts', '/api/v3/contacts', 'user'],
  ['listInbox', '/api/v3/transactions/inbox', 'user'],
  ['listTransactions', '/api/v3/transactions', 'user'],
  ['listTransactionsOfVersion2', '/api/v2/transactions', 'user'],
]

const constantRoutes = constants.map(([operationId, path, listAccess]): DirectRoute => {
  const access = listAccess ?? 'everybody'
  const summary = listAccess ? `The empty list ${path}` : 'Check for an app update'
  const schema = listAccess ? emptyPageRecord : appInfoRecord
  return {
    ...{ method: 'GET', path, ignoresCredentials: access === 'everybody' },
    description: {
      ...{ operationId, summary, access, tag: 'Earlier apps', deprecated: true },
      answers: { 200: { description: 'A constant response.', mediaType: 'application/json', schema } },
    },
    async handle({ reply, context }) {
      if (access === 'user') assertMay(context.actor, 'account:read')
      sendJson(reply, listAccess ? emptyPage : appInfo)
    },
  }
})

const missing = z.array(z.string()).describe('Names of the unavailable components.').optional()

/** `id` and `about`: name and description of the response schema. */
const json = (id: string, shape: z.core.$ZodLooseShape, description: string, about = description) => ({
  ...{ description, mediaType: 'application/json' },
  schema: z.object(shape).meta({ id, description: about }),
})
const describeProbe = (operationId: string, summary: string, answers: DirectDescription['answers']) => ({
  ...{ operationId, summary, answers, tag: 'Service' as const, access: 'everybody' as const },
})
const ready = { status: z.enum(['ok', 'degraded']), missing }
const unready = { status: z.enum(['unavailable', 'starting', 'stopping']), missing }
const version = { version: z.string().describe('Version of the Annal package.') }
const probeDescriptions = {
  healthz: describeProbe('getHealth', 'Check that the process runs', {
    200: json('Health', { status: z.literal('ok') }, 'The process runs.'),
  }),
  readyz: describeProbe('getReadiness', 'Check readiness', {
    200: json('Readiness', ready, 'Ready. If `degraded`, some requests fail.', 'The service can serve requests.'),
    503: json('Unreadiness', unready, 'The process cannot serve requests.'),
  }),
  version: describeProbe('getVersion', 'Read the version', {
    200: json('Version', version, 'The version of the running service.'),
  }),
}

export function createDirectRoutes(parts: DirectParts): DirectRoute[] {
  type Handle = DirectRoute['handle']
  const get = (path: string, handle: Handle, more?: Partial<DirectRoute>): DirectRoute => {
    return { method: 'GET', path, handle, ...more }
  }
  const ignoresCredentials = true
  const probes = createProbes(parts)
  const probe = (name: keyof typeof probes): DirectRoute => {
    const options = { ignoresCredentials, description: probeDescriptions[name], isUncounted: name !== 'version' }
    return get(`/${name}`, async ({ reply }) => sendProbe(reply, await probes[name]()), options)
  }
  const sendSchema: Handle = async ({ reply }) => {
    if (!parts.schemaText) throw notFound('Schema')
    reply.headers({ 'Content-Type': 'application/graphql; charset=utf-8', 'Cache-Control': 'no-cache' })
    reply.send(parts.schemaText())
  }
  const sendHome: Handle = async ({ req, reply }) => void sendPage(reply, parts.homePage(req))

  return [
    probe('healthz'),
    probe('readyz'),
    probe('version'),
    get('/schema.graphql', sendSchema, { ignoresCredentials }),
    get('/', sendHome, { ignoresCredentials, presentRefusal: presentRefusalPage }),
    get('/api/v3/events/stream', streamEvents, { description: streamDescription }),
    get('/api/v3/auth/users/me/export', sendExport, { description: exportDescription }),
    // The phone app calls this path without the prefix `/api/v3`.
    get('/auth/users/me/export', sendExport),
    get('/api/v3/assets/:nid/proof', sendProof, { description: proofDescription }),
    ...docsRoutes,
    ...constantRoutes,
    ...pictureRoutes,
    ...createFileRoutes(parts),
  ]
}

const noParts: DirectParts = {
  missing: async () => [],
  degraded: async () => [],
  version: '',
  schemaText: null,
  homePage: () => ({ status: 500, headers: {}, html: '' }),
  publicDocuments: new Set(),
  links: { verify: () => undefined },
  gateway: { send: async () => {}, nameOf: (cid) => cid, isProbe: () => false },
}

/** Returns all direct routes, without working handlers. `ofModules`: routes of modules. */
export const directRouteTable = (ofModules: (parts: FileParts) => DirectRoute[]): DirectRoute[] => [
  ...createDirectRoutes(noParts),
  ...ofModules(noParts),
]
