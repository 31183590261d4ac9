import { html } from 'hono/html'
import { refusalNotice, renderField } from './action.ts'
import type { AdminPage } from './admin-page.ts'

/** A sign-in that was refused. */
export interface FailedSignIn {
  status: number
  message: string
  /** As it was typed. */
  email: string
}

/** The form by which an administrator gets in. `next`: where they wanted to go. */
export const signInPage = (next: string, failed?: FailedSignIn): AdminPage => ({
  ...(failed && { status: failed.status }),
  isBare: true,
  title: failed ? 'Not signed in' : 'Sign in',
  content: html`<p class="quiet">Annal, administration</p>
<h1>Sign in</h1>
${failed ? refusalNotice(failed.message) : ''}
<form class="form" method="post" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${renderField({ name: 'email', label: 'E-mail address', value: failed?.email ?? '' }, [], ({ name, value }) => html`<input id="${name}" name="${name}" type="email" value="${value}" required autocomplete="username">`)}
${renderField({ name: 'password', label: 'Password' }, [], ({ name }) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password">`)}
<button>Sign in</button>
</form>
<p class="quiet">A session ends after eight hours, and after half an hour in which nothing is asked for.</p>`,
})
