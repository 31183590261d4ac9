/** Forms that are sent twice, as by a double click: it is done once, and both answers say so. */
import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import type { Context } from '../../services-context.ts'

const NAME = 'key'

/** The field by which a form that is sent again is known. */
export const keyField = () => html`<input type="hidden" name="${NAME}" value="${randomUUID()}">`

/** Under which key the request with this form is carried out once. */
export const keyedBy = (form: URLSearchParams, idempotency: Context['idempotency']): Context['idempotency'] => ({
  ...idempotency,
  key: form.get(NAME) || idempotency.key,
})
