/** A route is data: method, path, a checked-in operation, its variables from the request, and a presenter for the answer. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { Context } from '../context.ts'
import type { FieldErrors } from '../domain/errors.ts'
import type { Action } from '../domain/policy.ts'
import type { PageAnswer } from '../pages/page.ts'
import type { Fields } from './fields.ts'
import type { Refusal } from './status.ts'

/** What a route is asked by; HEAD goes by GET. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A request as variables and presenters see it. */
export interface RestRequest {
  /** Path parameters. */
  params: Record<string, string>
  query: URLSearchParams
  body: Fields
  header(name: string): string | undefined
  /** Whether only the quote is wanted. */
  dryRun: boolean
  /** What a dry run could not read of the body: the real call is refused for it. */
  unread: FieldErrors
  /** Absolute URL of the request's path, without its query. */
  url: string
}

/** What is known of a request whose body is not read yet. */
export interface Admission {
  dryRun: boolean
  /** What the body says of its own length, in bytes. */
  declaredBytes: number
}

/** A route that executes an operation. */
export interface Route<Data = unknown, Variables extends Record<string, unknown> = Record<string, unknown>> {
  method: Method
  /** Below `/api/v3`, without a trailing slash; `auth/…` answers without the prefix, too. */
  path: string
  /** Asked of the policy before a body is read. */
  action: Action
  /** Asked next, also before a body is read: limits, and what can be refused without it. */
  admit?: (context: Context, request: Admission) => Promise<void>
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
  present: (data: Data, request: RestRequest) => unknown
  /** Answers `?dry_run=true` with 200; a route without it refuses to be tried. */
  presentDryRun?: (data: Data, request: RestRequest) => unknown
  /** The version of what is answered. */
  etag?: (data: Data) => string | undefined
}

/** A request as a direct route gets it: nothing of its body is read. */
export interface DirectRequest {
  req: IncomingMessage
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
  /** Whether who comes with a token that is good no more is anonymous here, as where one gets in again. */
  isOpenToStaleTokens?: boolean
  /** How a refusal is told that comes before the route is asked; as JSON where this is left out. */
  presentRefusal?: (refusal: Refusal, req: IncomingMessage) => PageAnswer
  handle: (input: DirectRequest) => Promise<void>
}

/** Ties the operation's types to variables and presenter; then the table holds them as one kind. */
export const defineRoute = <Data, Variables extends Record<string, unknown>>(route: Route<Data, Variables>): Route =>
  route as unknown as Route
