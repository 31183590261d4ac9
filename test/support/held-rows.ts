/** What happens between two statements: rows are held until others wait for them, and then let go. */
import { eventually } from './eventually.ts'
import type { SignedIn, TestApp } from './test-app.ts'

type App = Pick<TestApp, 'installation' | 'sql'>

const LONGEST_MS = 100_000

export async function waiting(app: Pick<TestApp, 'sql'>, count: number): Promise<void> {
  await eventually(
    () => app.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
    ({ length }) => length >= count,
  )
}

/**
 * Does `deed` while what `sql` locks or changes is held. The service's own limits of a transaction do not hold here: on a slow machine
 * it takes longer than they allow until somebody waits. What goes on afterwards is returned in an object, as nobody waits for it here.
 */
export const whileHeld = <T extends object>(app: App, sql: string, deed: () => Promise<T>): Promise<T> =>
  app.installation.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe('set local idle_in_transaction_session_timeout = 0')
      await tx.$executeRawUnsafe(sql)
      return deed()
    },
    { timeout: LONGEST_MS },
  )

/** The answer to a request of a user whose account is locked when all is checked and the change is about to be written. */
export async function lockMeanwhile<T>(app: App, user: SignedIn, send: () => Promise<T>): Promise<T> {
  const sent = await whileHeld(app, `update users set locked_at = now() where id = '${user.id}'`, async () => {
    const answer = send()
    await waiting(app, 1)
    return { answer }
  })
  return sent.answer
}
