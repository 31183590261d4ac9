/** The composition root: creates the routes of both APIs and the pages. Opens no port and reads no environment. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import manifest from '../package.json' with { type: 'json' }
import { type AppDependencies, type AppParts, createAppParts } from './app-parts.ts'
import { createGateway } from './files/gateway.ts'
import { createAdmission, createAdmit, createExecutor } from './graphql/execute.ts'
import { schema, schemaText } from './graphql/schema.ts'
import { createGraphQLHandler } from './graphql/server.ts'
import { createBaseUrl, createClientAddress, createRequestContexts } from './http/create-context.ts'
import { statuses } from './http/error-status.ts'
import type { AddRoutes } from './http/http-server.ts'
import { findAwayParts } from './http/probes.ts'
import { MAX_FIELDS, readForm } from './http/read-form.ts'
import { readText } from './http/request-body.ts'
import type { DirectRoute } from './http/rest/define-route.ts'
import { createDirectRoutes } from './http/rest/direct-routes.ts'
import { executeOperation, RouteRefused, refusalOf } from './http/rest/execute-route.ts'
import { addRestRoutes, type RestDependencies } from './http/rest/rest-handler.ts'
import { routes } from './http/rest/routes.ts'
import { passwordLength, passwordProblem } from './modules/accounts/account-input.ts'
import { createAdminHandler } from './modules/admin/admin-handler.ts'
import { MAX_FILE_BYTES } from './modules/assets/register-asset.ts'
import { createAssetPage } from './modules/pages/asset/asset-page.ts'
import { apiDocsPage, apiDocsScript, homePage } from './modules/pages/home.ts'
import { createLookupPage } from './modules/pages/lookup/lookup-page.ts'
import { createEmailVerificationPage, createPasswordResetPage } from './modules/pages/mailed-forms.ts'
import { type Run, refusalPage } from './modules/pages/page.ts'
import { createPageRoutes } from './modules/pages/page-routes.ts'
import { type ErrorCode, throttled } from './shared/errors.ts'
import type { Log } from './shared/log.ts'
import { createSemaphore } from './shared/semaphore.ts'

/** Parts of the application, and its readiness checks. */
export interface Dependencies extends AppDependencies {
  /** Names of the parts whose folders are missing or belong to another installation. */
  missingFolders(): Promise<string[]>
  /** Returns the names of unavailable parts without which nothing can be served. */
  missing(): Promise<string[]>
  /** Returns the names of other unavailable parts, besides the file store. */
  degraded?(): Promise<string[]>
  /** False executes every operation with graphql-js. Tests use it to compare the answers. Default: true. */
  fastPaths?: boolean
}

/** The context of the process, and its routes. */
export interface App extends AppParts {
  addRoutes: AddRoutes
}

/** A large response holds some megabytes, and keeps the process busy while it is created. */
const largeAnswerOptions = { name: 'Large responses', places: 2, queue: 400, maxWait: 1_500 }

/** Operations of one caller. Each waiting operation holds its request body. */
const operationOptions = { name: 'Operations', queue: Number.POSITIVE_INFINITY, queuePerKey: 200, maxWait: 5_000 }

/** Maximum size of a request body without its files, in bytes. */
const MAX_BODY_BYTES = 1_000_000

/** Renders an error as a page. */
const presentRefusalPage: NonNullable<DirectRoute['presentRefusal']> = ({ code }, { headers }) =>
  refusalPage(code, statuses[code].status, headers['accept-language'] ?? '', false)

/**
 * Adds a route whose handler reads the request and writes the response itself, before Fastify looks at the body. An error of the handler closes
 * the connection: a part of the response may have been sent.
 */
function addRawRoute(
  app: FastifyInstance,
  url: string,
  handle: (req: IncomingMessage, res: ServerResponse) => Promise<unknown>,
  logOf: (res: ServerResponse) => () => Log,
): void {
  app.all(url, {
    // The third parameter tells Fastify not to continue by itself.
    onRequest({ raw: req }, reply, _done) {
      const { raw: res } = reply.hijack()
      handle(req, res).catch((error: unknown) => {
        logOf(res)().error({ err: error }, 'Request handler failed; connection closed')
        res.destroy()
      })
    },
    handler: () => undefined,
  })
}

/** Creates the application. `addRoutes` adds its routes to a server. */
export function createApp(deps: Dependencies): App {
  const { config, contentStore, telemetry, log, publicUrl } = deps
  const layer = createAppParts(deps)
  const { linkConfig, links } = layer
  const clientAddress = createClientAddress(config)
  const { watch } = telemetry
  /** Lines of a request have its ID. */
  const logOf = (res: ServerResponse) => () => log.child({ requestId: res.getHeader('X-Request-Id') })
  const baseUrlOf = createBaseUrl({ configured: config.publicUrl, fallback: publicUrl })
  const shared = layer.context
  const createContext = createRequestContexts({ shared, logOf, watch, clientAddress, baseUrlOf })

  const body = { readText, readForm, maxBytes: MAX_BODY_BYTES, maxFileBytes: MAX_FILE_BYTES, maxFields: MAX_FIELDS }
  const largeAnswers = createSemaphore(largeAnswerOptions)
  const operations = createSemaphore({
    ...operationOptions,
    perKey: config.limits['concurrent-operations'],
    reject() {
      telemetry.meter.count('annal_limit_rejections_total', { limit: 'concurrent-operations' })
      return throttled(1)
    },
  })
  const admission = createAdmission({ operations, largeAnswers })
  const executor = createExecutor(schema, { fastPaths: deps.fastPaths ?? true })
  const graphql = createGraphQLHandler({
    schema,
    executor,
    admission,
    createContext,
    log,
    logOf,
    body,
    telemetry,
    ...config.graphql,
  })
  const executorOfRoutes = {
    schema,
    execute: executor.execute,
    tracer: telemetry.tracer,
    admit: createAdmit(schema, admission),
  }
  const telling = { tell: refusalOf, statusOf: (code: ErrorCode) => statuses[code].status }
  const run: Run = (document, variables, context) => executeOperation(executorOfRoutes, document, variables, context)
  const codeOf = (error: unknown) => (error instanceof RouteRefused ? error.refusal.code : undefined)
  const handleAdmin = createAdminHandler({
    ...telling,
    run,
    shared,
    logOf,
    watch,
    clientAddress,
    baseUrlOf,
    readText,
    publicUrl,
  })
  const rest: RestDependencies = {
    ...executorOfRoutes,
    routes,
    directRoutes: [
      ...createDirectRoutes({
        missing: deps.missing,
        degraded: async () => [...(await findAwayParts(deps)), ...((await deps.degraded?.()) ?? [])],
        version: manifest.version,
        schemaText: config.graphql.introspection ? schemaText : null,
        homePage: (req) =>
          homePage({
            baseUrl: baseUrlOf(req),
            hasPlayground: config.graphql.playground,
            hasSchema: config.graphql.introspection,
          }),
        homeRefusal: presentRefusalPage,
        docs: { page: apiDocsPage, script: apiDocsScript },
        publicDocuments: new Set(Object.values(linkConfig.actionNids)),
        links,
        gateway: createGateway({ contentStore, publicUrl }),
      }),
      ...createPageRoutes({
        pages: {
          forms: [
            createAssetPage({ run }),
            createLookupPage({ run, codeOf }),
            createPasswordResetPage({ passwordLength, passwordProblem }),
            createEmailVerificationPage(),
          ],
          refusal: refusalPage,
        },
        readText,
        watch,
      }),
    ],
    createContext,
    logOf,
    presentMissing: presentRefusalPage,
    body,
    watch,
  }

  return {
    ...layer,
    watched: { ...layer.watched, queues: { ...layer.watched.queues, large_answers: largeAnswers.load } },
    addRoutes(app) {
      addRestRoutes(app, rest)
      addRawRoute(app, '/graphql', graphql, logOf)
      for (const url of ['/admin', '/admin/*']) addRawRoute(app, url, handleAdmin, logOf)
      app.addHook('preClose', async () => layer.context.eventStreams.stop())
    },
  }
}
