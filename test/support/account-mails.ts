/** Starts a service that sends account mails to the test's own mail server. */
import { startJobs } from '../../src/jobs/jobs.ts'
import { atEnd } from './at-end.ts'
import { eventually } from './eventually.ts'
import { startMailServer } from './mail-server.ts'
import { linkIn, mailsOf } from './read-mails.ts'
import { createTestApp, type TestApp } from './test-app.ts'

/** `open`: starts the service with these environment variables. */
export async function createAccountMails(
  env: Record<string, string> = {},
  open: (env: Record<string, string>) => Promise<TestApp> = (variables) => createTestApp({ env: variables }),
) {
  const server = await startMailServer(atEnd)
  const app = await open({ SMTP_URL: server.url, ...env })
  const jobs = await startJobs({ databaseUrl: app.installation.databaseUrl, log: app.log })
  // Registered after the application, because hooks run in reverse order.
  atEnd(() => jobs.stop())
  await jobs.work('account-mail', { concurrency: 2, pollEvery: 0.1 }, app.jobs['account-mail'])

  const mailsTo = (address: string, template: string) => mailsOf(server, template, { to: address })

  const awaitMails = async (address: string, template: string, count = 1) => {
    await eventually(
      () => mailsTo(address, template).length,
      (length) => length >= count,
    )
    return mailsTo(address, template)
  }

  return {
    app,
    server,
    mailsTo,
    linksTo: (address: string, template: string) => mailsTo(address, template).map(linkIn),
    awaitMails,
    async awaitLink(address: string, template: string, count = 1) {
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

export type AccountMails = Awaited<ReturnType<typeof createAccountMails>>
