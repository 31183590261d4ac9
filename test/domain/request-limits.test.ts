import { expect, it } from 'vitest'
import { DomainError } from '../../src/domain/errors.ts'
import { createRequestLimits } from '../../src/domain/request-limits.ts'
import { silentMeter } from '../../src/domain/telemetry.ts'

function limitsAt(clock: { now: number }) {
  const limits = createRequestLimits({ requestsPerToken: 2, requestsPerAddress: 1 }, silentMeter, () => clock.now)
  /** Seconds to wait, or 0 when it was let through. */
  const waitOf = (take: () => void) => {
    try {
      take()
      return 0
    } catch (error) {
      return error instanceof DomainError && error.code === 'THROTTLED' ? error.retryAfter : error
    }
  }
  return {
    session: (id: string) => waitOf(() => limits.takeSession(id)),
    address: (text: string) => waitOf(() => limits.takeAddress(text)),
  }
}

it('each session has its own requests, and addresses have theirs', () => {
  const { session, address } = limitsAt({ now: 0 })
  expect([session('a'), session('a'), session('a'), session('b')]).toEqual([0, 0, 60, 0])
  expect([address('192.0.2.1'), address('192.0.2.1'), address('192.0.2.2'), session('b')]).toEqual([0, 60, 0, 0])
})

it('a minute later everybody may ask again, and tries in between change nothing', () => {
  const clock = { now: 0 }
  const { address } = limitsAt(clock)
  expect(address('192.0.2.1')).toBe(0)
  clock.now = 59_500
  expect([address('192.0.2.1'), address('192.0.2.1')]).toEqual([1, 1])
  clock.now = 60_000
  expect(address('192.0.2.1')).toBe(0)
})

it('the addresses of one IPv6 customer count as one', () => {
  const { address } = limitsAt({ now: 0 })
  expect([address('2001:db8:0:1:0:0:0:1'), address('2001:db8:0:1:a:b:c:d'), address('2001:db8:0:2:0:0:0:1')]).toEqual([
    0, 60, 0,
  ])
})
