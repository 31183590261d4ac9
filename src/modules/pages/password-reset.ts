/**
 * The page that the mail about a lost password leads to. The token in the address is the credential, and there are no
 * cookies: who has a browser send this form from elsewhere has to know the token, so no request can be forged.
 */

import { messages } from '../../locales/messages.ts'
import type { Language } from '../../shared/language.ts'
import { preferredLanguage } from '../../shared/language.ts'
import { keyedBy } from './form-key.ts'
import { noticePage } from './layout.ts'
import { deadLinkPage, isDeadLink, isRefusedField, linkOf } from './mailed-link.ts'
import type { FormPage, PageAnswer } from './page.ts'
import { type PasswordLength, type PasswordProblem, type Problem, passwordForm, problemOf } from './password-form.ts'

const deadPage = (language: Language) => deadLinkPage(language, messages[language].pages.reset)

function donePage(language: Language): PageAnswer {
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
    const email = await request.context.services.passwords.addressOf(linkOf(request))
    return email === undefined ? deadPage(language) : passwordForm(language, { email, passwordLength })
  },

  async submit(request, form) {
    const language = preferredLanguage(request.languages)
    const { actor, idempotency, services } = request.context
    const showAgain = async (problem: Problem) => {
      const email = await services.passwords.addressOf(linkOf(request))
      // Nobody should think of a better password for a link that is not good any more.
      return email === undefined ? deadPage(language) : passwordForm(language, { email, passwordLength, problem })
    }
    const problem = problemOf(form, passwordProblem)
    if (problem) return showAgain(problem)
    try {
      const newPassword = form.get('new-password')!
      await services.passwords.reset(actor, { ...linkOf(request), newPassword }, keyedBy(form, idempotency))
    } catch (error) {
      if (isDeadLink(error)) return deadPage(language)
      if (isRefusedField(error, 'newPassword')) return showAgain('unfit')
      throw error
    }
    return donePage(language)
  },
})
