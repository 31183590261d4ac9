/** Long outages of the mail server. */
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { findDead, retryJobs, subjectOf } from '../../../src/jobs/jobs.sql.ts'
import { startJobs } from '../../../src/jobs/jobs.ts'
import { toId } from '../../../src/shared/ids.ts'
import { createAccountMails } from '../../support/account-mails.ts'
import { eventually, poll } from '../../support/eventually.ts'
import type { SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const mails = await createAccountMails()
const { app } = mails

beforeEach(() => {
  mails.server.mood = 'refuse'
})

const changePassword = (user: SignedIn) =>
  user.rest('POST', 'auth/users/set_password/', {
    json: { current_password: PASSWORD, new_password: 'staple battery horse' },
  })
const askReset = (email: string) => app.rest('POST', 'auth/users/reset_password/', { json: { email } })

interface Job {
  id: string
  data: Record<string, unknown>
  retry_count: number
  retry_delay_max: number
}

const waitingJob = async (template: string, retries = 0): Promise<Job> =>
  (
    await poll(() =>
      app.sql<Job>(
        `select id::text, data, retry_count, retry_delay_max from jobs.job
           where name = 'account-mail' and state = 'retry' and data->>'template' = $1 and retry_count >= $2`,
        [template, retries],
      ),
    ).until((rows) => rows.length === 1)
  )[0]!

const tryAgain = ({ id }: Job, retry: number, isLast = false) =>
  app.sql(
    `update jobs.job set start_after = now(), retry_count = $2 - 1, retry_limit = case when $3 then $2 else retry_limit end
     where id = $1::uuid`,
    [id, retry, isLast],
  )

const reportedOf = (job: Job) =>
  app.log.lines.filter(({ fields }) => 'job' in fields && fields.job === toId('job', job.id))

const deadLetterOf = async ({ id }: Job) =>
  (
    await poll(() =>
      app.sql<{ id: string; data: object; error: string }>(
        `select id::text, data, source_output->>'message' as error from jobs.job
           where name = 'dead-letter' and source_id = $1::uuid`,
        [id],
      ),
    ).until((rows) => rows.length === 1)
  )[0]!

describe('mails during an outage of the mail server', () => {
  it('a mail is retried during an outage every 30 seconds, later every ten minutes, and arrives once', async () => {
    const user = await app.newUser()
    expect((await changePassword(user)).status).toBe(204)
    const job = await waitingJob('password-changed')
    expect(job.retry_delay_max).toBe(30)
    await tryAgain(job, 29)
    expect((await waitingJob('password-changed', 29)).retry_delay_max).toBe(30)
    await tryAgain(job, 30)
    await poll(() => waitingJob('password-changed', 30)).until((waiting) => waiting.retry_delay_max === 600)
    await tryAgain(job, 31)
    await waitingJob('password-changed', 31)
    const [after] = await app.sql(
      `select start_after >= started_on + interval '600 seconds' as rarely,
         (retry_limit - retry_count) * retry_delay_max >= 86400 as for_a_day,
         keep_until > now() + interval '7 days' as kept from jobs.job where id = $1::uuid`,
      [job.id],
    )
    expect(after).toEqual({ rarely: true, for_a_day: true, kept: true })
    mails.server.mood = 'accept'
    await tryAgain(job, 32)
    await mails.awaitMails(user.email, 'password-changed')
    await mails.idle()
    expect(mails.mailsTo(user.email, 'password-changed')).toHaveLength(1)
  })

  it('a mail is dropped with an error log after its link expires', async () => {
    const user = await app.newUser()
    expect((await askReset(user.email)).status).toBe(201)
    const job = await waitingJob('password-reset')
    await app.sql(
      `update jobs.job set data = data || jsonb_build_object('at', now() - interval '30 minutes') where id = $1::uuid`,
      [job.id],
    )
    mails.server.mood = 'accept'
    await tryAgain(job, 1)
    await mails.idle()
    expect(mails.mailsTo(user.email, 'password-reset')).toEqual([])
    const fields = { template: 'password-reset', user: user.publicId }
    expect(app.log.lines).toContainEqual({ level: 'error', message: expect.stringContaining('Mail dropped'), fields })
    expect((await askReset(user.email)).status).toBe(201)
    await mails.awaitLink(user.email, 'password-reset')
  })
})

describe('mails to an unknown mailbox', () => {
  beforeEach(() => {
    mails.server.mood = '550'
  })

  it('a notification to an unknown mailbox is dead-lettered immediately, and an operator can retry it', async () => {
    const user = await app.newUser()
    expect((await changePassword(user)).status).toBe(204)
    const [dead] = await poll(() =>
      app.sql<{ id: string; error: string }>(
        `select id::text, source_output->>'message' as error from jobs.job
           where name = 'dead-letter' and data->>'userId' = $1`,
        [user.id],
      ),
    ).until((rows) => rows.length === 1)
    expect(dead!.error).toBe('The mail server permanently rejects the recipient (550).')
    mails.server.mood = 'accept'
    expect(await app.installation.database.query(retryJobs, { job: dead!.id })).toEqual([{ count: 1 }])
    await mails.awaitMails(user.email, 'password-changed')
  })

  it('a requested link to an unknown mailbox is logged but not dead-lettered', async () => {
    const user = await app.newUser()
    expect((await askReset(user.email)).status).toBe(201)
    const lines = () =>
      app.log.lines.filter(({ message }) => message.includes('the mail server rejected its recipient'))
    await eventually(lines, ({ length }) => length > 0)
    expect(lines()).toMatchObject([{ level: 'warn', fields: { status: 550 } }])
    expect(
      await app.sql(`select 1 from jobs.job where name = 'dead-letter' and data->>'template' = 'password-reset'`),
    ).toEqual([])
  })
})

it('a mail job that fails for hours is logged once per hour, in any process', async () => {
  const user = await app.newUser()
  expect((await changePassword(user)).status).toBe(204)
  const job = await waitingJob('password-changed')
  await tryAgain(job, 1)
  await waitingJob('password-changed', 1)
  await tryAgain(job, 2)
  await waitingJob('password-changed', 2)
  expect(reportedOf(job)).toMatchObject([{ level: 'warn', fields: { attempt: 1 } }])
  await app.sql(
    `update jobs.job set output = jsonb_set(output, '{loggedAt}', to_jsonb((output->>'loggedAt')::bigint - 3600000)) where id = $1::uuid`,
    [job.id],
  )
  await tryAgain(job, 3)
  await waitingJob('password-changed', 3)
  expect(reportedOf(job).map(({ fields }) => (fields as { attempt: number }).attempt)).toEqual([1, 4])
  await app.sql('delete from jobs.job where id = $1::uuid', [job.id])
})

describe('notifications that could not be sent', () => {
  it('a notification that could not be sent is logged and dead-lettered, and an operator can retry it', async () => {
    const user = await app.newUser()
    expect((await changePassword(user)).status).toBe(204)
    const job = await waitingJob('password-changed')
    await tryAgain(job, 180, true)
    const dead = await deadLetterOf(job)
    expect(dead).toMatchObject({ data: job.data, error: expect.stringContaining('mail server') })
    expect(job.data).toMatchObject({ template: 'password-changed', userId: user.id })
    expect(reportedOf(job).at(-1)).toMatchObject({
      level: 'error',
      fields: { attempt: 181, subject: subjectOf(job.data) },
    })
    mails.server.mood = 'accept'
    expect(await app.installation.database.query(retryJobs, { job: dead.id })).toEqual([{ count: 1 }])
    await mails.awaitMails(user.email, 'password-changed')
    expect(await app.installation.database.query(retryJobs, { job: dead.id })).toEqual([{ count: 0 }])
  })

  it('an operator can retry a notification about a changed address without seeing the address', async () => {
    const user = await app.newUser()
    const newEmail = `new-${randomUUID()}@example.org`
    const json = { current_password: PASSWORD, new_email: newEmail }
    expect((await user.rest('POST', 'auth/users/set_email/', { json })).status).toBe(204)
    const job = await waitingJob('email-changed')
    expect(job.data).toMatchObject({ email: user.email, newEmail })
    await tryAgain(job, 180, true)
    const { template, requestId, at, userId } = job.data
    const { id, data } = await deadLetterOf(job)
    expect(data).toEqual(job.data)
    expect(reportedOf(job).at(-1)).toMatchObject({
      level: 'error',
      fields: { subject: { template, user: user.publicId } },
    })
    expect(JSON.stringify(app.log.lines)).not.toContain('@example.org')
    const shown = (await app.installation.database.query(findDead, { limit: 100 })).find((row) => row.id === id)
    expect(shown).toMatchObject({ data: { template, requestId, at, userId }, can_be_retried: true })
    expect(JSON.stringify(shown)).not.toContain('@example.org')
    mails.server.mood = 'accept'
    expect(await app.installation.database.query(retryJobs, { job: id })).toEqual([{ count: 1 }])
    await mails.awaitMails(user.email, 'email-changed')
  })

  it('a dead-lettered notification loses its address after a month, or when the account is deleted', async () => {
    const letters = await Promise.all(
      ['deleted', 'old'].map(async () => {
        const user = await app.newUser()
        const json = { current_password: PASSWORD, new_email: `new-${randomUUID()}@example.org` }
        expect((await user.rest('POST', 'auth/users/set_email/', { json })).status).toBe(204)
        const [job] = await poll(() =>
          app.sql<Job>(
            `select id::text, data from jobs.job
               where name = 'account-mail' and state = 'retry' and data->>'template' = 'email-changed' and data->>'userId' = $1`,
            [user.id],
          ),
        ).until((rows) => rows.length === 1)
        await tryAgain(job!, 180, true)
        return { user, job: job!, dead: await deadLetterOf(job!) }
      }),
    )
    const [deleted, old] = letters as [(typeof letters)[0], (typeof letters)[0]]
    const { template, requestId, at, userId } = deleted.job.data
    const dataOf = async ({ id }: { id: string }) =>
      (await app.sql<{ data: object }>('select data from jobs.job where id = $1::uuid', [id]))[0]!.data
    expect((await deleted.user.rest('DELETE', 'auth/users/me/')).status).toBe(204)
    expect(await dataOf(deleted.dead)).toEqual({ template, requestId, at, userId, isCut: true })
    expect(await app.installation.database.query(retryJobs, { job: deleted.dead.id })).toEqual([{ count: 0 }])
    expect(await dataOf(old.dead)).toEqual(old.job.data)
    await app.sql(`update jobs.job set created_on = now() - interval '31 days' where id = $1::uuid`, [old.dead.id])
    const other = await startJobs(app.installation)
    await poll(() => dataOf(old.dead)).until((data) => !('email' in data))
    await other.stop()
  })
})
