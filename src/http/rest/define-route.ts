/** A route is data: method, path, a checked-in operation, its variables from the request, and a presenter for the answer. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'
import type { PageAnswer } from '../../modules/pages/page.ts'
import type { Context } from '../../services-context.ts'
import type { ErrorCode, FieldErrors } from '../../shared/errors.ts'
import type { Action } from '../../shared/policy.ts'
import type { Refusal } from '../error-status.ts'
import type { Fields } from './read-body.ts'

/** Chapters of the OpenAPI document, in its order. */
export const tags = {
  Account: 'Signing up, one’s own record, e-mail address, username and password.',
  Sessions: 'Signing in and out, and the devices on which somebody is signed in.',
  Assets: 'Registering files, changing what is said of them, and their histories.',
  Files: 'Bytes of registered files, as HTTP and as a trustless gateway of the file network.',
  Quotes: 'The cost of a paid request, and every reason for which it would be refused. Nothing is written or charged.',
  Orders: 'Buying actions of network apps.',
  Wallet: 'The statement of one’s wallet.',
  Events: 'What happened to what is one’s own, as pages and as a stream.',
  Store: 'Network apps, API keys, webhook deliveries and grants of points, for administrators.',
  Webhooks: 'What the receiver of a network app is called with, after Standard Webhooks 1.0.',
  Service: 'Whether the service lives, can serve, and which version it is.',
  'Earlier apps': 'Constants and empty lists for apps that stop when they get none. Nothing new needs them.',
} as const

export type Tag = keyof typeof tags

/** Direction in which a list is sorted by creation time. */
export type Order = 'newest' | 'oldest'

/** HTTP method of a route. HEAD uses GET. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A request as variables and presenters see it. */
export interface RestRequest {
  /** Path parameters. */
  params: Record<string, string>
  query: URLSearchParams
  body: Fields
  header(name: string): string | undefined
  /** Collects the problems of body fields that a quote cannot read. Undefined for other requests, which are refused for them. */
  unread?: FieldErrors
  /** Absolute URL of the request's path, without its query. */
  url: string
}

/** What the description of the interface tells of a route; what it does tells the rest. */
export interface Description {
  /** Never changed: generated clients name their functions by it. */
  operationId: string
  tag: Tag
  /** A few words, without a full stop. */
  summary: string
  /** What there is to know besides, as Markdown. */
  description?: string
  /** Parameters of the path; each has a description. */
  params?: z.ZodObject
  /** Parameters of the query that are read. */
  query?: z.ZodObject
  /** Refusals of its own, besides those that follow from what the route is. */
  errors?: readonly ErrorCode[]
  /** For callers that exist already, and for nobody new. */
  deprecated?: boolean
}

/** Arguments of a connection that select a part of a list. */
export interface Part {
  first?: number | undefined
  last?: number | undefined
  after?: string | undefined
  before?: string | undefined
  offset?: number | undefined
  search?: string | undefined
}

/** A part of a list, as its operation returns it. */
export interface Connection<Node> {
  totalCount: number
  pageInfo: { startCursor: string | null; endCursor: string | null }
  nodes: Node[]
}

/** How the pages of a list are read. An operation returns a part of a page. */
export interface ListSource<Data = unknown, Variables = Record<string, unknown>, Node = unknown> {
  /** The key of the records in the response. */
  key: string
  /** The order of the connection by creation time. */
  order: Order
  /** Maximum number of records that one operation reads. */
  partSize: number
  /** True when `totalCount` stops at a maximum. */
  hasBoundedCount: boolean
  /**
   * `far`: links continue by cursor where positions are not accepted any more. `always`: the link to the next page is a cursor, unless the
   * caller pages by position.
   */
  cursorLinks: 'never' | 'far' | 'always'
  variables: (request: RestRequest, part: Part) => Variables
  connectionOf: (data: Data, part: Part) => Connection<Node>
  /** Returns whether no record can match the request, so that nothing is read. */
  isEmpty?: ((query: URLSearchParams) => boolean) | undefined
  present: (node: Node) => unknown
  /** Further keys of the response. They precede the count. */
  facts?: ((data: Data) => object) | undefined
}

/** A route that executes an operation. */
export interface Route<
  Data = unknown,
  Variables extends Record<string, unknown> = Record<string, unknown>,
  Body extends z.ZodType = z.ZodType,
> extends Description {
  method: Method
  /** Below `/api/v3`, without a trailing slash; `auth/…` answers without the prefix, too. */
  path: string
  /** Asked of the policy before a body is read. */
  action: Action
  /** Whether a trusted service has to speak for the caller, or may. */
  apiKey?: 'needed' | 'possible'
  /** Headers that are read, besides those that every route of its kind reads. */
  headers?: z.ZodObject
  /** Fields of the body that are read. It describes and checks nothing: services tell what is wrong. */
  body?: z.ZodObject
  /** Checks limits and funds before the body is read. `declaredBytes`: its `Content-Length`. */
  admit?: (context: Context, declaredBytes: number) => Promise<void>
  /** Names of the body's fields in which a file is taken. */
  files?: readonly string[]
  /** Of one file; left out, as large as an asset may be. */
  maxFileBytes?: number
  /** Name under which a body that is a JSON list is read; without one such a body is refused. */
  listAs?: string
  operation: TypedDocumentNode<Data, Variables>
  variables: (request: RestRequest) => Variables
  /** 200 when left out; 204 sends no body. */
  status?: number
  /** What is answered; with 204 `nothing`. */
  answer: Body
  /** Makes the response body. A list has a source instead. */
  present?: (data: Data, request: RestRequest) => z.output<Body>
  list?: ListSource
  /** The route that answers `?dry_run=true`. A route without one rejects such a request. */
  quote?: Route
  /** True when the route is a quote. It reports fields that it cannot read instead of rejecting the request. */
  isQuote?: true
  /** The version of what is answered. */
  etag?: (data: Data) => string | undefined
}

/** An answer of a direct route that is no refusal. */
export interface DirectAnswer {
  /** A sentence. */
  description: string
  /** What it is; without one it has no body. */
  mediaType?: string
  schema?: z.ZodType
  /** Whether it has an `ETag`. */
  isVersioned?: boolean
}

/** What the description of the interface tells of a direct route. */
export interface DirectDescription extends Description {
  access: 'everybody' | 'user'
  headers?: z.ZodObject
  /** By status. */
  answers: Record<number, DirectAnswer>
}

/** A request to a direct route. Its body has not been read. */
export interface DirectRequest {
  req: IncomingMessage
  reply: FastifyReply
  /** The response of `reply`, for streams. */
  res: ServerResponse
  params: Record<string, string>
  query: URLSearchParams
  context: Context
}

/** What cannot be an operation. The table names the reason. */
export interface DirectRoute {
  method: Method
  path: string
  reason: string
  /** Left out of pages, which are for people, of what describes the other door, and of further addresses of what is described already. */
  description?: DirectDescription
  /** Whether it answers everybody the same, so that no credentials are looked at: neither good nor bad ones change anything. */
  ignoresCredentials?: boolean
  /** True when it counts against no limit, so that supervisors and balancers get a response also when a limit is exhausted. */
  isUncounted?: boolean
  /** Whether who comes with a token that is good no more is anonymous here, as where one gets in again. */
  isOpenToStaleTokens?: boolean
  /** How a refusal is told that comes before the route is asked; as JSON where this is left out. */
  presentRefusal?: (refusal: Refusal, req: IncomingMessage) => PageAnswer
  handle: (input: DirectRequest) => Promise<void>
}

/** Ties the operation's types to variables and presenter, and the presenter to the answer; then the table holds them as one kind. */
export const defineRoute = <Data, Variables extends Record<string, unknown>, Body extends z.ZodType>(
  route: Route<Data, Variables, Body> & Required<Pick<Route<Data, Variables, Body>, 'present'>> & { list?: never },
): Route => route as unknown as Route
