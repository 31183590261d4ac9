import { eventually } from './eventually.ts'
import type { SignedIn, TestApp } from './test-app.ts'

/** The answer to a request of a user whose account is locked when all is checked and the change is about to be written. */
export async function lockMeanwhile<T>(app: TestApp, user: SignedIn, send: () => Promise<T>): Promise<T> {
  const sent = await app.installation.database.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`update users set locked_at = now() where id = ${user.id}::uuid`
    const answer = send()
    await eventually(
      () => app.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      (waiting) => waiting.length > 0,
    )
    return { answer }
  })
  return sent.answer
}
