/** Types of routes. A route is data: method, path, GraphQL operation, its variables, and a presenter of the response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { FastifyReply } from 'fastify'
import type { DocumentNode } from 'graphql'
import type { z } from 'zod'
import type { Context } from '../../context.ts'
import type { PageAnswer } from '../../modules/pages/page.ts'
import type { ErrorCode, FieldErrors } from '../../shared/errors.ts'
import type { Action } from '../../shared/policy.ts'
import type { Refusal } from '../error-status.ts'
import type { Fields } from './read-body.ts'
import { nothing } from './values.ts'

/** Chapters of the OpenAPI document, in its order. */
export const tags = {
  Account: 'Sign up, and manage your account, e-mail address, username and password.',
  Sessions: 'Sign in and out, and manage your sessions and devices.',
  Assets: 'Register files, change their metadata, and read their histories.',
  Files: 'Download registered files, over HTTP or as a trustless IPFS gateway.',
  Quotes: 'The cost of a paid request, and every reason for which it would be refused. Nothing is written or charged.',
  Orders: 'Buy actions of network apps.',
  Wallet: 'Read the statement of your wallet.',
  Events: 'Follow events of your assets, orders and wallet, as pages or as a stream.',
  Store: 'Network apps, API keys, webhook deliveries and grants of points, for administrators.',
  Webhooks: 'Calls to the webhook of a network app (Standard Webhooks 1.0).',
  Service: 'Probes, the version, and this document.',
  'Earlier apps': 'Constants and empty lists for existing apps. Do not use them in new programs.',
} as const

export type Tag = keyof typeof tags

/** Direction in which a list is sorted by creation time. */
export type Order = 'newest' | 'oldest'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface RestRequest {
  params: Record<string, string>
  query: URLSearchParams
  body: Fields
  header(name: string): string | undefined
  /** Problems of body fields, for a quote. Undefined for other requests, which are rejected instead. */
  unread?: FieldErrors
  /** Absolute URL of the request's path, without its query. */
  url: string
}

/** Description of a route in the OpenAPI document. */
export interface Description {
  /** Must not change, because generated clients name their functions after it. */
  operationId: string
  tag: Tag
  summary: string
  /** Markdown. */
  description?: string
  params?: z.ZodObject
  /** Parameters that the route reads. */
  query?: z.ZodObject
  /** Specific error codes, in addition to those of every route of its kind. */
  errors?: readonly ErrorCode[]
  /** True for routes that exist only for earlier callers. */
  deprecated?: boolean
}

/** Arguments of a GraphQL connection that select a part of a list. */
export type Part = {
  first?: number | undefined
  last?: number | undefined
  after?: string | undefined
  before?: string | undefined
  offset?: number | undefined
  search?: string | undefined
}

/** One page of a list, as the GraphQL operation returns it. */
export interface Connection<Node> {
  totalCount: number
  pageInfo: { startCursor: string | null; endCursor: string | null }
  nodes: Node[]
}

/** Pagination of a list. An operation returns a part of a page. */
export interface ListSource<Data = unknown, Variables = Record<string, unknown>, Node = unknown> {
  key: string
  order: Order
  /** Maximum number of records that one operation reads. */
  partSize: number
  /** True if `totalCount` stops at a maximum. */
  hasBoundedCount: boolean
  /** `far`: links use cursors beyond the maximum offset. `always`: `next` is a cursor unless the caller sends an offset. */
  cursorLinks: 'never' | 'far' | 'always'
  variables(request: RestRequest, part: Part): Variables
  connectionOf(data: Data, part: Part): Connection<Node>
  /** Returns true if no record can match the request. Then nothing is read. */
  isEmpty?(query: URLSearchParams): boolean
  present(node: Node): unknown
  /** Further keys of the response, before `count`. */
  facts?(data: Data): object
}

export interface Route extends Description {
  method: Method
  /** Path below `/api/v3`, without a trailing slash. `auth/…` is also served without the prefix. */
  path: string
  /** Checked by the policy before the body is read. */
  action: Action
  /** `needed`: an API key is required. `possible`: it is accepted. */
  apiKey?: 'needed' | 'possible'
  headers?: z.ZodObject
  /** Fields of the body, for the description only. Use cases validate input. */
  body?: z.ZodObject
  /** Checks limits and funds before the body is read. `declaredBytes`: its `Content-Length`. */
  admit?(context: Context, declaredBytes: number): Promise<void>
  /** Names of the body fields that accept a file. */
  files?: readonly string[]
  /** Maximum size of one file, in bytes. Default: the maximum size of an asset. */
  maxFileBytes?: number
  /** Field name for a body that is a JSON list. Without a name, such a body is rejected. */
  listAs?: string
  operation: DocumentNode
  variables(request: RestRequest): Record<string, unknown>
  /** Default: 200. The response of 204 has no body. */
  status?: number
  /** Schema of the response body. `nothing` for 204. */
  answer: z.ZodType
  /** Creates the response body. A list has `list` instead. */
  present?(data: unknown, request: RestRequest): unknown
  list?: ListSource
  /** The route that answers `?dry_run=true`. Without it, such a request is rejected. */
  quote?: Route
  /** True for a quote, which reports invalid fields instead of rejecting the request. */
  isQuote?: true
  /** Returns the version of the resource. */
  etag?(data: unknown): string | undefined
}

/** A route whose operation, variables, presenter and response have matching types. */
interface TypedRoute<Data, Variables extends Record<string, unknown>, Body extends z.ZodType> extends Route {
  operation: TypedDocumentNode<Data, Variables>
  variables(request: RestRequest): Variables
  answer: Body
  present(data: Data, request: RestRequest): z.output<Body>
  list?: never
  etag?(data: Data): string | undefined
}

export interface Answer {
  status: number
  /** The body, which is sent as JSON. */
  body?: unknown
  /** The body in parts of JSON that are created while they are sent. */
  parts?: AsyncIterable<Uint8Array>
  /** Version of the resource. The `ETag` begins with it. */
  etag?: string | undefined
}

/** A successful response of a direct route. */
interface DirectAnswer {
  description: string
  /** Missing for an empty body. */
  mediaType?: string
  schema?: z.ZodType
  /** True if the response has an `ETag`. */
  isVersioned?: boolean
}

export interface DirectDescription extends Description {
  access: 'everybody' | 'user'
  headers?: z.ZodObject
  /** Responses by status. */
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

/** A route that executes no GraphQL operation. */
export interface DirectRoute {
  method: Method
  path: string
  /** Missing for pages, for the GraphQL schema, and for aliases. */
  description?: DirectDescription
  /** True if the response is the same for every caller. Invalid credentials are ignored. */
  ignoresCredentials?: boolean
  /** True for probes: the request counts against no limit. */
  isUncounted?: boolean
  /** True to treat a caller with an expired token as anonymous, such as on the sign-in page. */
  isOpenToStaleTokens?: boolean
  /** Presents an error that occurs before the route is called. Errors are JSON when missing. */
  presentRefusal?: (refusal: Refusal, req: IncomingMessage) => PageAnswer
  handle: (input: DirectRequest) => Promise<void>
}

/** Checks that operation, variables, presenter and response of a route have matching types. */
export const defineRoute = <Data, Variables extends Record<string, unknown>, Body extends z.ZodType>(
  route: TypedRoute<Data, Variables, Body>,
): Route => route

type Command<Data, Variables extends Record<string, unknown>> = Omit<
  TypedRoute<Data, Variables, z.ZodType>,
  'answer' | 'present' | 'status' | 'variables'
> & { variables?(request: RestRequest): Variables }

/** Defines a route that changes something and has no response body. */
export const defineCommand = <Data, Variables extends Record<string, unknown>>(
  command: Command<Data, Variables>,
): Route => ({ variables: () => ({}), ...command, present: () => undefined, status: 204, answer: nothing })

const routeOf =
  <const Name extends Method>(method: Name) =>
  (path: string, operationId: string, tag: Tag, summary = '') => ({ method, path, operationId, tag, summary })

/** Method, path, operation ID, chapter and summary of a route. A long summary is a field beside them. */
export const [get, post, patch, del] = [routeOf('GET'), routeOf('POST'), routeOf('PATCH'), routeOf('DELETE')] as const
