/** The service with its account mails under way to a mail server of our own. */

import { startJobs } from '../../src/platform/jobs/jobs.ts'
import { atEnd } from './at-end.ts'
import { eventually } from './eventually.ts'
import { type ParsedMail, parseMail } from './parse-mail.ts'
import { createSmtpSink, type SmtpSink } from './smtp-sink.ts'
import { createTestApp, type TestApp } from './test-app.ts'

/** What a mailed link carries. */
export interface MailedLink {
  uid: string
  token: string
}

export interface AccountMails {
  app: TestApp
  sink: SmtpSink
  /** The mails of this kind that an address got, oldest first. */
  mailsTo(address: string, template: string): ParsedMail[]
  /** Their links. */
  linksTo(address: string, template: string): MailedLink[]
  /** All mails of this kind that an address got, as soon as there are so many. */
  awaitMails(address: string, template: string, count?: number): Promise<ParsedMail[]>
  /** The link of the newest of so many mails. */
  awaitLink(address: string, template: string, count?: number): Promise<MailedLink>
  /** Resolves when no job is left to do. */
  idle(): Promise<void>
}

const LINK = /\/account\/(?:password-reset|email-verification)\/(user_\w{26})\/([\w-]{43})/

export async function createAccountMails(env: Record<string, string> = {}): Promise<AccountMails> {
  const sink = await createSmtpSink()
  const app = await createTestApp({ env: { SMTP_URL: sink.url, ...env } })
  const jobs = await startJobs({ databaseUrl: app.installation.databaseUrl, log: app.log })
  // Before the application goes: hooks run backwards.
  atEnd(() => jobs.stop())
  await jobs.work('account-mail', { concurrency: 2, pollEvery: 0.1 }, app.jobs.accountMail)

  const mailsTo: AccountMails['mailsTo'] = (address, template) =>
    sink.mails
      .filter(({ to }) => to.includes(address))
      .map(({ source }) => parseMail(source))
      .filter(({ headers }) => headers['message-id']?.[0]?.startsWith(`<${template}-`))

  const linkIn = ({ text }: ParsedMail): MailedLink => {
    const [, uid, token] = LINK.exec(text)!
    return { uid: uid!, token: token! }
  }

  const awaitMails: AccountMails['awaitMails'] = async (address, template, count = 1) => {
    await eventually(
      () => mailsTo(address, template).length,
      (length) => length >= count,
    )
    return mailsTo(address, template)
  }

  return {
    app,
    sink,
    mailsTo,
    linksTo: (address, template) => mailsTo(address, template).map(linkIn),
    awaitMails,
    async awaitLink(address, template, count = 1) {
      const mails = await awaitMails(address, template, count)
      return linkIn(mails[count - 1]!)
    },
    async idle() {
      await eventually(
        () => app.sql(`select id::text from jobs.job where name = 'account-mail' and state <> 'completed'`),
        (rows) => rows.length === 0,
      )
    },
  }
}
