import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createCrew } from '../../src/platform/workers/crew.ts'
import { eventually } from '../support/eventually.ts'
import { createTestLog } from '../support/test-log.ts'

const program = fileURLToPath(new URL('crew-member.ts', import.meta.url))

it('replaces a worker that served and ended before the others had', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-crew-'))
  const crew = createCrew({ program, log: createTestLog(), readAllMetrics: async () => '' })
  onTestFinished(async () => {
    await crew.stop()
    await rm(dir, { recursive: true })
  })
  crew.start({ name: 'short-lived', args: ['once', join(dir, 'ended')] })
  crew.start({ name: 'late', args: ['late'] })
  await crew.open('http://localhost')
  expect(crew.absent()).toEqual(['short-lived'])
  await eventually(
    async () => crew.absent(),
    (absent) => absent.length === 0,
  )
})
