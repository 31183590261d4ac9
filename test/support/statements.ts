/** Records the SQL statements that this process sends. */
import pg from 'pg'
import { afterEach, vi } from 'vitest'

const LOOKS = new Set(['event_feeds', 'event_invalid_credentials', 'event_asset_facts'])

/** Returns a growing list of statement names, or texts of unnamed statements, until the test ends. */
export function recordStatements(): string[] {
  const sent: string[] = []
  const original = pg.Client.prototype.query
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function query(
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [config] = args as [string | { name?: string; text?: string }]
    sent.push(typeof config === 'string' ? config : (config.name ?? config.text ?? ''))
    return (original as (...all: unknown[]) => unknown).apply(this, args)
  } as never)
  afterEach(() => spy.mockRestore())
  return sent
}

export const withoutLooks = (sent: readonly string[]) => sent.filter((name) => !LOOKS.has(name))
