import { expect, it } from 'vitest'
import { DomainError } from '../../src/domain/errors.ts'
import { createRequestLimits } from '../../src/domain/request-limits.ts'
import { silentMeter } from '../../src/domain/telemetry.ts'

/** A database that is away: then each process counts for itself. What all count together stands in `test/rest/shared-limits.test.ts`. */
const away = { query: () => Promise.reject(new Error('away')) }

function limitsAt(clock: { now: number }) {
  const limits = createRequestLimits({
    database: away,
    meter: silentMeter,
    config: { requestsPerToken: 2, requestsPerAddress: 1 },
    now: () => clock.now,
  })
  /** Seconds to wait, or 0 when it was let through. */
  const waitOf = async (take: () => Promise<void> | undefined) => {
    try {
      await take()
      return 0
    } catch (error) {
      return error instanceof DomainError && error.code === 'THROTTLED' ? error.retryAfter : error
    }
  }
  const each =
    (take: (subject: string) => Promise<void> | undefined) =>
    async (...subjects: string[]) => {
      const waits = []
      for (const subject of subjects) waits.push(await waitOf(() => take(subject)))
      return waits
    }
  return { session: each(limits.takeSession), address: each(limits.takeAddress) }
}

it('each session has its own requests, and addresses have theirs', async () => {
  const { session, address } = limitsAt({ now: 0 })
  expect(await session('a', 'a', 'a', 'b')).toEqual([0, 0, 60, 0])
  expect(await address('192.0.2.1', '192.0.2.1', '192.0.2.2')).toEqual([0, 60, 0])
  expect(await session('b')).toEqual([0])
})

it('a minute later everybody may ask again, and tries in between change nothing', async () => {
  const clock = { now: 0 }
  const { address } = limitsAt(clock)
  expect(await address('192.0.2.1')).toEqual([0])
  clock.now = 59_500
  expect(await address('192.0.2.1', '192.0.2.1')).toEqual([1, 1])
  clock.now = 60_000
  expect(await address('192.0.2.1')).toEqual([0])
})

it('the addresses of one IPv6 customer count as one', async () => {
  const { address } = limitsAt({ now: 0 })
  const found = await address('2001:db8:0:1:0:0:0:1', '2001:db8:0:1:a:b:c:d', '2001:db8:0:2:0:0:0:1')
  expect(found).toEqual([0, 60, 0])
})
