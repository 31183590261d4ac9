import { html } from 'hono/html'
import { type Refused, refusalNotice, refusalSentence, renderField } from './action.ts'
import type { AdminPage } from './admin-page.ts'

/** What led to the form, beyond the wish to get in. */
export interface SignInState {
  /** Whether a session was there that is good no more. */
  isEnded?: boolean
  /** Why the last try was refused. */
  refused?: Refused
  /** As it was typed. */
  email?: string
  /** What a form brought that was sent after the session had ended, as `keptOf` tells it; nothing was done with it. */
  kept?: string
}

const KEPT = 'What you sent was not done. Sign in again to see it as you filled it in, and to send it.'

/** The form by which an administrator gets in. `next`: where they wanted to go. */
export const signInPage = (next: string, { isEnded, refused, email = '', kept = '' }: SignInState): AdminPage => ({
  ...(refused ? { refused } : kept !== '' && { refused: { code: 'NOT_AUTHENTICATED' as const, status: 403 } }),
  isBare: true,
  title: refused ? 'Not signed in' : 'Sign in',
  content: html`<p class="quiet">Annal, administration</p>
<h1>Sign in</h1>
${refused ? refusalNotice(refusalSentence(refused, ['email', 'password'])) : ''}
${isEnded ? html`<div class="notice" role="status"><p>Your session has ended. ${kept === '' ? 'Sign in again to go on.' : KEPT}</p></div>` : ''}
<form class="form" method="post" action="/admin/sign-in">
<input type="hidden" name="next" value="${next}">
${kept === '' ? '' : html`<input type="hidden" name="kept" value="${kept}">`}
${renderField({ name: 'email', label: 'E-mail address', value: email }, refused?.fields.email, ({ name, value }, attributes) => html`<input id="${name}" name="${name}" type="email" value="${value}" required autocomplete="username"${attributes}>`)}
${renderField({ name: 'password', label: 'Password' }, refused?.fields.password, ({ name }, attributes) => html`<input id="${name}" name="${name}" type="password" required autocomplete="current-password"${attributes}>`)}
<button>Sign in</button>
</form>
<p class="quiet">A session ends after eight hours, and after half an hour in which nothing is asked for.</p>`,
})
