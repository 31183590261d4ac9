/** The composition root: the services and the two handlers to them. Listens to nothing, reads no environment. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import manifest from '../package.json' with { type: 'json' }
import type { Context, Identity } from './context.ts'
import { passwordLength } from './domain/account/account-input.ts'
import { MAX_FILE_BYTES } from './domain/asset/asset-input.ts'
import { type ErrorCode, throttled, validationFailed } from './domain/errors.ts'
import { parsePosition } from './domain/read-position.ts'
import { createGateway } from './files/gateway.ts'
import { createAdmission, createAdmit } from './graphql/admission.ts'
import { createExecutor } from './graphql/execute.ts'
import { schema } from './graphql/schema.ts'
import { schemaText } from './graphql/schema-text.ts'
import { createGraphQLHandler } from './graphql/yoga.ts'
import { createAdminHandler, createTellRefusal } from './pages/admin/admin-handler.ts'
import { adminRoutes } from './pages/admin/admin-routes.ts'
import { apiDocsPage, apiDocsScript, apiDocsStyle } from './pages/api-docs.ts'
import { createAssetPage } from './pages/asset/asset-page.ts'
import { createEmailVerificationPage } from './pages/email-verification.ts'
import { homePage } from './pages/home.ts'
import { createLookupPage } from './pages/lookup/lookup-page.ts'
import { createPasswordResetPage } from './pages/password-reset.ts'
import { refusalPage } from './pages/refusal.ts'
import type { Run } from './pages/run.ts'
import { createGate } from './platform/gate.ts'
import { createClientAddress } from './platform/http/client-address.ts'
import type { HttpHandler } from './platform/http/http-server.ts'
import { MAX_FIELDS, readForm } from './platform/http/read-form.ts'
import { readText } from './platform/http/read-text.ts'
import { createShares } from './platform/shares.ts'
import { createDirectRoutes } from './rest/direct-routes.ts'
import { executeOperation, RouteRefused, refusalOf } from './rest/execute.ts'
import { createPageRoutes } from './rest/page-routes.ts'
import { createRestHandler } from './rest/rest-handler.ts'
import { routes } from './rest/routes.ts'
import { statuses } from './rest/status.ts'
import { createServices, type ServiceDependencies, type ServiceLayer } from './services.ts'

/** What the application is made of, and what tells whether it is ready. */
export interface Dependencies extends ServiceDependencies {
  /** What is not ready; empty when everything can be served. */
  missing(): Promise<string[]>
  /** What is away besides the file store, while most can be served without it; nothing when left out. */
  degraded?(): Promise<string[]>
}

/** The services, and what serves requests with them. */
export interface App extends ServiceLayer {
  handlers: HttpHandler[]
}

/** Each holds some megabytes at most, and keeps the process busy while it is made. */
const largeAnswerGate = { places: 2, queue: 400, patience: 1_500, what: 'Large answers' }

/** Of what goes beyond an asker's share: each request that waits holds its body. Milliseconds. */
const line = { waiting: 200, patience: 5_000 }
/** As the limit of requests a minute, it is told in THROTTLED. */
const ASK_AGAIN_SECONDS = 1

/** Of a request: the position of what it must be shown; of an answer: the position of what was written. */
const POSITION_HEADER = 'Annal-Read-After'

const SECRET_HEADER = /^(token|bearer)\s+(\S+)\s*$/i
const MAX_KEY_LENGTH = 255
/** Of everything but files. */
const MAX_BODY_BYTES = 1_000_000

/** The secret of `Authorization: token <secret>`; an unknown scheme counts as none. */
const tokenOf = (header: string | undefined) => (header === undefined ? undefined : SECRET_HEADER.exec(header)?.[2])

const noCredentials = { token: undefined, apiKey: undefined }
const credentialsOf = (headers: IncomingHttpHeaders) => ({
  token: tokenOf(headers.authorization),
  // Apps that were built without a key send an empty one.
  apiKey: (headers['x-api-key'] as string | undefined) || undefined,
})

interface ContextOptions {
  /** Whoever asks is anonymous. */
  ignoresCredentials?: boolean
  /** Raises what keeps somebody from asking, before anything else of the request is judged. */
  admit?: (identity: Identity) => void
}

/** Raises VALIDATION_FAILED. */
function positionOf(header: string | undefined) {
  const position = header === undefined ? undefined : parsePosition(header)
  if (header !== undefined && !position) {
    throw validationFailed({ readAfter: [`Expected what an answer's ${POSITION_HEADER} said.`] })
  }
  return position
}

/** Puts GraphQL and REST on the services. Nothing is served before the process hands it to a server. */
export function createApp(deps: Dependencies): App {
  const { config, database, contentStore, telemetry, log, publicUrl } = deps
  const layer = createServices(deps)
  const { services, linkConfig, links } = layer
  const clientAddress = createClientAddress(config)

  const contextWith =
    (cutsPages: boolean) =>
    async (
      req: IncomingMessage,
      res: ServerResponse,
      { ignoresCredentials = false, admit }: ContextOptions = {},
    ): Promise<Context> => {
      const { headers } = req
      const requestId = String(res.getHeader('X-Request-Id'))
      const credentials = ignoresCredentials ? noCredentials : credentialsOf(headers)
      const identity = await services.accounts.authenticate({ ...credentials, address: clientAddress(req) })
      admit?.(identity)
      // What else the headers say is looked at once the request is counted, and whoever asks may ask.
      const key = headers['idempotency-key'] as string | undefined
      if (key !== undefined && (key === '' || key.length > MAX_KEY_LENGTH)) {
        throw validationFailed({ idempotencyKey: [`Expected 1 to ${MAX_KEY_LENGTH} characters.`] })
      }
      const readAfter = positionOf(headers['annal-read-after'] as string | undefined)
      return {
        ...identity,
        services,
        database,
        linkConfig,
        log: () => log.child({ requestId }),
        idempotency: { key, replayed: false },
        cutsPages,
        readAfter,
        tellPosition: (position) => {
          if (!res.headersSent) res.setHeader(POSITION_HEADER, position)
        },
      }
    }

  const body = { readText, readForm, maxBytes: MAX_BODY_BYTES, maxFileBytes: MAX_FILE_BYTES, maxFields: MAX_FIELDS }
  const largeAnswers = createGate(largeAnswerGate)
  const shares = createShares({
    ...line,
    most: config.limits.rootFieldsUnderWay,
    refuse() {
      telemetry.meter.limitRefused('under-way')
      return throttled(ASK_AGAIN_SECONDS)
    },
  })
  const admission = createAdmission({ shares, largeAnswers })
  const carriesOut = createExecutor(schema)
  const graphql = createGraphQLHandler({
    schema,
    executor: carriesOut,
    admission,
    // Documents whose answers could be too large are refused, so no page has to end early.
    createContext: contextWith(false),
    log,
    body,
    telemetry,
    ...config.graphql,
  })
  const executor = {
    schema,
    execute: carriesOut.execute,
    tracer: telemetry.tracer,
    admit: createAdmit(schema, admission),
  }
  const telling = { tell: refusalOf, statusOf: (code: ErrorCode) => statuses[code].status }
  const run: Run = (document, variables, context) => executeOperation(executor, document, variables, context)
  const codeOf = (error: unknown) => (error instanceof RouteRefused ? error.refusal.code : undefined)
  const admin = createAdminHandler({
    ...telling,
    routes: adminRoutes(run, createTellRefusal(telling)),
    shared: { services, database, linkConfig },
    log,
    clientAddress,
    readText,
    isSecure: publicUrl.startsWith('https://'),
  })
  const rest = createRestHandler({
    ...executor,
    routes,
    directRoutes: [
      ...createDirectRoutes({
        missing: deps.missing,
        degraded: async () => [
          ...((await contentStore.isReachable()) ? [] : ['file store']),
          ...((await contentStore.missingNodes?.()) ?? []).map((node) => `file store ${node}`),
          ...((await deps.degraded?.()) ?? []),
        ],
        version: manifest.version,
        schemaText: config.graphql.introspection ? schemaText : null,
        homePage: homePage(publicUrl),
        homeRefusal: ({ code }, req) =>
          refusalPage(code, statuses[code].status, req.headers['accept-language'] ?? '', false),
        docs: { page: apiDocsPage, style: apiDocsStyle, script: apiDocsScript },
        publicDocuments: new Set(Object.values(linkConfig.actionNids)),
        links,
        gateway: createGateway({ contentStore, publicUrl }),
      }),
      ...createPageRoutes({
        pages: {
          forms: [
            createAssetPage({ run, publicUrl }),
            createLookupPage({ run, codeOf }),
            createPasswordResetPage({ passwordLength }),
            createEmailVerificationPage(),
          ],
          refusal: refusalPage,
        },
        readText,
      }),
    ],
    createContext: contextWith(true),
    fallback: { log: () => log },
    publicUrl,
    body,
    watch: telemetry.watch,
  })

  return {
    ...layer,
    watched: { ...layer.watched, queues: { ...layer.watched.queues, large_answers: largeAnswers.load } },
    handlers: [
      { matches: (path) => path === '/graphql' || path === '/graphql/', handle: (req, res) => graphql(req, res) },
      admin,
      { matches: () => true, handle: (req, res) => rest.handle(req, res), drain: () => services.events.stop() },
    ],
  }
}
