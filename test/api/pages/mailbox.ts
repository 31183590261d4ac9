/** Requests mailed links like a user, and reads them from the mail. */
import { createAccountMails } from '../../support/account-mails.ts'
import { parseMail } from '../../support/parse-mail.ts'
import type { SignedIn, TestApp, TestAppOptions } from '../../support/test-app.ts'

export type LinkKind = 'password-reset' | 'email-verification'

export interface MailedApp extends TestApp {
  newLink(user: SignedIn, kind: LinkKind): Promise<string>
  subjects(address: string): string[]
}

const requests: Record<LinkKind, string> = {
  'password-reset': 'auth/users/reset_password/',
  'email-verification': 'auth/users/resend_activation/',
}

export async function createMailedApp({ env }: TestAppOptions = {}): Promise<MailedApp> {
  const { app, server, mailsTo, awaitLink } = await createAccountMails(env)
  return {
    ...app,
    async newLink({ email }, kind) {
      const before = mailsTo(email, kind).length
      await app.rest('POST', requests[kind], { json: { email } })
      const { uid, token } = await awaitLink(email, kind, before + 1)
      return `/account/${kind}/${uid}/${token}`
    },
    subjects: (address) =>
      server.mails.filter(({ to }) => to.includes(address)).map(({ source }) => parseMail(source).subject),
  }
}
