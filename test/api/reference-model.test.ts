/** Compares random operation sequences in both APIs with a model of the rules. `npm run prove -- F30` runs thousands of longer ones. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyTally, modelProperty } from '../support/model/sequences.ts'
import { createServiceUnderTest } from '../support/model/service-under-test.ts'

const service = await createServiceUnderTest()
const seed = Number.parseInt(process.env.SEED ?? '30', 16)

it('matches the reference model for random sequences of operations', async () => {
  const tally = emptyTally()
  await fc.assert(modelProperty(service, { maxCommands: 25 }, tally), { numRuns: 12, seed })
  expect(tally.attempts).toBeGreaterThan(tally.sequences)
})
