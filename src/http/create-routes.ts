import type { FastifyInstance } from 'fastify'
import type { App, Modules } from '../app.ts'
import { createGateway } from '../files/gateway.ts'
import {
  createAdmission,
  createAdmit,
  createExecutor,
  executeOperation,
  RouteRefused,
  refusalOf,
} from '../graphql/execute.ts'
import { createSchema, schemaText } from '../graphql/schema.ts'
import { createGraphQLHandler } from '../graphql/server.ts'
import { credentialRoutes } from '../modules/accounts/credentials.rest.ts'
import { userRoutes } from '../modules/accounts/users.rest.ts'
import { assetLinkRoutes } from '../modules/assets/asset-links.rest.ts'
import { assetRoutes } from '../modules/assets/assets.rest.ts'
import { MAX_FILE_BYTES } from '../modules/assets/register-asset.ts'
import { auditRoutes } from '../modules/audit/audit.rest.ts'
import { commitRoutes } from '../modules/commits/commits.rest.ts'
import { eventRoutes } from '../modules/events/events.rest.ts'
import { createAssetPage } from '../modules/pages/asset/asset-page.ts'
import { createDocumentationRoutes, hasDocumentation, homePage } from '../modules/pages/home.ts'
import { createLookupPage } from '../modules/pages/lookup/lookup-page.ts'
import { emailVerificationPage, passwordResetPage } from '../modules/pages/mailed-forms.ts'
import { type Run, refusalPage } from '../modules/pages/page.ts'
import { createPageRoutes } from '../modules/pages/page-routes.ts'
import { apiKeyRoutes } from '../modules/store/api-keys.rest.ts'
import { networkAppRoutes } from '../modules/store/network-apps.rest.ts'
import { orderRoutes } from '../modules/store/orders.rest.ts'
import { grantRoutes, transferRoutes, walletRoutes } from '../modules/wallet/wallet.rest.ts'
import { webhookDeliveryRoutes } from '../modules/webhooks/webhook-deliveries.rest.ts'
import { type ErrorCode, throttled } from '../shared/errors.ts'
import { createSemaphore } from '../shared/limiters.ts'
import type { Telemetry } from '../telemetry/telemetry-types.ts'
import { createBaseUrl, createClientAddress, createRequestContexts, createRequestLogs } from './create-context.ts'
import { statuses } from './error-status.ts'
import { addRawRoute } from './http-server.ts'
import { findUnavailableParts } from './probes.ts'
import { MAX_BODY_BYTES } from './request-body.ts'
import type { DirectRoute, Route } from './rest/define-route.ts'
import { createDirectRoutes, presentRefusalPage } from './rest/direct-routes.ts'
import type { FileParts } from './rest/file-routes.ts'
import { addRestRoutes } from './rest/rest-handler.ts'

/** REST routes, without the optional modules. */
export const coreRoutes: Route[] = [
  ...credentialRoutes,
  ...userRoutes,
  ...walletRoutes,
  ...auditRoutes,
  ...assetRoutes,
  ...assetLinkRoutes,
  ...commitRoutes,
  ...networkAppRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...orderRoutes,
  ...webhookDeliveryRoutes,
  ...grantRoutes,
  ...transferRoutes,
]

/** Loads the GraphQL schema and the routes of the core and the optional modules. */
export async function loadApi(modules: Modules) {
  const [coins, contentCredentials, admin] = await Promise.all([
    modules.coins?.loadApi(),
    modules.contentCredentials?.loadApi(),
    modules.admin?.loadApi(),
  ])
  return {
    schema: createSchema(),
    routes: [...coreRoutes, ...(coins?.routes ?? []), ...(contentCredentials?.routes ?? [])],
    createDirectRoutes: (parts: FileParts): DirectRoute[] => contentCredentials?.createDirectRoutes(parts) ?? [],
    admin,
  }
}

interface RouteOptions {
  telemetry: Telemetry
  /** Returns the names of components whose folders are missing or belong to another installation. */
  missingFolders(): Promise<string[]>
  /** Returns the names of unavailable components that every request needs. */
  missing(): Promise<string[]>
  /** Returns the names of unavailable components that only some requests need, except the file store. */
  degraded?(): Promise<string[]>
  /** If false, graphql-js executes every operation, so that tests can compare the responses. Default: true. */
  fastPaths?: boolean
}

export async function createRoutes(app: App, options: RouteOptions) {
  const { context: shared, modules, links } = app
  const { config, contentStore, log, meter, publicUrl } = shared
  const { telemetry } = options
  const { watch } = telemetry
  const { schema, routes, createDirectRoutes: createModuleRoutes, admin } = await loadApi(modules)
  const clientAddress = createClientAddress(config)
  const logOf = createRequestLogs(log)
  const baseUrlOf = createBaseUrl({ configured: config.publicUrl, fallback: publicUrl })
  const createContext = createRequestContexts({ shared, logOf, watch, clientAddress, baseUrlOf })

  const bodyLimits = { maxBytes: MAX_BODY_BYTES, maxFileBytes: MAX_FILE_BYTES }
  // Creating a large response uses megabytes and blocks the process.
  const largeAnswers = createSemaphore({ name: 'Large responses', slots: 2, queue: 400, maxWait: 1_500 })
  // Each queued operation keeps its request body in memory.
  const operations = createSemaphore({
    ...{ name: 'Operations', queue: Number.POSITIVE_INFINITY, queuePerKey: 200, maxWait: 5_000 },
    perKey: config.limits['concurrent-operations'],
    reject() {
      meter.count('annal_limit_rejections_total', { limit: 'concurrent-operations' })
      return throttled(1)
    },
  })
  const admission = createAdmission({ operations, largeAnswers })
  const executor = createExecutor(schema, { fastPaths: options.fastPaths ?? true })
  const graphql = createGraphQLHandler({
    ...{ schema, executor, admission, createContext, log, logOf, bodyLimits, telemetry },
    ...config.graphql,
  })
  const executorOfRoutes = {
    ...{ schema, execute: executor.execute, tracer: telemetry.tracer },
    admit: createAdmit(schema, admission),
  }
  const run: Run = (document, variables, context) => executeOperation(executorOfRoutes, document, variables, context)
  const codeOf = (error: unknown) => (error instanceof RouteRefused ? error.refusal.code : undefined)
  const handleAdmin = admin?.createAdminHandler({
    ...{ run, shared, logOf, watch, clientAddress, baseUrlOf, publicUrl },
    toPublicError: refusalOf,
    statusOf: (code: ErrorCode) => statuses[code].status,
  })
  const hasSignedCopy = modules.contentCredentials?.hasSignedCopy
  const fileParts: FileParts = {
    publicDocuments: new Set(Object.values(shared.linkConfig.actionNids)),
    links,
    gateway: createGateway({ contentStore, publicUrl }),
  }
  const directRoutes = [
    ...createDirectRoutes({
      ...fileParts,
      missing: options.missing,
      degraded: async () => [
        ...(await findUnavailableParts({ contentStore, missingFolders: options.missingFolders })),
        ...((await options.degraded?.()) ?? []),
      ],
      version: shared.version,
      schemaText: config.graphql.introspection ? () => schemaText(schema) : null,
      homePage: (req) =>
        homePage({
          baseUrl: baseUrlOf(req),
          hasDocumentation: hasDocumentation(),
          hasPlayground: config.graphql.playground,
          hasSchema: config.graphql.introspection,
        }),
    }),
    ...createModuleRoutes(fileParts),
    ...createDocumentationRoutes(presentRefusalPage),
    ...createPageRoutes({
      pages: {
        forms: [
          createAssetPage({ run, hasSignedCopy }),
          createLookupPage({ run, codeOf }),
          passwordResetPage,
          emailVerificationPage,
        ],
        refusal: refusalPage,
      },
      watch,
    }),
  ]

  return {
    watched: { ...app.watched, queues: { ...app.watched.queues, large_answers: largeAnswers.load } },
    addRoutes(server: FastifyInstance) {
      addRestRoutes(server, {
        ...executorOfRoutes,
        ...{ routes, directRoutes, createContext, logOf, bodyLimits, watch, presentMissing: presentRefusalPage },
      })
      addRawRoute(server, '/graphql', graphql, logOf)
      if (handleAdmin) for (const url of ['/admin', '/admin/*']) addRawRoute(server, url, handleAdmin, logOf)
      server.addHook('preClose', async () => shared.eventStreams.stop())
    },
  }
}
