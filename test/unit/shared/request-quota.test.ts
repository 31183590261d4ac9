import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { DomainError } from '../../../src/shared/errors.ts'
import { createRequestQuota } from '../../../src/shared/limiters.ts'
import { limitsWith } from '../../../src/shared/limits.ts'
import type { Actor } from '../../../src/shared/policy.ts'
import { noopMeter } from '../../../src/telemetry/telemetry-types.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

const anonymous = (address: string): Actor => ({ kind: 'anonymous', address, service: undefined })
const user = (id: string, address: string, service?: { id: string }) =>
  ({ kind: 'user', id, address, service }) as unknown as Actor

function openQuota() {
  const limits = limitsWith('requests-per-user=2,requests-per-address=1')
  const quota = createRequestQuota({ meter: noopMeter, limits })
  /** Seconds to wait for each caller, or 0 if the request was accepted. */
  return async (...callers: Actor[]) => {
    const waits: number[] = []
    for (const caller of callers) {
      const wait = await quota.consume(caller, 1).then(
        () => 0,
        (error: unknown) => (error instanceof DomainError && error.code === 'THROTTLED' ? error.retryAfter! : -1),
      )
      waits.push(wait)
    }
    return waits
  }
}

it('the request quota counts each account and each anonymous address separately', async () => {
  const send = openQuota()
  const [a, b] = [user('a', '192.0.2.1'), user('b', '192.0.2.1')]
  expect(await send(a, a, a, b)).toEqual([0, 0, 60, 0])
  expect(await send(anonymous('192.0.2.1'), anonymous('192.0.2.1'), anonymous('192.0.2.2'))).toEqual([0, 60, 0])
})

it('the request quota accepts requests again after a minute, and rejected requests do not extend the wait', async () => {
  const send = openQuota()
  const caller = anonymous('192.0.2.1')
  expect(await send(caller)).toEqual([0])
  vi.advanceTimersByTime(59_500)
  expect(await send(caller, caller)).toEqual([1, 1])
  vi.advanceTimersByTime(500)
  expect(await send(caller)).toEqual([0])
})

it('the request quota counts the addresses of one IPv6 customer together', async () => {
  const send = openQuota()
  const callers = ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1:a:b:c:d', '2001:db8:0:2:0:0:0:1'].map(anonymous)
  expect(await send(...callers)).toEqual([0, 60, 0])
})

it('five accounts at one address can use their whole request quotas, and a trusted service has its own quota', async () => {
  const send = openQuota()
  const accounts = (address: string, service?: { id: string }) =>
    Array.from({ length: 6 }, (_, n) => user(`${address}-${n}`, address, service))
  const office = accounts('192.0.2.1')
  expect(await send(...office, ...office)).toEqual([...Array(10).fill(0), 60, 60])
  const customers = accounts('192.0.2.2', { id: 'service' })
  expect(await send(...customers, ...customers)).toEqual(Array(12).fill(0))
})
