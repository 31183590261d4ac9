/**
 * Deeds of administrators, each a form that tells what it does and a button that does it. Whatever takes something away or gives money asks
 * for the password once more. A form carries a key of its own, so that sending it twice does it once.
 */
import { randomUUID } from 'node:crypto'
import { html } from 'hono/html'
import { DomainError, type ErrorCode } from '../../shared/errors.ts'
import type { Html } from '../pages/page.ts'
import { type AdminAnswer, type AdminPage, type AdminRequest, type AdminRoute, hiddenFields } from './admin-page.ts'
import { heading } from './components.ts'

/** A field of a form. */
export interface Field {
  name: string
  label: string
  /** What may stand in it, in a sentence. */
  rule?: string
  kind?: 'text' | 'url' | 'area'
  /** Instead of a text: values with their words. */
  options?: readonly (readonly [string, string])[]
  isOptional?: boolean
  /** What stands in it at first. */
  value?: string
  /** Whether the form brings back what stood in it at first, so that only what was changed in it is changed (`changedIn`). */
  tellsFirst?: boolean
}

const firstOf = (name: string) => `first-${name}`

/** What somebody made of a field that tells what stood in it at first; undefined when they left it as it was. */
export function changedIn(form: URLSearchParams, name: string): string | undefined {
  const value = form.get(name) ?? ''
  return value === form.get(firstOf(name)) ? undefined : value
}

/** What a form shows before anything was sent. */
export interface ActionView {
  title: string
  /** Where it belongs: addresses with their words. */
  trail: readonly (readonly [string, string])[]
  /** What it is about, and what follows from it. */
  about: Html
  fields: readonly Field[]
  button: string
}

/** A deed. */
export interface Action {
  path: string
  /** Whether the password is asked for once more. */
  isGuarded: boolean
  /** The field in which somebody is named who may not be there. */
  naming?: string
  /** Raises what operations raise. */
  view(request: AdminRequest): Promise<ActionView>
  /** Does it; where to go then, or what to show once. Raises what operations raise. */
  carryOut(request: AdminRequest): Promise<AdminAnswer>
}

/** What the handler tells of a refusal. */
export interface Refused {
  code: ErrorCode
  status: number
  /** Seconds. */
  retryAfter?: number | undefined
  message: string
  /** By the name of the field. */
  fields: Record<string, string[]>
}

/** How an error is told, or undefined when it is none that a person can do something about. */
export type TellRefusal = (error: unknown, request: AdminRequest) => Refused | undefined

/** The name of the field for the password that is asked for once more. */
export const PASSWORD = 'current-password'

function input({ name, kind = 'text', options, isOptional, value = '' }: Field, attributes: Html): Html {
  const required = isOptional ? '' : html` required`
  if (options)
    return html`<select id="${name}" name="${name}"${attributes}>${options.map(([key, words]) => html`<option value="${key}"${key === value ? html` selected` : ''}>${words}</option>`)}</select>`
  if (kind === 'area')
    return html`<textarea id="${name}" name="${name}" rows="3" maxlength="500"${required}${attributes}>${value}</textarea>`
  return html`<input id="${name}" name="${name}" type="${kind}" value="${value}" autocomplete="off" spellcheck="false"${required}${attributes}>`
}

/** A field with its label, its rule and what is wrong with it. */
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

const passwordInput = ({ name }: Field, attributes: Html): Html =>
  html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password" autocapitalize="none" spellcheck="false"${attributes}>`

/** A field for a password. */
const renderPassword = (label: string, wrong: readonly string[] = [], rule?: string): Html =>
  renderField({ name: PASSWORD, label, ...(rule !== undefined && { rule }) }, wrong, passwordInput)

/**
 * Nobody sees it: password managers take what stands there for the name that belongs to the password, and write it into no other field. It stands last before the
 * password, for that is where they look.
 */
const ownName = ({ context: { actor } }: AdminRequest): Html =>
  html`<input type="text" name="username" value="${actor.kind === 'user' ? actor.user.email : ''}" autocomplete="username" readonly hidden>`

/** The notice above a form that was refused; the focus goes there. */
export const refusalNotice = (message: string): Html =>
  html`<div class="notice" role="alert" tabindex="-1" autofocus><p>${message}</p></div>`

/** What is told above a form: what is told beside one of its fields (`names`) is not told twice, and no other is named as programs name it. */
export function refusalSentence(
  { message, fields }: Pick<Refused, 'message' | 'fields'>,
  names: readonly string[] = [],
): string {
  if (names.some((name) => Object.hasOwn(fields, name))) return 'Something is not as it has to be.'
  return Object.values(fields).flat().join(' ') || message
}

function formPage(request: AdminRequest, view: ActionView, isGuarded: boolean, refused?: Refused): AdminPage {
  const { title, trail, about, fields, button } = view
  const shownIn = ({ name, value }: Field) => (refused ? (request.form.get(name) ?? '') : value) ?? ''
  const firsts = fields
    .filter(({ tellsFirst }) => tellsFirst)
    .map(({ name, value = '' }) => [firstOf(name), request.form.get(firstOf(name)) ?? value])
  const told = refused && refusalSentence(refused, [...fields.map(({ name }) => name), PASSWORD])
  return {
    ...(refused && { refused }),
    title: refused ? `Not done: ${title}` : title,
    content: html`${told ? refusalNotice(told) : ''}${heading(title, { trail })}
${about}
<form class="form" method="post"${request.formPath === undefined ? '' : html` action="${request.formPath}"`}>
${hiddenFields(request, { key: request.form.get('key') ?? randomUUID(), ...Object.fromEntries(firsts) })}
${fields.map((field) => renderField({ ...field, value: shownIn(field) }, refused?.fields[field.name]))}
${
  isGuarded
    ? html`${ownName(request)}
${renderPassword('Your password', refused?.fields[PASSWORD], 'Once more, so that nobody else does this at your desk.')}`
    : ''
}
<button${isGuarded ? html` class="danger"` : ''}>${button}</button>
</form>`,
  }
}

/** That somebody is not there is told beside the field that names them; where no field does, undefined: the page itself is missing. */
export function refusedNaming(refused: Refused | undefined, field: string | undefined): Refused | undefined {
  if (refused?.code !== 'NOT_FOUND') return refused
  return field === undefined ? undefined : { ...refused, fields: { [field]: [refused.message] } }
}

/**
 * A form that was gone back to after it had been sent, and filled in with something else, is one of its own from now on; and so is one that is sent once more by
 * loading the page of a secret again, which is worth nothing any more.
 */
function renewed(refused: Refused, form: URLSearchParams): Refused {
  if (refused.code !== 'IDEMPOTENCY_KEY_REUSED') return refused
  form.delete('key')
  const message =
    'This form was sent before, and what it said then was done. Nothing was done now: send it again if what it says is to be done, too.'
  return { ...refused, message }
}

/** A field is called here as operations call it, but for the password. */
const isPassword = (error: unknown) =>
  error instanceof DomainError &&
  error.code === 'VALIDATION_FAILED' &&
  Object.hasOwn(Object(error.details), 'currentPassword')

const confirm = ({ context: { actor, services }, form }: AdminRequest): Promise<void> =>
  services.adminSessions.confirm(actor, form.get(PASSWORD) ?? '')

/** A deed as two routes: one shows the form, one takes it. */
export const actionRoutes = (action: Action, tell: TellRefusal): AdminRoute[] => [
  {
    method: 'GET',
    path: action.path,
    answer: async (request) => formPage(request, await action.view(request), action.isGuarded),
  },
  {
    method: 'POST',
    path: action.path,
    async again(request, message) {
      const refused: Refused = { code: 'PERMISSION_DENIED', status: 403, message, fields: {} }
      return formPage(request, await action.view(request), action.isGuarded, refused)
    },
    async answer(request) {
      try {
        if (action.isGuarded) await confirm(request)
        return await action.carryOut(request)
      } catch (error) {
        const told = refusedNaming(tell(error, request), action.naming)
        if (!told) throw error
        const refused = renewed(told, request.form)
        const fields = isPassword(error) ? { [PASSWORD]: ['This is not your password.'] } : refused.fields
        return formPage(request, await action.view(request), action.isGuarded, { ...refused, fields })
      }
    },
  },
]
