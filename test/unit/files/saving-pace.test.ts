import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pauseAfterSaving } from '../../../src/embedded/embedded-anvil.ts'

const TEN_MINUTES = 10 * 60_000
const milliseconds = fc.double({ min: 1, max: 60 * 60_000, noNaN: true })

it('saving the embedded chain uses at most 2 % of the time, and each block is saved within ten minutes', () => {
  fc.assert(
    fc.property(milliseconds, (took) => {
      const pause = pauseAfterSaving(took)
      const isShort = took / (took + pause) <= 1 / 50
      expect(isShort || pause >= TEN_MINUTES).toBe(true)
      expect(pause <= TEN_MINUTES || pause === took).toBe(true)
    }),
  )
})

it('a young chain is saved shortly after each block', () => {
  expect(pauseAfterSaving(10)).toBeLessThanOrEqual(500)
})
