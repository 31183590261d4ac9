import { afterAll, expect, it } from 'vitest'
import { silent } from '../../proofs/harness/parts.ts'
import type { Actor } from '../../src/domain/actor.ts'
import { createHeldPlaces } from '../../src/domain/event/held-places.ts'
import { createStreamLimits } from '../../src/domain/event/stream-limits.ts'
import { silentMeter } from '../../src/domain/telemetry.ts'
import { createDatabase } from '../../src/platform/database/database.ts'
import { createTestDatabase } from '../support/test-database.ts'

const clone = await createTestDatabase()
const database = createDatabase({ url: clone.url, pool: 2, log: silent })
afterAll(async () => {
  await database.close()
  await clone.drop()
})

const subject = 'streams:address:192.0.2.1'
const actor: Actor = { kind: 'anonymous', address: '192.0.2.1', service: undefined }

it('whoever is refused a stream is in nobody’s way any more when they hear of it', async () => {
  const limitsOf = (places = createHeldPlaces({ database })) =>
    createStreamLimits({ streamsPerUser: 1, streamsPerAddress: 1, places, meter: silentMeter, log: silent })
  await limitsOf().take(actor)
  const places = createHeldPlaces({ database })
  const seen: number[] = []
  const refused = limitsOf({
    ...places,
    async tell(subjects, held) {
      await places.tell(subjects, held)
      seen.push(held.get(subject) ?? 0)
    },
  })
  await expect(refused.take(actor)).rejects.toThrow(expect.objectContaining({ code: 'THROTTLED' }))
  expect(seen).toEqual([1, 0])
})
