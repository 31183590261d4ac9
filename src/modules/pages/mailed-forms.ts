/** Pages that mailed links open: password reset and email verification. */

import { html } from 'hono/html'
import { fill, type Messages, messages } from '../../locales/messages.ts'
import { DomainError } from '../../shared/errors.ts'
import { type Language, preferredLanguage } from '../../shared/language.ts'
import { findLink } from '../accounts/mailed-links.ts'
import { resetPassword, verifyEmail } from '../accounts/use-mailed-link.ts'
import { type FormPage, keyedBy, keyField, noticePage, type PageAnswer, type PageRequest, secretPage } from './page.ts'

/** Returns user ID and token from the path of a mailed link. */
export const linkOf = ({ params }: PageRequest) => ({ uid: params.uid!, token: params.token! })

/** Returns true if a service rejected this field of its input. */
export const isRefusedField = (error: unknown, field: string): boolean =>
  error instanceof DomainError &&
  error.code === 'VALIDATION_FAILED' &&
  typeof error.details === 'object' &&
  Object.hasOwn(error.details, field)

/** Returns true if a service rejected the link. This includes malformed user IDs and tokens. */
export const isDeadLink = (error: unknown): boolean =>
  (error instanceof DomainError && error.code === 'INVALID_TOKEN') ||
  isRefusedField(error, 'uid') ||
  isRefusedField(error, 'token')

/** Returns the page for an invalid or expired link, with status 410. */
export const deadLinkPage = (
  language: Language,
  words: Messages['pages']['reset'] | Messages['pages']['verify'],
): PageAnswer =>
  noticePage(410, { language, title: words.dead, kind: 'bad', paragraphs: [words.deadWhy, words.deadNext] })

export interface PasswordLength {
  min: number
  max: number
}

/** Returns the problem with a new password, or undefined if it can be set. */
export type PasswordProblem = (password: string) => 'tooShort' | 'tooLong' | 'unfit' | undefined

export type Problem = 'missing' | 'missingAgain' | 'different' | NonNullable<ReturnType<PasswordProblem>>

export function problemOf(form: URLSearchParams, passwordProblem: PasswordProblem): Problem | undefined {
  const password = form.get('new-password') ?? ''
  const again = form.get('new-password-again') ?? ''
  if (password === '') return 'missing'
  const problem = passwordProblem(password)
  if (problem) return problem
  if (again === '') return 'missingAgain'
  return again === password ? undefined : 'different'
}

interface Field {
  name: 'new-password' | 'new-password-again'
  label: string
  rule?: string
  wrong: string | undefined
}

function renderField({ name, label, rule, wrong }: Field) {
  const descriptions = [...(rule ? [`${name}-rule`] : []), ...(wrong ? [`${name}-problem`] : [])]
  // There is no `maxlength`: it would silently shorten a pasted password.
  return html`<div class="field">
<label for="${name}">${label}</label>
${rule ? html`<p class="rule" id="${name}-rule">${rule}</p>` : ''}
${wrong ? html`<p class="wrong" id="${name}-problem">${wrong}</p>` : ''}
<input type="password" id="${name}" name="${name}" required autocomplete="new-password" autocapitalize="none" spellcheck="false"${
    descriptions.length ? html` aria-describedby="${descriptions.join(' ')}"` : ''
  }${wrong ? html` aria-invalid="true"` : ''}>
</div>`
}

export interface PasswordForm {
  email: string
  passwordLength: PasswordLength
  problem?: Problem
}

/** Renders the password form. It has no `action`, so the HTML does not contain the token. */
export function passwordForm(language: Language, { email, passwordLength, problem }: PasswordForm): PageAnswer {
  const { reset: words } = messages[language].pages
  const text = problem && fill(words[problem], { ...passwordLength })
  const wrongField = problem === 'missingAgain' || problem === 'different' ? 'new-password-again' : 'new-password'
  const wrongIn = (name: Field['name']) => (name === wrongField ? text : undefined)
  // Hidden field that tells password managers which account the password belongs to.
  const account = html`<input type="text" name="username" value="${email}" autocomplete="username" readonly hidden>`
  // The notice gets the focus, so that screen readers start with it. Both password fields are empty again.
  const notice = html`<div class="notice" role="alert" tabindex="-1" autofocus>
<h2>${words.problems}</h2>
<p><a href="#new-password">${text}</a></p>
</div>`
  return secretPage(problem ? 400 : 200, {
    language,
    title: problem ? fill(words.problemTitle, { title: words.title }) : words.title,
    content: html`${problem ? notice : ''}
<h1>${words.title}</h1>
<p>${fill(words.intro, { email })}</p>
<form method="post" novalidate>
${keyField()}
${account}
${renderField({
  name: 'new-password',
  label: words.password,
  rule: fill(words.rule, { ...passwordLength }),
  wrong: wrongIn('new-password'),
})}
${renderField({ name: 'new-password-again', label: words.again, wrong: wrongIn('new-password-again') })}
<button type="submit">${words.button}</button>
</form>`,
  })
}

const expiredResetPage = (language: Language) => deadLinkPage(language, messages[language].pages.reset)

function passwordChangedPage(language: Language): PageAnswer {
  const { done, doneText, doneMail } = messages[language].pages.reset
  return noticePage(200, { language, title: done, kind: 'good', paragraphs: [doneText, doneMail] })
}

interface Options {
  passwordLength: PasswordLength
  passwordProblem: PasswordProblem
}

/** Creates the page that shows the form for a valid link and sets the password. */
export const createPasswordResetPage = ({ passwordLength, passwordProblem }: Options): FormPage => ({
  path: '/account/password-reset/:uid/:token',
  reason: 'A page for people who lost their password; the mail that they asked for leads to it.',

  async show(request) {
    const language = preferredLanguage(request.languages)
    const email = (await findLink(request.context, 'PASSWORD_RESET', linkOf(request)))?.email
    return email === undefined ? expiredResetPage(language) : passwordForm(language, { email, passwordLength })
  },

  async submit(request, form) {
    const language = preferredLanguage(request.languages)
    const { context } = request
    const showAgain = async (problem: Problem) => {
      const email = (await findLink(context, 'PASSWORD_RESET', linkOf(request)))?.email
      // An expired link is reported first, before the user thinks of a better password.
      return email === undefined
        ? expiredResetPage(language)
        : passwordForm(language, { email, passwordLength, problem })
    }
    const problem = problemOf(form, passwordProblem)
    if (problem) return showAgain(problem)
    try {
      const newPassword = form.get('new-password')!
      const idempotency = keyedBy(form, context.idempotency)
      await resetPassword({ ...context, idempotency }, { ...linkOf(request), newPassword })
    } catch (error) {
      if (isDeadLink(error)) return expiredResetPage(language)
      if (isRefusedField(error, 'newPassword')) return showAgain('unfit')
      throw error
    }
    return passwordChangedPage(language)
  },
})

const expiredVerificationPage = (language: Language) => deadLinkPage(language, messages[language].pages.verify)

function askPage(language: Language, link: { email: string; username: string }): PageAnswer {
  const { verify: words } = messages[language].pages
  return secretPage(200, {
    language,
    title: words.title,
    content: html`<h1>${words.title}</h1>
<p>${fill(words.intro, { ...link })}</p>
<form method="post">
${keyField()}
<button type="submit">${words.button}</button>
</form>`,
  })
}

function takenPage(language: Language): PageAnswer {
  const { taken, takenText } = messages[language].pages.verify
  return noticePage(409, { language, title: taken, kind: 'bad', paragraphs: [takenText] })
}

function verifiedPage(language: Language): PageAnswer {
  const { done, doneText } = messages[language].pages.verify
  return noticePage(200, { language, title: done, kind: 'good', paragraphs: [doneText] })
}

/** Creates the page that asks the user to confirm an email address. Submitting the form verifies it. */
export const createEmailVerificationPage = (): FormPage => ({
  path: '/account/email-verification/:uid/:token',
  reason: 'A page for people whose address is to be confirmed; the mail to that address leads to it.',

  async show(request) {
    const language = preferredLanguage(request.languages)
    const link = await findLink(request.context, 'EMAIL_VERIFICATION', linkOf(request))
    return link ? askPage(language, link) : expiredVerificationPage(language)
  },

  async submit(request, form) {
    const language = preferredLanguage(request.languages)
    const { context } = request
    const idempotency = keyedBy(form, context.idempotency)
    try {
      await verifyEmail({ ...context, idempotency }, linkOf(request))
    } catch (error) {
      if (isDeadLink(error)) return expiredVerificationPage(language)
      if (error instanceof DomainError && error.code === 'DUPLICATE_EMAIL') return takenPage(language)
      throw error
    }
    return verifiedPage(language)
  },
})
