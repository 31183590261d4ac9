/** What a page for administrators is to the handler that serves it, and how every one is laid out. */
import { html, raw } from 'hono/html'
import type { Context } from '../../services-context.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import type { Html } from '../pages/layout.ts'
import { adminContentPolicy, adminStyle } from './admin-style.ts'

/** What a page is asked with. */
export interface AdminRequest {
  /** Parameters of the path. */
  params: Record<string, string>
  query: URLSearchParams
  /** What was sent; empty of a GET. */
  form: URLSearchParams
  /** Its actor is the administrator; at the sign-in, nobody. */
  context: Context
  /** What a form must bring back: no other site knows it. */
  formToken: string
  /** Where the form of the page goes, when that is not the page's own address. */
  formPath?: string
}

/** A page, or where to go instead. */
export type AdminAnswer = AdminPage | { redirect: string }

/** A page's own parts. */
export interface AdminPage {
  /** Set when the page shows an error. */
  refused?: { code: ErrorCode; status: number; retryAfter?: number | undefined }
  title: string
  content: Html
  /** A secret is shown, or nobody is signed in: without the navigation. */
  isBare?: boolean
}

/** A page or a deed. Raises what operations raise, and the handler tells it. */
export interface AdminRoute {
  method: 'GET' | 'POST'
  path: string
  answer(request: AdminRequest): Promise<AdminAnswer>
  /** Of a deed: its form as it was filled in, for whoever has another session by now. `message`: why it was not carried out. Raises what operations raise. */
  again?(request: AdminRequest, message: string): Promise<AdminPage>
}

const areas = [
  ['/admin', 'Overview'],
  ['/admin/orders', 'Orders'],
  ['/admin/apps', 'Network apps'],
  ['/admin/webhooks', 'Webhooks'],
  ['/admin/coins', 'Coins'],
  ['/admin/keys', 'API keys'],
  ['/admin/users', 'Users'],
  ['/admin/audit', 'Audit trail'],
] as const

const isIn = (area: string, path: string) => (area === '/admin' ? path === area : `${path}/`.startsWith(`${area}/`))

/** The name of the field in which a form brings the token of its session back. */
export const FORM_TOKEN = 'form-token'

/** The fields that every form of a signed-in administrator carries. */
export const hiddenFields = ({ formToken }: Pick<AdminRequest, 'formToken'>, more: Record<string, string> = {}): Html =>
  html`${Object.entries({ [FORM_TOKEN]: formToken, ...more }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

const navigation = (
  path: string,
  request: AdminRequest,
  name: string,
) => html`<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand">Annal</p>
<nav aria-label="Administration"><ul>${areas.map(([area, label]) => html`<li><a href="${area}"${isIn(area, path) ? html` aria-current="page"` : ''}>${label}</a></li>`)}</ul></nav>
<form method="post" action="/admin/sign-out">${hiddenFields(request)}<span class="quiet">${name}</span><button class="plain">Sign out</button></form>
</header>`

/** A whole page as HTML. `path`: where it stands. */
export function renderAdminPage({ title, content, isBare }: AdminPage, path: string, request: AdminRequest): string {
  const { actor } = request.context
  const isSignedIn = actor.kind === 'user' && !isBare
  const text = String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Annal</title>
<style>${raw(adminStyle)}</style>
</head>
<body>
${isSignedIn ? navigation(path, request, actor.user.username) : ''}
<main id="main"${isSignedIn ? '' : html` class="narrow"`}>
${content}
</main>
</body>
</html>
`)
  // HTML has no null characters, not even in what somebody typed.
  return text.replaceAll('\0', '\uFFFD')
}

/** Headers of every page: kept by nobody, and told to no other site. A form's origin is told to ourselves. */
export const adminHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Language': 'en',
  'Content-Security-Policy': adminContentPolicy,
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
}
