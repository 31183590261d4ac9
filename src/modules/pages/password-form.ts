/** The form in which a new password is typed twice, and what can be wrong with what was typed. */
import { html } from 'hono/html'
import { fill, messages } from '../../locales/messages.ts'
import type { Language } from '../../shared/language.ts'
import { keyField } from './form-key.ts'
import { secretPage } from './layout.ts'
import type { PageAnswer } from './page.ts'

/** Minimum and maximum length of a password, in characters. */
export interface PasswordLength {
  min: number
  max: number
}

/** Returns the problem with a new password, or undefined if it can be set. */
export type PasswordProblem = (password: string) => 'tooShort' | 'tooLong' | 'unfit' | undefined

/** A problem with the form, by the key of its message. */
export type Problem = 'missing' | 'missingAgain' | 'different' | NonNullable<ReturnType<PasswordProblem>>

/** Returns the first problem with the form, or undefined. */
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
  // No maxlength: it would cut a pasted password short without a word.
  return html`<div class="field">
<label for="${name}">${label}</label>
${rule ? html`<p class="rule" id="${name}-rule">${rule}</p>` : ''}
${wrong ? html`<p class="wrong" id="${name}-problem">${wrong}</p>` : ''}
<input type="password" id="${name}" name="${name}" required autocomplete="new-password" autocapitalize="none" spellcheck="false"${
    descriptions.length ? html` aria-describedby="${descriptions.join(' ')}"` : ''
  }${wrong ? html` aria-invalid="true"` : ''}>
</div>`
}

/** What the form shows. */
export interface PasswordForm {
  /** Whose password it is. */
  email: string
  passwordLength: PasswordLength
  problem?: Problem
}

/** Without an action the form goes to the page's own address: nothing of the address stands in the page. */
export function passwordForm(language: Language, { email, passwordLength, problem }: PasswordForm): PageAnswer {
  const { reset: words } = messages[language].pages
  const text = problem && fill(words[problem], { ...passwordLength })
  const wrongField = problem === 'missingAgain' || problem === 'different' ? 'new-password-again' : 'new-password'
  const wrongIn = (name: Field['name']) => (name === wrongField ? text : undefined)
  // Nobody sees it: password managers want to know whose password it is.
  const account = html`<input type="text" name="username" value="${email}" autocomplete="username" readonly hidden>`
  // The focus goes to the notice, so that a screen reader begins with what is wrong; both fields are empty again.
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
