/**
 * Serves the pages for administrators: a session of their own in a cookie, forms that no other site can send, and nothing that an
 * interface takes. What they show and do are the operations of the interfaces; no rule stands here.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import createRouter from 'find-my-way'
import { html } from 'hono/html'
import type { Context } from '../../context.ts'
import { DomainError, type ErrorCode, notFound } from '../../domain/errors.ts'
import type { Refused } from './action.ts'
import { refusalNotice } from './action.ts'
import { type AdminAnswer, type AdminRequest, type AdminRoute, adminHeaders, renderAdminPage } from './admin-page.ts'
import { heading } from './parts.ts'
import { clearedCookie, secretOf, sessionCookie } from './session-cookie.ts'
import { signInPage } from './sign-in-page.ts'

/** A refusal as the interfaces tell it. */
export interface Told {
  code: ErrorCode
  message: string
  details?: unknown
  retryAfter?: number | undefined
}

/** What the handler needs of the application. */
export interface AdminParts {
  routes: readonly AdminRoute[]
  /** What is the same in the context of every request. */
  shared: Pick<Context, 'services' | 'database' | 'linkConfig'>
  log: Context['log']
  clientAddress(req: IncomingMessage): string
  /** Raises UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, PARSE_ERROR. */
  readText(req: IncomingMessage, maxBytes: number): Promise<string>
  /** How an error is told; a fault is logged. */
  tell(error: unknown, context: Pick<Context, 'log'>): Told
  statusOf(code: ErrorCode): number
  /** Whether people reach the service by https. */
  isSecure: boolean
}

const MAX_FORM_BYTES = 50_000
const SIGN_IN = '/admin/sign-in'
const SIGN_OUT = '/admin/sign-out'

/** What a form of this session brings back. Whoever knows it knows the session's secret. */
const formTokenOf = (secret: string | undefined) =>
  createHmac('sha256', secret ?? '')
    .update('admin-form')
    .digest('base64url')

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/**
 * Whether a form comes from a page of ours, as browsers tell: by `Sec-Fetch-Site`, where they send it, else by `Origin`. Who sends neither is
 * no browser.
 */
function isOwnForm({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}

const forged = () =>
  new DomainError(
    'PERMISSION_DENIED',
    'This form was not sent by a page of ours, or is older than your session. Load the page again.',
  )

const isFields = (details: unknown): details is Record<string, string[]> =>
  typeof details === 'object' && details !== null && !Array.isArray(details)

/** An address of ours to come back to, or the overview. */
const nextOf = (wanted: string | null) => (wanted && /^\/admin(\/|$)[\w\-./?=&%]*$/.test(wanted) ? wanted : '/admin')

/** The handler of everything at `/admin`. */
export function createAdminHandler(parts: AdminParts) {
  const { shared, isSecure, log, tell, statusOf } = parts
  const { adminSessions } = shared.services
  const router = createRouter({ ignoreTrailingSlash: true })
  for (const route of parts.routes) router.on(route.method, route.path, () => {}, route)

  async function contextOf(req: IncomingMessage, res: ServerResponse): Promise<Context> {
    const requestId = String(res.getHeader('X-Request-Id'))
    const actor = await adminSessions.authenticate(secretOf(req, isSecure), parts.clientAddress(req))
    const idempotency = { key: undefined, replayed: false }
    return { ...shared, actor, hasStaleToken: false, log: log.child({ requestId }), idempotency, cutsPages: true }
  }

  async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
    if (!isOwnForm(req)) throw forged()
    const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
    if (type !== 'application/x-www-form-urlencoded')
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'A form is sent as application/x-www-form-urlencoded.')
    return new URLSearchParams(await parts.readText(req, MAX_FORM_BYTES))
  }

  function send(req: IncomingMessage, res: ServerResponse, answer: AdminAnswer, request: AdminRequest, path: string) {
    if ('redirect' in answer) {
      res.writeHead(303, { Location: answer.redirect, 'Cache-Control': 'no-store' }).end()
      return
    }
    const text = renderAdminPage(answer, path, request)
    res.writeHead(answer.status ?? 200, { ...adminHeaders, 'Content-Length': Buffer.byteLength(text) })
    res.end(req.method === 'HEAD' ? undefined : text)
  }

  async function signIn(request: AdminRequest, req: IncomingMessage, res: ServerResponse): Promise<AdminAnswer> {
    const next = nextOf((req.method === 'POST' ? request.form : request.query).get('next'))
    if (req.method !== 'POST') return signInPage(next)
    const [email, password] = [request.form.get('email') ?? '', request.form.get('password') ?? '']
    try {
      const secret = await adminSessions.signIn(parts.clientAddress(req), { email, password })
      res.setHeader('Set-Cookie', sessionCookie(secret, isSecure))
      return { redirect: next }
    } catch (error) {
      const { code, message, retryAfter } = tell(error, request.context)
      if (retryAfter !== undefined) res.setHeader('Retry-After', String(retryAfter))
      return signInPage(next, { status: statusOf(code), message, email })
    }
  }

  async function signOut({ context: { actor } }: AdminRequest, res: ServerResponse): Promise<AdminAnswer> {
    await adminSessions.signOut(actor)
    res.setHeader('Set-Cookie', clearedCookie(isSecure))
    return { redirect: SIGN_IN }
  }

  async function answer(
    request: AdminRequest,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
  ): Promise<AdminAnswer> {
    if (path === SIGN_IN) {
      if (req.method === 'POST') request.form = await readForm(req)
      return signIn(request, req, res)
    }
    if (request.context.actor.kind !== 'user') {
      const next = req.method === 'GET' && path !== SIGN_OUT ? `?${new URLSearchParams({ next: req.url! })}` : ''
      return { redirect: SIGN_IN + next }
    }
    if (req.method === 'POST') {
      request.form = await readForm(req)
      if (!isSame(request.form.get('form-token') ?? '', request.formToken)) throw forged()
      if (path === SIGN_OUT) return signOut(request, res)
    }
    const found = router.find(req.method === 'POST' ? 'POST' : 'GET', path)
    if (!found) throw notFound('Page')
    request.params = found.params as Record<string, string>
    const key = request.form.get('key') || undefined
    const context = { ...request.context, idempotency: { key, replayed: false } }
    return (found.store as AdminRoute).answer({ ...request, context })
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = req.url ?? '/'
    const mark = url.indexOf('?')
    const path = (mark < 0 ? url : url.slice(0, mark)).replace(/(?<=.)\/$/, '')
    let request: AdminRequest | undefined
    try {
      const context = await contextOf(req, res)
      const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
      const formToken = formTokenOf(secretOf(req, isSecure))
      request = { params: {}, query, form: new URLSearchParams(), context, formToken }
      if (!['GET', 'HEAD', 'POST'].includes(req.method ?? ''))
        throw new DomainError('METHOD_NOT_ALLOWED', `Method "${req.method}" not allowed.`)
      send(req, res, await answer(request, req, res, path), request, path)
    } catch (error) {
      trouble(error, req, res, request, path)
    }
  }

  /** Instead of a page that could not be made. */
  function trouble(
    error: unknown,
    req: IncomingMessage,
    res: ServerResponse,
    request: AdminRequest | undefined,
    path: string,
  ) {
    if (res.headersSent) return void res.destroy()
    const { code, message, retryAfter } = tell(error, request?.context ?? { log })
    if (retryAfter !== undefined) res.setHeader('Retry-After', String(retryAfter))
    const title = code === 'NOT_FOUND' ? 'There is no such page' : 'That did not work'
    const content = html`${heading(title)}${refusalNotice(message)}<p><a href="/admin">To the overview</a></p>`
    const nobody = { kind: 'anonymous', address: '', service: undefined } as const
    const shown = request ?? {
      ...{ params: {}, query: new URLSearchParams(), form: new URLSearchParams(), formToken: '' },
      context: {
        ...shared,
        actor: nobody,
        hasStaleToken: false,
        log,
        idempotency: { key: undefined, replayed: false },
        cutsPages: true,
      },
    }
    send(req, res, { status: statusOf(code), title, content }, shown, path)
  }

  return { matches: (path: string) => path === '/admin' || path.startsWith('/admin/'), handle }
}

/** Tells what a person can do something about: everything that is refused, but for what is missing altogether. */
export const createTellRefusal =
  ({ tell, statusOf }: Pick<AdminParts, 'tell' | 'statusOf'>) =>
  (error: unknown, { context }: AdminRequest): Refused | undefined => {
    const { code, message, details } = tell(error, context)
    if (code === 'NOT_FOUND' || code === 'INTERNAL') return undefined
    return { status: statusOf(code), message, fields: isFields(details) ? details : {} }
  }
