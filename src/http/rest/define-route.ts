/** Types of REST routes. A route declares its method, path, GraphQL operation, variables and response presenter. */
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
import { type Fields, nothing } from './fields.ts'

/** Tags of the OpenAPI document, in the order of its chapters. */
export const tags = {
  Account: 'Sign up, and manage your account, e-mail address, username and password.',
  Sessions: 'Sign in and out, and manage your sessions and devices.',
  Assets: 'Register files, change their metadata, and read their histories.',
  Files: 'Download registered files, over HTTP or as a trustless IPFS gateway.',
  Quotes: 'Read the cost of a paid request, and all reasons that would reject it. Nothing is changed or charged.',
  Orders: 'Buy actions of network apps.',
  Wallet: 'Read the statement of your wallet.',
  Events: 'Follow events of your assets, orders and wallet, as pages or as a stream.',
  Store: 'Network apps, API keys, webhook deliveries and grants of points, for administrators.',
  Webhooks: 'Calls to the webhook of a network app (Standard Webhooks 1.0).',
  Service: 'Health probes, the version of the service, and this OpenAPI document.',
  'Earlier apps': 'Constants and empty lists for existing apps. Do not use them in new programs.',
} as const

export type Tag = keyof typeof tags
export type Order = 'newest' | 'oldest'
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface RestRequest {
  params: Record<string, string>
  query: URLSearchParams
  body: Fields
  header(name: string): string | undefined
  /** Validation problems of the body, collected for a quote. Undefined if invalid fields reject the request instead. */
  unread?: FieldErrors
  /** Absolute URL of the request without its query string. */
  url: string
}

export interface Description {
  /** Must not change, because generated clients name their functions after it. */
  operationId: string
  tag: Tag
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  /** Error codes of this route, in addition to those that every route can return. */
  errors?: readonly ErrorCode[]
  deprecated?: boolean
}

/** Arguments that select a range of a GraphQL connection. */
export type Part = { [Name in 'first' | 'last' | 'offset']?: number | undefined } & {
  [Name in 'after' | 'before' | 'search']?: string | undefined
}

export interface Connection<Node> {
  totalCount: number
  pageInfo: { startCursor: string | null; endCursor: string | null }
  nodes: Node[]
}

export interface ListSource<Data = unknown, Variables = Record<string, unknown>, Node = unknown> {
  key: string
  order: Order
  partSize: number
  /** True if `totalCount` is counted only up to a maximum. */
  hasBoundedCount: boolean
  /** `far`: links beyond the maximum offset use cursors. `always`: `next` uses a cursor if no `offset` is sent. */
  cursorLinks: 'never' | 'far' | 'always'
  variables(request: RestRequest, part: Part): Variables
  connectionOf(data: Data, part: Part): Connection<Node>
  /** Returns true if no record can match the request, so that the database need not be read. */
  isEmpty?(query: URLSearchParams): boolean
  present(node: Node): unknown
  /** Returns additional keys of the response body, which precede `count`. */
  facts?(data: Data): object
}

export interface Route extends Description {
  method: Method
  /** Path below `/api/v3`. Paths of `auth/` are also served without this prefix. */
  path: string
  /** Action that the policy must permit before the body is read. */
  action: Action
  /** `needed`: the route requires an API key. `possible`: the API key is optional. */
  apiKey?: 'needed' | 'possible'
  headers?: z.ZodObject
  /** Fields of the request body, used only for the OpenAPI document. Use cases validate the input. */
  body?: z.ZodObject
  /** Checks rate limits and funds before the body is read. `declaredBytes`: its Content-Length. */
  admit?(context: Context, declaredBytes: number): Promise<void>
  files?: readonly string[]
  /** Maximum size of one file, in bytes. Default: the maximum size of an asset. */
  maxFileBytes?: number
  /** Name of the field that receives a body that is a JSON list. If omitted, a JSON list is rejected. */
  listAs?: string
  operation: DocumentNode
  variables(request: RestRequest): Record<string, unknown>
  /** HTTP status of a successful response. Default: 200. A response with 204 has no body. */
  status?: number
  /** Schema of the response body. Use `nothing` for status 204. */
  answer: z.ZodType
  /** Routes of lists use `list` instead. */
  present?(data: unknown, request: RestRequest): unknown
  list?: ListSource
  /** Handles a request with `?dry_run=true`. If omitted, such a request is rejected. */
  quote?: Route
  /** True for a quote route. It reports invalid fields instead of rejecting the request. */
  isQuote?: true
  /** Returns the version of the resource for its `ETag`. */
  etag?(data: unknown): string | undefined
}

interface TypedRoute<Data, Variables extends Record<string, unknown>, Body extends z.ZodType> extends Route {
  operation: TypedDocumentNode<Data, Variables>
  variables(request: RestRequest): Variables
  answer: Body
  present(data: Data, request: RestRequest): z.output<Body>
  list?: never
  etag?(data: Data): string | undefined
}

export interface RestResponse {
  status: number
  body?: unknown
  /** Response body as chunks of JSON that are created while they are sent. */
  parts?: AsyncIterable<Uint8Array>
  /** Version of the resource. The `ETag` starts with this version. */
  etag?: string | undefined
}

interface DirectResponse {
  description: string
  mediaType?: string
  schema?: z.ZodType
  /** True if the response has an `ETag`. */
  isVersioned?: boolean
}

export interface DirectDescription extends Description {
  access: 'everybody' | 'user'
  headers?: z.ZodObject
  answers: Record<number, DirectResponse>
}

/** A request to a direct route. The request body is not read yet. */
export interface DirectRequest {
  req: IncomingMessage
  reply: FastifyReply
  /** Node's response object of `reply`, for streams. */
  res: ServerResponse
  params: Record<string, string>
  query: URLSearchParams
  context: Context
}

export interface DirectRoute {
  method: Method
  path: string
  description?: DirectDescription
  /** True if the response is the same for every caller, so that invalid credentials are ignored. */
  ignoresCredentials?: boolean
  /** True for probes, whose requests count against no rate limit. */
  isUncounted?: boolean
  /** True to treat a caller with an expired token as anonymous, such as on the sign-in page. */
  isOpenToStaleTokens?: boolean
  /** Renders an error that occurs before the route's handler is called. Default: a JSON error. */
  presentRefusal?: (refusal: Refusal, req: IncomingMessage) => PageAnswer
  handle: (input: DirectRequest) => Promise<void>
}

/** Defines a REST route whose operation, variables, presenter and response have matching types. */
export const defineRoute = <Data, Variables extends Record<string, unknown>, Body extends z.ZodType>(
  route: TypedRoute<Data, Variables, Body>,
): Route => route

export const defineCommand = <Data, Variables extends Record<string, unknown>>(
  command: Omit<TypedRoute<Data, Variables, z.ZodType>, 'answer' | 'present' | 'status' | 'variables'> & {
    variables?(request: RestRequest): Variables
  },
): Route => ({ variables: () => ({}), ...command, present: () => undefined, status: 204, answer: nothing })

const routeOf =
  <const Name extends Method>(method: Name) =>
  (path: string, operationId: string, tag: Tag, summary = '') => ({ method, path, operationId, tag, summary })

/** Functions that return the basic properties of a route. Set a long summary separately. */
export const [get, post, patch, del] = [routeOf('GET'), routeOf('POST'), routeOf('PATCH'), routeOf('DELETE')] as const
