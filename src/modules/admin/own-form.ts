/** Forms that only our own pages can send: by the token that a page of the session brings, and by what the browser says of the sender. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { mediaTypeOf } from '../../http/headers.ts'
import { DomainError } from '../../shared/errors.ts'
import { PASSWORD } from './action.ts'
import { FORM_TOKEN } from './admin-page.ts'

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
