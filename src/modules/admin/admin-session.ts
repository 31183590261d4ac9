/** The cookie of an administrator's session. Under https its name keeps other hosts of the domain from setting it. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { html } from 'hono/html'
import { mediaTypeOf } from '../../http/request-body.ts'
import { DomainError } from '../../shared/errors.ts'
import { PASSWORD, type Refused, refusalNotice, refusalSentence, renderField } from './action.ts'
import { type AdminPage, FORM_TOKEN } from './admin-page.ts'

const nameFor = (isSecure: boolean) => (isSecure ? '__Host-annal-admin' : 'annal-admin')
const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/** The header `Set-Cookie` that begins a session. It ends with the browser at the latest. */
export const sessionCookie = (secret: string, isSecure: boolean) =>
  `${nameFor(isSecure)}=${secret}; ${attributes(isSecure)}`

/** The header `Set-Cookie` that ends it. */
export const clearedCookie = (isSecure: boolean) => `${nameFor(isSecure)}=; Max-Age=0; ${attributes(isSecure)}`

/** The secret that a request's cookie carries, if it has one. */
export function secretOf({ headers }: IncomingMessage, isSecure: boolean): string | undefined {
  const name = `${nameFor(isSecure)}=`
  const found = (headers.cookie ?? '').split(/;\s*/).find((pair) => pair.startsWith(name))
  return found?.slice(name.length) || undefined
}

/** What a form of a session brings back. Whoever knows it knows the session's secret. */
export const formTokenOf = (secret: string | undefined): string =>
  createHmac('sha256', secret ?? '')
    .update('admin-form')
    .digest('base64url')

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Whether a form comes from a page of ours, as browsers tell: by `Sec-Fetch-Site`, where they send it (not without https), else by `Origin`. Who sends neither is
 * no browser. `publicUrl`: where people reach us, for a proxy may ask by another `Host` than they did.
 */
export function isOwnForm({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return true
  return URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(publicUrl).origin)
}

/** Why a form is not taken that is none of ours. */
export const forged = () =>
  new DomainError(
    'PERMISSION_DENIED',
    'This form was not sent by a page of ours, or is older than your session. Load the page again.',
  )

/** Whether a form brings the token of the session back. */
export const hasFormToken = (form: URLSearchParams, formToken: string): boolean =>
  isSame(form.get(FORM_TOKEN) ?? '', formToken)

/** What a form says that is filled in with it once more, as the text of a form: without what belongs to the session or is secret. */
export const keptOf = (form: URLSearchParams): string =>
  String(new URLSearchParams([...form].filter(([name]) => name !== FORM_TOKEN && name !== PASSWORD)))

/** Raises PERMISSION_DENIED unless one of our pages sent the form, and UNSUPPORTED_MEDIA_TYPE unless it is urlencoded. */
export function assertOwnForm(req: IncomingMessage, publicUrl: string): void {
  if (!isOwnForm(req, publicUrl)) throw forged()
  if (mediaTypeOf(req.headers['content-type']) !== 'application/x-www-form-urlencoded')
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'A form is sent as application/x-www-form-urlencoded.')
}

/** What led to the form, beyond the wish to get in. */
export interface SignInState {
  /** Whether a session was there that is good no more. */
  isEnded?: boolean
  /** Why the last try was refused. */
  refused?: Refused
  /** As it was typed. */
  email?: string
  /** What a form brought that was sent after the session had ended, as `keptOf` tells it; nothing was done with it. */
  kept?: string
}

const KEPT = 'What you sent was not done. Sign in again to see it as you filled it in, and to send it.'

/** The form by which an administrator gets in. `next`: where they wanted to go. */
export const signInPage = (next: string, { isEnded, refused, email = '', kept = '' }: SignInState): AdminPage => ({
  ...(refused ? { refused } : kept !== '' && { refused: { code: 'NOT_AUTHENTICATED' as const, status: 403 } }),
  isBare: true,
  title: refused ? 'Not signed in' : 'Sign in',
  content: html`<p class="quiet">Annal, administration</p>
<h1>Sign in</h1>
${refused ? refusalNotice(refusalSentence(refused, ['email', 'password'])) : ''}
${isEnded ? html`<div class="notice" role="status"><p>Your session has ended. ${kept === '' ? 'Sign in again to go on.' : KEPT}</p></div>` : ''}
<form class="form" method="post" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${kept === '' ? '' : html`<input type="hidden" name="kept" value="${kept}">`}
${renderField({ name: 'email', label: 'E-mail address', value: email }, refused?.fields.email, ({ name, value }, attributes) => html`<input id="${name}" name="${name}" type="email" value="${value}" required autocomplete="username"${attributes}>`)}
${renderField({ name: 'password', label: 'Password' }, refused?.fields.password, ({ name }, attributes) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password"${attributes}>`)}
<button>Sign in</button>
</form>
<p class="quiet">A session ends after eight hours, and after half an hour in which nothing is asked for.</p>`,
})
