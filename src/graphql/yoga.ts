/** The GraphQL door. Its plugin list reads as the life of a request. */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { Log } from '../domain/ports.ts'
import { maskError } from './mask-error.ts'
import { useErrorHeaders } from './use-error-headers.ts'
import { useReplayHeader } from './use-replay-header.ts'
import { useUploads } from './use-uploads.ts'

export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
}

const examples = readFileSync(new URL('./playground.graphql', import.meta.url), 'utf8')

export function createGraphQLHandler({
  schema,
  createContext,
  log,
  maxFileBytes,
}: {
  schema: GraphQLSchema
  createContext: (req: IncomingMessage, res: ServerResponse) => Promise<Context>
  log: Log
  maxFileBytes: number
}) {
  return createYoga<NodeContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    context: ({ req, res }) => createContext(req, res),
    maskedErrors: { maskError: (error) => maskError(error, log) },
    plugins: [useUploads({ maxFileBytes }), useReplayHeader(), useErrorHeaders()],
    cors: { origin: '*', credentials: false, exposedHeaders: ['Idempotency-Replayed', 'Retry-After', 'X-Request-Id'] },
    graphiql: { title: 'Annal', defaultQuery: examples, defaultTabs: undefined },
    renderGraphiQL,
    landingPage: false,
    // Files come through graphql-upload-ts, which streams them to disk.
    multipart: false,
    batching: false,
    logging: {
      debug: (...parts) => log.debug({}, parts.join(' ')),
      info: (...parts) => log.info({}, parts.join(' ')),
      warn: (...parts) => log.warn({}, parts.join(' ')),
      error: (...parts) => log.debug({}, parts.join(' ')),
    },
  })
}
