/** Session cookie, form protection and sign-in page of administrators. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { html } from 'hono/html'
import { mediaTypeOf } from '../../http/request-body.ts'
import { DomainError } from '../../shared/errors.ts'
import { refusalNotice, refusalSentence, renderField } from './action.ts'
import { type AdminPage, FORM_TOKEN, type Refused } from './admin-page.ts'

/** Under HTTPS, the prefix prevents other hosts of the domain from setting the cookie. */
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

/**
 * Returns true if one of our pages sent the form. Checks `Sec-Fetch-Site`, which browsers send only over HTTPS, or
 * else `Origin`. A request without both headers does not come from a browser. `publicUrl`: public URL of the service,
 * because a proxy may change `Host`.
 */
function isOwnForm({ headers }: IncomingMessage, publicUrl: string): boolean {
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
export function hasFormToken(form: URLSearchParams, formToken: string): boolean {
  const [sent, expected] = [Buffer.from(form.get(FORM_TOKEN) ?? ''), Buffer.from(formToken)]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** Throws PERMISSION_DENIED if another site sent the form, and UNSUPPORTED_MEDIA_TYPE if it is not URL-encoded. */
export function assertOwnForm(req: IncomingMessage, publicUrl: string): void {
  if (!isOwnForm(req, publicUrl)) throw forged()
  if (mediaTypeOf(req.headers['content-type']) !== 'application/x-www-form-urlencoded')
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the form as application/x-www-form-urlencoded.')
}

interface SignInState {
  /** True if the previous session has ended. */
  isEnded?: boolean
  /** Error of the last sign-in attempt. */
  refused?: Refused
  /** Submitted e-mail address. */
  email?: string
}

/** Returns the sign-in page. `next`: path to redirect to after the sign-in. */
export const signInPage = (next: string, { isEnded, refused, email = '' }: SignInState): AdminPage => ({
  ...(refused && { refused }),
  isBare: true,
  title: refused ? 'Sign-in failed' : 'Sign in',
  content: html`<p class="quiet">Annal administration</p>
<h1>Sign in</h1>
${refused ? refusalNotice(refusalSentence(refused, ['email', 'password'])) : ''}
${isEnded ? html`<div class="notice" role="status"><p>Your session has ended. Sign in again to continue.</p></div>` : ''}
<form class="form" method="post" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${renderField({ name: 'email', label: 'E-mail address', value: email }, refused?.fields.email, ({ name, value }, attributes) => html`<input id="${name}" name="${name}" type="email" value="${value}" required autocomplete="username"${attributes}>`)}
${renderField({ name: 'password', label: 'Password' }, refused?.fields.password, ({ name }, attributes) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password"${attributes}>`)}
<button>Sign in</button>
</form>
<p class="quiet">A session ends after eight hours, or after 30 minutes without a request.</p>`,
})
