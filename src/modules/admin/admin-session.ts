/**
 * Session cookie of administrators. Under HTTPS, its name prefix prevents other hosts of the domain from setting it.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { html } from 'hono/html'
import { mediaTypeOf } from '../../http/request-body.ts'
import { DomainError } from '../../shared/errors.ts'
import { PASSWORD, refusalNotice, refusalSentence, renderField } from './action.ts'
import { type AdminPage, FORM_TOKEN, type Refused } from './admin-page.ts'

const nameFor = (isSecure: boolean) => (isSecure ? '__Host-annal-admin' : 'annal-admin')
const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/** Returns the `Set-Cookie` header that starts a session. The cookie has no expiry and ends with the browser. */
export const sessionCookie = (secret: string, isSecure: boolean) =>
  `${nameFor(isSecure)}=${secret}; ${attributes(isSecure)}`

/** Returns the `Set-Cookie` header that ends a session. */
export const clearedCookie = (isSecure: boolean) => `${nameFor(isSecure)}=; Max-Age=0; ${attributes(isSecure)}`

/** Returns the secret in a request's session cookie, or undefined. */
export function secretOf({ headers }: IncomingMessage, isSecure: boolean): string | undefined {
  const name = `${nameFor(isSecure)}=`
  const found = (headers.cookie ?? '').split(/;\s*/).find((pair) => pair.startsWith(name))
  return found?.slice(name.length) || undefined
}

/** Returns the CSRF token of a session. It is derived from the session's secret. */
export const formTokenOf = (secret: string | undefined): string =>
  createHmac('sha256', secret ?? '')
    .update('admin-form')
    .digest('base64url')

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Returns true if one of our pages sent the form. Checks `Sec-Fetch-Site`, which browsers send only over HTTPS, or
 * else `Origin`. A request without both headers does not come from a browser. `publicUrl`: public URL of the service,
 * because a proxy may change `Host`.
 */
export function isOwnForm({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return true
  return URL.canParse(origin) && (new URL(origin).host === host || origin === new URL(publicUrl).origin)
}

/** Creates the error for a form that another site sent. */
export const forged = () =>
  new DomainError(
    'PERMISSION_DENIED',
    'This form was sent by another site, or it is older than your session. Load the page again.',
  )

/** Returns true if a form contains the CSRF token of the session. */
export const hasFormToken = (form: URLSearchParams, formToken: string): boolean =>
  isSame(form.get(FORM_TOKEN) ?? '', formToken)

/** Returns the input of a form without CSRF token and password, URL-encoded, to restore the form later. */
export const inputOf = (form: URLSearchParams): string =>
  String(new URLSearchParams([...form].filter(([name]) => name !== FORM_TOKEN && name !== PASSWORD)))

/** Throws PERMISSION_DENIED if another site sent the form, and UNSUPPORTED_MEDIA_TYPE if it is not URL-encoded. */
export function assertOwnForm(req: IncomingMessage, publicUrl: string): void {
  if (!isOwnForm(req, publicUrl)) throw forged()
  if (mediaTypeOf(req.headers['content-type']) !== 'application/x-www-form-urlencoded')
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the form as application/x-www-form-urlencoded.')
}

/** Displayed state of the sign-in page. */
export interface SignInState {
  /** True if the previous session has ended. */
  isEnded?: boolean
  /** Error of the last sign-in attempt. */
  refused?: Refused
  /** Submitted email address. */
  email?: string
  /**
   * Input of a form that was submitted after the session ended, as returned by `inputOf`. The action was not executed.
   */
  kept?: string
}

const KEPT = 'Your session has ended, and your input was not applied. Sign in to restore the form and submit it again.'

/** Returns the sign-in page. `next`: path to redirect to after the sign-in. */
export const signInPage = (next: string, { isEnded, refused, email = '', kept = '' }: SignInState): AdminPage => ({
  ...(refused ? { refused } : kept !== '' && { refused: { code: 'NOT_AUTHENTICATED' as const, status: 403 } }),
  isBare: true,
  title: refused ? 'Not signed in' : 'Sign in',
  content: html`<p class="quiet">Annal, administration</p>
<h1>Sign in</h1>
${refused ? refusalNotice(refusalSentence(refused, ['email', 'password'])) : ''}
${isEnded ? html`<div class="notice" role="status"><p>Your session has ended. ${kept === '' ? 'Sign in again to continue.' : KEPT}</p></div>` : ''}
<form class="form" method="post" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${kept === '' ? '' : html`<input type="hidden" name="kept" value="${kept}">`}
${renderField({ name: 'email', label: 'E-mail address', value: email }, refused?.fields.email, ({ name, value }, attributes) => html`<input id="${name}" name="${name}" type="email" value="${value}" required autocomplete="username"${attributes}>`)}
${renderField({ name: 'password', label: 'Password' }, refused?.fields.password, ({ name }, attributes) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password"${attributes}>`)}
<button>Sign in</button>
</form>
<p class="quiet">A session lasts eight hours and ends after 30 minutes of inactivity.</p>`,
})
