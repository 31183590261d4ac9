/** Interface of the pages for administrators, and their common layout. */
import { createHash } from 'node:crypto'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { html, raw } from 'hono/html'
import type { Context } from '../../context.ts'
import type { ErrorCode } from '../../shared/errors.ts'
import { type Html, palette } from '../pages/page.ts'

export const adminStyle = `${palette}
:root { --s0: #0b57d0; --s1: #b06000; --s2: #b3261e; --grid: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --s0: #8ab4f8; --s1: #fdbf57; --s2: #ff9c94; --grid: #3a4047; } }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--ground); overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--ground); padding: 0.5rem 1rem; z-index: 1; }
header { background: var(--box); border-bottom: 1px solid var(--grid); padding: 0.5rem 1.25rem; display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: center; }
header .brand { font-weight: 700; margin: 0; }
header nav { flex: 1 1 20rem; }
header ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0 0.25rem; }
header li a { display: block; padding: 0.5rem 0.625rem; text-decoration: none; color: inherit; border-bottom: 3px solid transparent; }
header li a:hover { text-decoration: underline; }
header li a[aria-current] { border-bottom-color: var(--accent); font-weight: 600; }
header form { display: flex; gap: 0.75rem; align-items: center; margin: 0; }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
main.narrow { max-width: 28rem; padding-top: 4rem; }
h1 { font-size: 1.625rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.125rem; line-height: 1.3; margin: 0; }
section { margin-top: 2rem; }
section > h2 { margin-bottom: 0.5rem; }
p { margin: 0 0 0.75rem; }
.quiet { color: var(--quiet); }
.breadcrumbs { margin: 0 0 0.5rem; font-size: 0.9375rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 0 0 1.25rem; padding: 0; }
.tiles div { background: var(--box); border-radius: 0.5rem; padding: 0.75rem 1rem; }
.tiles dt { color: var(--quiet); font-size: 0.875rem; }
.tiles dd { margin: 0; font-size: 1.375rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles .note { display: block; font-size: 0.8125rem; font-weight: 400; color: var(--quiet); }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
.card { margin: 0; border: 1px solid var(--grid); border-radius: 0.5rem; padding: 1rem; min-width: 0; }
.card figcaption p { margin: 0.125rem 0 0.5rem; font-size: 0.875rem; }
.plot { display: block; width: 100%; height: auto; }
.plot .tick { font-size: 11px; fill: var(--quiet); }
.plot .grid { stroke: var(--grid); }
.plot .day { fill: transparent; }
.plot g:hover .day { fill: var(--box); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.legend { list-style: none; margin: 0.25rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: 0.875rem; }
.swatch { width: 0.7rem; height: 0.7rem; }
nav p a[aria-current] { font-weight: 700; color: inherit; text-decoration: none; }
details { margin-top: 0.5rem; }
summary { cursor: pointer; color: var(--accent); padding: 0.25rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9375rem; }
caption { text-align: left; color: var(--quiet); padding-bottom: 0.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--grid); overflow-wrap: break-word; }
td { max-width: 22rem; }
td pre { min-width: 18rem; }
td time, td .id { white-space: nowrap; }
thead th { font-weight: 600; vertical-align: bottom; border-bottom: 2px solid var(--line); }
tbody th { font-weight: inherit; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.id { font-family: ui-monospace, monospace; font-size: 0.875em; }
pre { background: var(--box); padding: 0.75rem 1rem; border-radius: 0.375rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.25rem 0 0.75rem; font-size: 0.875rem; }
.facts { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: 0.375rem 1.5rem; margin: 0; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; min-width: 0; }
.badge { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.625rem; font-size: 0.875rem; white-space: nowrap; }
.badge.good { border-color: var(--good); color: var(--good); }
.badge.bad { border-color: var(--problem); color: var(--problem); }
.notice { border: 1px solid var(--line); border-left: 0.375rem solid var(--problem); border-radius: 0.25rem; padding: 0.75rem 1.25rem; margin: 0 0 1.25rem; }
.notice.good { border-left-color: var(--good); }
.notice p { margin: 0; }
.notice:focus { outline: 3px solid var(--problem); outline-offset: 2px; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 1.5rem; }
.sides section { min-width: 0; }
.secret { font-family: ui-monospace, monospace; background: var(--box); padding: 0.75rem 1rem; border-radius: 0.375rem; user-select: all; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; margin: 1rem 0 0; padding: 0; list-style: none; }
.form { max-width: 32rem; }
.field { margin: 0 0 1.25rem; }
label { display: block; font-weight: 600; }
.rule { margin: 0; color: var(--quiet); font-size: 0.9375rem; }
.wrong { margin: 0; color: var(--problem); font-weight: 600; }
input:not([hidden]), select, textarea { display: block; width: 100%; min-height: 2.75rem; margin-top: 0.25rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit; background: var(--field); border: 1px solid var(--line); border-radius: 0.375rem; }
input[aria-invalid='true'], textarea[aria-invalid='true'] { border: 2px solid var(--problem); }
.filters { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: flex-end; margin: 0 0 1.25rem; }
.filters .field { margin: 0; flex: 0 1 16rem; }
button, .button { display: inline-block; min-height: 2.75rem; padding: 0.5rem 1.125rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 2px solid transparent; border-radius: 0.375rem; cursor: pointer; text-decoration: none; }
button.plain, .button.plain { color: var(--accent); background: transparent; border-color: var(--accent); }
button.danger { background: var(--problem); color: var(--ground); }
.count { margin-top: 0.75rem; }
.pages { display: flex; gap: 1rem; align-items: center; margin-top: 1rem; }
/* In forced colours, a transparent border is visible and would mark every page as the current one. */
@media (forced-colors: active) { header li a:not([aria-current]) { border-bottom-color: Canvas; } }
@media (max-width: 30rem) { .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: 0.625rem; } .form button, .form .button { width: 100%; text-align: center; } main { padding-top: 1rem; } }
`

const hash = createHash('sha256').update(adminStyle).digest('base64')

/** Content security policy. It permits only `adminStyle`, and forbids scripts, forms to other sites, and framing. */
export const adminContentPolicy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

export interface Refused {
  code: ErrorCode
  status: number
  /** Delay before a retry, in seconds. */
  retryAfter?: number | undefined
  message: string
  /** Problems by field name. */
  fields: Record<string, string[]>
}

export interface AdminRequest {
  params: Record<string, string>
  query: URLSearchParams
  /** Submitted form. Empty for a GET request. */
  form: URLSearchParams
  /** Context whose actor is the administrator. The actor is anonymous on the sign-in page. */
  context: Context
  /** CSRF token that every form must send. */
  formToken: string
  /** Executes an operation for the administrator. Throws the errors of the operation. */
  run<Data, Variables extends Record<string, unknown>>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Data>
  /** Converts an error to one that a form can show. Returns undefined for unexpected errors. */
  refusedFor(error: unknown): Refused | undefined
}

export type AdminResponse = AdminPage | { redirect: string }

export interface AdminPage {
  /** Set if the page shows an error. */
  refused?: Pick<Refused, 'code' | 'status' | 'retryAfter'>
  title: string
  content: Html
  /** True to omit the navigation, for a page that shows a secret or has no session. */
  isBare?: boolean
}

/** Route of a page or an action. `respond` throws errors of operations. The handler shows them. */
export interface AdminRoute {
  method: 'GET' | 'POST'
  path: string
  respond(request: AdminRequest): Promise<AdminResponse>
}

export const pageAt = (path: string, respond: AdminRoute['respond']): AdminRoute => ({ method: 'GET', path, respond })

const areas = [
  ['/admin', 'Overview'],
  ['/admin/orders', 'Orders'],
  ['/admin/apps', 'Network apps'],
  ['/admin/webhooks', 'Webhooks'],
  ['/admin/coins', 'Coins'],
  ['/admin/keys', 'API keys'],
  ['/admin/users', 'Users'],
  ['/admin/audit', 'Audit log'],
] as const

const isIn = (area: string, path: string) => (area === '/admin' ? path === area : `${path}/`.startsWith(`${area}/`))

/** Name of the form field with the CSRF token. */
export const FORM_TOKEN = 'form-token'

/** Renders the hidden fields that every form of an administrator must contain. */
export const hiddenFields = ({ formToken }: Pick<AdminRequest, 'formToken'>, more: Record<string, string> = {}): Html =>
  html`${Object.entries({ [FORM_TOKEN]: formToken, ...more }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

const navigation = (
  path: string,
  request: AdminRequest,
  name: string,
) => html`<a class="skip" href="#main">Skip to main content</a>
<header>
<p class="brand">Annal</p>
<nav aria-label="Administration"><ul>${areas.map(([area, label]) => html`<li><a href="${area}"${isIn(area, path) ? html` aria-current="page"` : ''}>${label}</a></li>`)}</ul></nav>
<form method="post" action="/admin/sign-out">${hiddenFields(request)}<span class="quiet">${name}</span><button class="plain">Sign out</button></form>
</header>`

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
  // HTML must not contain null characters, even in user input.
  return text.replaceAll('\0', '\uFFFD')
}

/** Headers of every page. The referrer is sent only to this service, which checks the origin of forms. */
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
