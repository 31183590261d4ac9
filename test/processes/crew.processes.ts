import cluster from 'node:cluster'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
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
  // However quick or slow either of them is.
  cluster.once('exit', () => writeFileSync(join(dir, 'over'), ''))
  crew.start({ name: 'late', args: ['late', join(dir, 'over')] })
  await crew.open('http://localhost')
  expect(crew.absent()).toEqual(['short-lived'])
  await eventually(
    async () => crew.absent(),
    (absent) => absent.length === 0,
  )
})

it('starts no worker any more once it is told that it is about to stop', async () => {
  const log = createTestLog()
  const crew = createCrew({ program, log, readAllMetrics: async () => '' })
  onTestFinished(() => crew.stop())
  crew.start({ name: 'brief', args: ['brief'] })
  await crew.open('http://localhost')
  const pause = 1_000
  await eventually(
    () => log.lines.map(({ fields }) => fields),
    (told) => told.some((fields) => 'pauseMs' in fields && fields.pauseMs === pause),
  )
  crew.leave()
  const onFork = vi.fn()
  cluster.on('fork', onFork)
  onTestFinished(() => void cluster.off('fork', onFork))
  await delay(pause + 500)
  expect(onFork).not.toHaveBeenCalled()
})

it('goes on trying while the machine starts no process, and has the worker again once it does', async () => {
  const log = createTestLog()
  const crew = createCrew({ program, log, readAllMetrics: async () => '' })
  const { execPath } = process
  const mend = () => {
    process.execPath = execPath
  }
  onTestFinished(async () => {
    mend()
    await crew.stop()
  })
  crew.start({ name: 'steady', args: ['steady'] })
  await crew.open('http://localhost')
  process.execPath = join(import.meta.dirname, 'no-such-program')
  for (const worker of Object.values(cluster.workers!)) worker!.process.kill('SIGKILL')
  const refusals = () => log.lines.filter(({ fields }) => 'end' in fields && String(fields.end).includes('ENOENT'))
  await eventually(
    async () => refusals(),
    (told) => told.length > 1,
  )
  expect(crew.absent()).toEqual(['steady'])
  mend()
  await eventually(
    async () => crew.absent(),
    (absent) => absent.length === 0,
  )
})
