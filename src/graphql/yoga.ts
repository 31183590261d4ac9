/** The GraphQL door. Its plugin list reads as the life of a request. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type { Log } from '../domain/ports.ts'
import { maskError } from './mask-error.ts'
import { createPlayground, wantsPlayground } from './playground.ts'
import { useErrorVocabulary } from './use-error-vocabulary.ts'
import { useReplayHeader } from './use-replay-header.ts'
import { type RequestBodyOptions, useRequestBody } from './use-request-body.ts'

export interface NodeContext {
  req: IncomingMessage
  res: ServerResponse
}

export function createGraphQLHandler({
  schema,
  createContext,
  log,
  body,
}: {
  schema: GraphQLSchema
  createContext: (req: IncomingMessage, res: ServerResponse) => Promise<Context>
  log: Log
  body: RequestBodyOptions
}) {
  const playground = createPlayground()
  const yoga = createYoga<NodeContext, Context>({
    schema,
    graphqlEndpoint: '/graphql',
    context: ({ req, res }) => createContext(req, res),
    maskedErrors: { maskError: (error) => maskError(error, log) },
    plugins: [useRequestBody(body), useReplayHeader(), useErrorVocabulary()],
    cors: { origin: '*', credentials: false, exposedHeaders: ['Idempotency-Replayed', 'Retry-After', 'X-Request-Id'] },
    graphiql: false,
    landingPage: false,
    multipart: false,
    // Bounded where they are read: see use-request-body.ts.
    maxRequestBodySize: false,
    batching: false,
    logging: {
      debug: (...parts) => log.debug({}, parts.join(' ')),
      info: (...parts) => log.info({}, parts.join(' ')),
      warn: (...parts) => log.warn({}, parts.join(' ')),
      error: (...parts) => log.debug({}, parts.join(' ')),
    },
  })
  return (req: IncomingMessage, res: ServerResponse) => (wantsPlayground(req) ? playground(req, res) : yoga(req, res))
}
