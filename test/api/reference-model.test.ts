/** Compares random operation sequences in both APIs with a model of the rules. `npm run prove -- F30` runs thousands of longer ones. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTriedService } from '../support/model/in-test.ts'
import { agreement, nothingPlayed } from '../support/model/sequences.ts'

const service = await createTriedService()
const seed = Number.parseInt(process.env.SEED ?? '30', 16)

it('matches the reference model for random sequences of operations', async () => {
  const tally = nothingPlayed()
  await fc.assert(agreement(service, { mostCommands: 25 }, tally), { numRuns: 12, seed })
  expect(tally.attempts).toBeGreaterThan(tally.sequences)
})
