import { describe, expect, it } from 'vitest'
import { createLogThrottle } from '../../../src/shared/log.ts'
import { createLog } from '../../../src/telemetry/log.ts'

function openLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { destination: { write: (line) => void lines.push(JSON.parse(line)) } })
  return { log, lines }
}
const away = () => ({ err: new Error('connect ECONNREFUSED') })

describe('log', () => {
  it('logs a repeated warning of requests once', () => {
    const { log, lines } = openLog()
    for (let n = 0; n < 100; n += 1) log.child({ requestId: `r${n}` }).warn(away(), 'The database is not available')
    expect(lines).toMatchObject([{ msg: 'The database is not available', err: { message: 'connect ECONNREFUSED' } }])
  })

  it('logs all different warnings, and every error', () => {
    const { log, lines } = openLog()
    log.warn({ ...away(), job: '1' }, 'A job failed')
    log.warn({ ...away(), job: '2' }, 'A job failed')
    log.warn({ err: new Error('timeout') }, 'A job failed')
    log.error(away(), 'Nobody expected this')
    log.error(away(), 'Nobody expected this')
    expect(lines).toHaveLength(5)
  })

  it('logs a warning even if its fields cannot be serialized to JSON', () => {
    const { log, lines } = openLog()
    const cycle: { self?: object } = {}
    cycle.self = cycle
    for (const fields of [{ wei: 1n }, { at: new Date(Number.NaN) }, { nothing: undefined }, { cycle }])
      log.warn(fields, 'Told')
    expect(lines).toHaveLength(4)
  })

  it('redacts secrets in log lines, also in warnings', () => {
    const { log, lines } = openLog()
    log.warn({ token: 'abc', of: { password: 'def' } }, 'Told')
    expect(lines).toMatchObject([{ token: '[censored]', of: { password: '[censored]' } }])
  })
})

describe('repeated warnings', () => {
  it('logs a repeated warning again after a minute, with its count', () => {
    let now = 0
    const throttle = createLogThrottle(60_000, () => now)
    expect(throttle('away')).toEqual({ suppressed: 0 })
    for (now = 1_000; now < 60_000; now += 1_000) expect(throttle('away')).toBeUndefined()
    expect(throttle('away')).toEqual({ suppressed: 59 })
    expect(throttle('slow')).toEqual({ suppressed: 0 })
  })

  it('uses a limited amount of memory for repeated warnings', () => {
    const throttle = createLogThrottle(60_000, () => 0)
    throttle('first')
    for (let n = 0; n < 1_000; n += 1) throttle(`text ${n}`)
    expect(throttle('first')).toEqual({ suppressed: 0 })
  })
})
