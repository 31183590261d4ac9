import { chooseLanguage } from '../shared/language.ts'
import { writeAccountMail } from './account-mail-templates.ts'
import { renderHtml, renderText } from './mail-layout.ts'
import { createTranslator } from './mail-translator.ts'
import type { AccountMessage, ComposeMail, MailMessage } from './mail-types.ts'
import { writeOrderMail } from './order-mail-templates.ts'

export interface MailComposerOptions {
  currency: string
  publicUrl: string
}

const isAboutAnAccount = (message: MailMessage): message is AccountMessage => 'username' in message

/** Creates a function that composes mails as text and HTML in the requested language, or in English. */
export const createMailComposer =
  ({ currency, publicUrl }: MailComposerOptions): ComposeMail =>
  (message, wanted) => {
    const language = chooseLanguage([wanted])
    const translator = createTranslator(language, publicUrl)
    const body = isAboutAnAccount(message)
      ? writeAccountMail(message, translator, currency)
      : writeOrderMail(message, translator, currency)
    return {
      language,
      subject: body.subject,
      text: renderText(body),
      html: renderHtml(body, language),
      ...(body.action && { link: body.action.url }),
    }
  }
