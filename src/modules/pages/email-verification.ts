/**
 * The page that the mail to a new address leads to. Programs that look through mail for viruses follow its links, so
 * opening the page changes nothing: the button does. The token in the address is the credential, and there are no cookies,
 * so no request can be forged.
 */
import { html } from 'hono/html'
import { fill, messages } from '../../locales/messages.ts'
import { DomainError } from '../../shared/errors.ts'
import type { Language } from '../../shared/language.ts'
import { preferredLanguage } from '../../shared/language.ts'
import { keyedBy, keyField } from './form-key.ts'
import { noticePage, secretPage } from './layout.ts'
import { deadLinkPage, isDeadLink, linkOf } from './mailed-link.ts'
import type { FormPage, PageAnswer } from './page.ts'

const deadPage = (language: Language) => deadLinkPage(language, messages[language].pages.verify)

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

function donePage(language: Language): PageAnswer {
  const { done, doneText } = messages[language].pages.verify
  return noticePage(200, { language, title: done, kind: 'good', paragraphs: [doneText] })
}

/** Asks whoever opens the link to confirm; the form verifies the address. */
export const createEmailVerificationPage = (): FormPage => ({
  path: '/account/email-verification/:uid/:token',
  reason: 'A page for people whose address is to be confirmed; the mail to that address leads to it.',

  async show(request) {
    const language = preferredLanguage(request.languages)
    const link = await request.context.services.identities.findLink(linkOf(request))
    return link ? askPage(language, link) : deadPage(language)
  },

  async submit(request, form) {
    const language = preferredLanguage(request.languages)
    const { actor, idempotency, services } = request.context
    try {
      await services.identities.verify(actor, linkOf(request), keyedBy(form, idempotency))
    } catch (error) {
      if (isDeadLink(error)) return deadPage(language)
      if (error instanceof DomainError && error.code === 'DUPLICATE_EMAIL') return takenPage(language)
      throw error
    }
    return donePage(language)
  },
})
