/** Links as people get them: asked for at the front door, and read from the mail. */
import { afterAll } from 'vitest'
import { startJobs } from '../../src/platform/jobs.ts'
import { eventually } from '../support/eventually.ts'
import { parseMail } from '../support/parse-mail.ts'
import { createSmtpSink } from '../support/smtp-sink.ts'
import { createTestApp, type SignedIn, type TestApp, type TestAppOptions } from '../support/test-app.ts'

export type LinkKind = 'password-reset' | 'email-verification'

export interface MailedApp extends TestApp {
  /** Asks for a mail, and returns the path its link leads to. */
  newLink(user: SignedIn, kind: LinkKind): Promise<string>
  /** Subjects of the mails to an address, oldest first. */
  subjects(address: string): string[]
}

const requests: Record<LinkKind, string> = {
  'password-reset': 'auth/users/reset_password/',
  'email-verification': 'auth/users/resend_activation/',
}

/** A test app whose mails go out. */
export async function createMailedApp({ env }: TestAppOptions = {}): Promise<MailedApp> {
  const sink = await createSmtpSink()
  const app = await createTestApp({ env: { LIMIT_RESETS_PER_IP: '1000000', ...env, SMTP_URL: sink.url } })
  const jobs = await startJobs({ databaseUrl: app.installation.databaseUrl, log: app.log })
  afterAll(() => jobs.stop())
  await jobs.work('account-mail', { concurrency: 2, pollEvery: 0.5 }, app.jobs.accountMail)

  const mailsTo = (address: string) =>
    sink.mails.filter(({ to }) => to.includes(address)).map(({ source }) => parseMail(source))
  const linksTo = (address: string, kind: LinkKind) =>
    mailsTo(address).flatMap(({ text }) => text.split('\n').filter((line) => line.includes(`/account/${kind}/`)))

  return {
    ...app,
    async newLink({ email }, kind) {
      const before = linksTo(email, kind).length
      await app.rest('POST', requests[kind], { json: { email } })
      const links = await eventually(
        () => linksTo(email, kind),
        (found) => found.length > before,
      )
      return new URL(links.at(-1)!).pathname
    },
    subjects: (address) => mailsTo(address).map(({ subject }) => subject),
  }
}
