/**
 * Actions of administrators. Each action has a form that describes it, and a button that executes it. Each form has its
 * own idempotency key, so submitting it twice executes the action once.
 */
import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import { DomainError } from '../../shared/errors.ts'
import { confirmAdminPassword } from '../accounts/sessions.ts'
import type { Html } from '../pages/page.ts'
import {
  type AdminPage,
  type AdminRequest,
  type AdminResponse,
  type AdminRoute,
  hiddenFields,
  pageAt,
  type Refused,
} from './admin-page.ts'
import { type Breadcrumbs, heading } from './components.ts'

export interface Field {
  name: string
  label: string
  /** One sentence that describes the permitted input of the field. */
  rule?: string
  kind?: 'text' | 'url' | 'area'
  /** Labels of the options, by value. If set, the field is a selection instead of a text field. */
  options?: Record<string, string>
  isOptional?: boolean
  /** True for a filter of a list, which may be empty. */
  isFilter?: boolean
  /** Initial value of the field. */
  value?: string | undefined
  /** True if the form also sends the initial value, so that only a changed value is applied (`changedIn`). */
  sendsInitial?: boolean
}

const initialOf = (name: string) => `first-${name}`

/** Returns the submitted value of a field if it differs from the initial value, else undefined. */
export function changedIn(form: URLSearchParams, name: string): string | undefined {
  const value = form.get(name) ?? ''
  return value === form.get(initialOf(name)) ? undefined : value
}

/** Content of an action's form. */
export interface ActionView {
  title: string
  breadcrumbs: Breadcrumbs
  /** Description of the action and its consequences. */
  about: Html
  fields?: readonly Field[]
  button: string
}

export interface Action {
  path: string
  /** True if the action requires the password again, because it revokes access or moves money. */
  isGuarded?: boolean
  /** Name of the field with the ID of an object that may not exist. */
  lookupField?: string
  /** Returns the form. Throws the errors of operations. */
  view(request: AdminRequest): Promise<ActionView>
  /** Executes the action. Returns a redirect, or a page that is shown once. Throws the errors of operations. */
  execute(request: AdminRequest): Promise<AdminResponse>
}

/** Name of the field in which the password is entered again. */
const PASSWORD = 'current-password'

function input({ name, kind = 'text', options, isOptional, isFilter, value = '' }: Field, attributes: Html): Html {
  const required = isOptional || isFilter ? '' : html` required`
  if (options)
    return html`<select id="${name}" name="${name}"${attributes}>${Object.entries(options).map(([key, words]) => html`<option value="${key}"${key === value ? html` selected` : ''}>${words}</option>`)}</select>`
  if (kind === 'area')
    return html`<textarea id="${name}" name="${name}" rows="3" maxlength="500"${required}${attributes}>${value}</textarea>`
  return html`<input id="${name}" name="${name}" type="${kind}" value="${value}" autocomplete="off" spellcheck="false"${required}${attributes}>`
}

/** Renders a field with its label, rule and problems. */
export function renderField(field: Field, wrong: readonly string[] = [], control = input): Html {
  const { name, label, rule, isOptional } = field
  const described = [rule && `${name}-rule`, wrong.length && `${name}-problem`].filter(Boolean).join(' ')
  const attributes = html`${described ? html` aria-describedby="${described}"` : ''}${wrong.length ? html` aria-invalid="true"` : ''}`
  return html`<div class="field">
<label for="${name}">${label}${isOptional ? html` <span class="quiet">(optional)</span>` : ''}</label>
${rule ? html`<p class="rule" id="${name}-rule">${rule}</p>` : ''}
${wrong.length ? html`<p class="wrong" id="${name}-problem">${wrong.join(' ')}</p>` : ''}
${control(field, attributes)}
</div>`
}

const passwordField = { name: PASSWORD, label: 'Your password', rule: 'Confirms that it is you who submits this form.' }

/** Renders the password field, directly preceded by a hidden e-mail field for password managers. */
const renderPassword = ({ context: { actor } }: AdminRequest, wrong?: readonly string[]): Html =>
  html`<input type="text" name="username" value="${actor.kind === 'user' ? actor.user.email : ''}" autocomplete="username" readonly hidden>
${renderField(passwordField, wrong, ({ name }, attributes) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password" autocapitalize="none" spellcheck="false"${attributes}>`)}`

/** Renders the error message above a form. The message gets the keyboard focus. */
export const refusalNotice = (message: string): Html =>
  html`<div class="notice" role="alert" tabindex="-1" autofocus><p>${message}</p></div>`

/** Returns the error message above a form. `names`: fields that show their own problems. */
export function refusalSentence(
  { message, fields }: Pick<Refused, 'message' | 'fields'>,
  names: readonly string[] = [],
): string {
  if (names.some((name) => Object.hasOwn(fields, name))) return 'Correct the marked fields.'
  return Object.values(fields).flat().join(' ') || message
}

function formPage(request: AdminRequest, view: ActionView, isGuarded = false, refused?: Refused): AdminPage {
  const { title, breadcrumbs, about, fields = [], button } = view
  const shownIn = ({ name, value }: Field) => (refused ? (request.form.get(name) ?? '') : value) ?? ''
  const firsts = fields
    .filter(({ sendsInitial }) => sendsInitial)
    .map(({ name, value = '' }) => [initialOf(name), request.form.get(initialOf(name)) ?? value])
  const message = refused && refusalSentence(refused, [...fields.map(({ name }) => name), PASSWORD])
  return {
    ...(refused && { refused }),
    title: refused ? `Failed: ${title}` : title,
    content: html`${message ? refusalNotice(message) : ''}${heading(title, { breadcrumbs })}
${about}
<form class="form" method="post">
${hiddenFields(request, { key: request.form.get('key') ?? randomUUID(), ...Object.fromEntries(firsts) })}
${fields.map((field) => renderField({ ...field, value: shownIn(field) }, refused?.fields[field.name]))}
${isGuarded ? renderPassword(request, refused?.fields[PASSWORD]) : ''}
<button${isGuarded ? html` class="danger"` : ''}>${button}</button>
</form>`,
  }
}

/** Moves a NOT_FOUND error to the field with the ID. Returns undefined if the form has no such field. */
export function refuseLookup(refused: Refused | undefined, field: string | undefined): Refused | undefined {
  if (refused?.code !== 'NOT_FOUND') return refused
  return field === undefined ? undefined : { ...refused, fields: { [field]: [refused.message] } }
}

/** Gives a form a new idempotency key if its key was used for other input, such as after going back in the browser. */
function withNewKey(refused: Refused, form: URLSearchParams): Refused {
  if (refused.code !== 'IDEMPOTENCY_KEY_REUSED') return refused
  form.delete('key')
  const message =
    'This form was already submitted, and that submission took effect. This one had no effect. Submit the form again to apply it.'
  return { ...refused, message }
}

/** Returns true for a wrong password. Only the password field has different names in the form and the operation. */
const isPassword = (error: unknown) =>
  error instanceof DomainError &&
  error.code === 'VALIDATION_FAILED' &&
  Object.hasOwn(Object(error.details), 'currentPassword')

/** Returns the two routes of an action: one shows the form, the other handles submissions. */
export const actionRoutes = (action: Action): AdminRoute[] => [
  pageAt(action.path, async (request) => formPage(request, await action.view(request), action.isGuarded)),
  {
    method: 'POST',
    path: action.path,
    async respond(request) {
      try {
        if (action.isGuarded) await confirmAdminPassword(request.context, request.form.get(PASSWORD) ?? '')
        return await action.execute(request)
      } catch (error) {
        const shown = refuseLookup(request.refusedFor(error), action.lookupField)
        if (!shown) throw error
        const refused = withNewKey(shown, request.form)
        const fields = isPassword(error) ? { [PASSWORD]: ['This is not your password.'] } : refused.fields
        return formPage(request, await action.view(request), action.isGuarded, { ...refused, fields })
      }
    },
  },
]
