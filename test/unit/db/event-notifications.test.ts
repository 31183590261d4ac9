import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createEventNotifications } from '../../../src/db/processes.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()

it('closes the LISTEN connection immediately in every connection state', async () => {
  const { databaseUrl: url, database } = app.installation
  const closings = Array.from({ length: 60 }, async (_, turns) => {
    const notifications = createEventNotifications(url, database, app.log)
    const stopListening = notifications.listen({ onEvents() {}, onRevoked() {}, onGap() {} })
    for (let passed = 0; passed < turns; passed += 1) await turn()
    stopListening()
    await notifications.close()
    return 'closed'
  })
  expect(new Set(await Promise.all(closings))).toEqual(new Set(['closed']))
})
