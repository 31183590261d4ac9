/** Pages that mailed links open: password reset and email verification. */
import { html } from 'hono/html'
import { fill, messages } from '../../locales/messages.ts'
import { DomainError } from '../../shared/errors.ts'
import { type Language, preferredLanguage } from '../../shared/language.ts'
import { passwordLength, passwordProblem } from '../accounts/account-input.ts'
import { findLink, resetPassword, verifyEmail } from '../accounts/mailed-links.ts'
import { type FormPage, keyedBy, keyField, noticePage, type PageAnswer, type PageRequest, secretPage } from './page.ts'

const linkOf = ({ params }: PageRequest) => ({ uid: params.uid!, token: params.token! })

const wordsOf = ({ languages }: PageRequest) => {
  const language = preferredLanguage(languages)
  return { language, ...messages[language].pages }
}

const isRefusedField = (error: DomainError, field: string) =>
  error.code === 'VALIDATION_FAILED' && typeof error.details === 'object' && Object.hasOwn(error.details, field)

/** A mailed link may also have a malformed user ID or token. */
const isDeadLink = (error: DomainError) =>
  error.code === 'INVALID_TOKEN' || isRefusedField(error, 'uid') || isRefusedField(error, 'token')

function deadLinkPage(request: PageRequest, page: 'reset' | 'verify'): PageAnswer {
  const { language, [page]: words } = wordsOf(request)
  return noticePage(410, { language, title: words.dead, kind: 'bad', paragraphs: [words.deadWhy, words.deadNext] })
}

type Problem = 'missing' | 'missingAgain' | 'different' | NonNullable<ReturnType<typeof passwordProblem>>

function problemOf(form: URLSearchParams): Problem | undefined {
  const password = form.get('new-password') ?? ''
  const again = form.get('new-password-again') ?? ''
  if (password === '') return 'missing'
  const problem = passwordProblem(password)
  if (problem) return problem
  if (again === '') return 'missingAgain'
  return again === password ? undefined : 'different'
}

type FieldName = 'new-password' | 'new-password-again'

function renderField(name: FieldName, label: string, rule: string | undefined, wrong: string | undefined) {
  const descriptions = [...(rule ? [`${name}-rule`] : []), ...(wrong ? [`${name}-problem`] : [])]
  // The password field has no `maxlength`, because that would silently shorten a pasted password.
  return html`<div class="field">
<label for="${name}">${label}</label>
${rule ? html`<p class="rule" id="${name}-rule">${rule}</p>` : ''}
${wrong ? html`<p class="wrong" id="${name}-problem">${wrong}</p>` : ''}
<input type="password" id="${name}" name="${name}" required autocomplete="new-password" autocapitalize="none" spellcheck="false"${
    descriptions.length ? html` aria-describedby="${descriptions.join(' ')}"` : ''
  }${wrong ? html` aria-invalid="true"` : ''}>
</div>`
}

/** Renders the password form. The form has no `action`, so the HTML does not contain the token. */
function passwordForm(language: Language, email: string, problem: Problem | undefined): PageAnswer {
  const { reset: words } = messages[language].pages
  const text = problem && fill(words[problem], { ...passwordLength })
  const wrongField = problem === 'missingAgain' || problem === 'different' ? 'new-password-again' : 'new-password'
  const field = (name: FieldName, label: string, rule?: string) =>
    renderField(name, label, rule, name === wrongField ? text : undefined)
  // The hidden field tells password managers which account the password belongs to.
  const account = html`<input type="text" name="username" value="${email}" autocomplete="username" readonly hidden>`
  // The error notice gets the focus, so that screen readers read it first. Both password fields are empty again.
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
${field('new-password', words.password, fill(words.rule, { ...passwordLength }))}
${field('new-password-again', words.again)}
<button type="submit">${words.button}</button>
</form>`,
  })
}

/** Shows the password form for a valid link. Reports an expired link before any problem of the password. */
async function showPasswordForm(request: PageRequest, problem?: Problem): Promise<PageAnswer> {
  const link = await findLink(request.context, 'PASSWORD_RESET', linkOf(request))
  return link ? passwordForm(wordsOf(request).language, link.email, problem) : deadLinkPage(request, 'reset')
}

export const passwordResetPage: FormPage = {
  path: '/account/password-reset/:uid/:token',
  show: (request) => showPasswordForm(request),
  async submit(request, form) {
    const { context } = request
    const problem = problemOf(form)
    if (problem) return showPasswordForm(request, problem)
    try {
      const newPassword = form.get('new-password')!
      const idempotency = keyedBy(form, context.idempotency)
      await resetPassword({ ...context, idempotency }, { ...linkOf(request), newPassword })
    } catch (error) {
      if (error instanceof DomainError && isDeadLink(error)) return deadLinkPage(request, 'reset')
      if (error instanceof DomainError && isRefusedField(error, 'newPassword'))
        return showPasswordForm(request, 'unfit')
      throw error
    }
    const { language, reset } = wordsOf(request)
    return noticePage(200, { language, title: reset.done, kind: 'good', paragraphs: [reset.doneText, reset.doneMail] })
  },
}

/** The form verifies the address, because mail scanners open links. */
export const emailVerificationPage: FormPage = {
  path: '/account/email-verification/:uid/:token',
  async show(request) {
    const { language, verify } = wordsOf(request)
    const link = await findLink(request.context, 'EMAIL_VERIFICATION', linkOf(request))
    if (!link) return deadLinkPage(request, 'verify')
    return secretPage(200, {
      language,
      title: verify.title,
      content: html`<h1>${verify.title}</h1>
<p>${fill(verify.intro, { ...link })}</p>
<form method="post">
${keyField()}
<button type="submit">${verify.button}</button>
</form>`,
    })
  },
  async submit(request, form) {
    const { context } = request
    const { language, verify } = wordsOf(request)
    const idempotency = keyedBy(form, context.idempotency)
    try {
      await verifyEmail({ ...context, idempotency }, linkOf(request))
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      if (isDeadLink(error)) return deadLinkPage(request, 'verify')
      if (error.code !== 'DUPLICATE_EMAIL') throw error
      return noticePage(409, { language, title: verify.taken, kind: 'bad', paragraphs: [verify.takenText] })
    }
    return noticePage(200, { language, title: verify.done, kind: 'good', paragraphs: [verify.doneText] })
  },
}
