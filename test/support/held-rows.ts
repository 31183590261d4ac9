/** Holds row locks until other statements wait for them, and then releases them. */
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
 * Runs `deed` while `sql` holds its locks. The service's transaction timeouts are disabled, because slow machines exceed them.
 * Return pending promises in an object, because the result is awaited.
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

/** Returns the response to a request whose user is locked just before the change is written. */
export async function lockMeanwhile<T>(app: App, user: SignedIn, send: () => Promise<T>): Promise<T> {
  const sent = await whileHeld(app, `update users set locked_at = now() where id = '${user.id}'`, async () => {
    const answer = send()
    await waiting(app, 1)
    return { answer }
  })
  return sent.answer
}
