/** Which statements this process sends to its database. */
import pg from 'pg'
import { afterEach, vi } from 'vitest'

const LOOKS = new Set(['event_feeds', 'event_ended', 'event_asset_facts'])

/** Names of statements, or their text where they have none, from now until the test ends; grows. */
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
