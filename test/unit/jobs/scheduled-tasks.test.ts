/** Tasks of the queue `maintenance`, which pg-boss enqueues at their times. */
import { afterEach, expect, it } from 'vitest'
import { type Jobs, startJobs } from '../../../src/jobs/jobs.ts'
import { eventually } from '../../support/eventually.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
/** A time that is always due. pg-boss enqueues one job a minute for it. */
const NOW = '* * * * * *'
const options = { concurrency: 2 }

const running: Jobs[] = []
const start = async (work: (task: string, cancel: AbortSignal) => Promise<void>, schedules = {}) => {
  const jobs = await startJobs({ ...app.installation, schedules })
  running.push(jobs)
  await jobs.work('maintenance', options, ({ task }, cancel) => work(task, cancel))
  return jobs
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((jobs) => jobs.stop(0)))
  await app.sql('delete from jobs.schedule')
  await app.sql(`delete from jobs.job where name in ('maintenance', '__pgboss__send-it')`)
})

const enqueueTask = () => app.sql(`select enqueue('maintenance', '{"task": "a-task"}')`)

const states = () =>
  app.sql<{ state: string; retries: number }>(
    `select state::text, retry_count as retries from jobs.job where name = 'maintenance' and data->>'task' = 'a-task'`,
  )

it('runs a scheduled task in only one of two processes', async () => {
  const runs: string[] = []
  const work = async (task: string) => void runs.push(task)
  await start(work, { 'a-task': NOW })
  await start(work, { 'a-task': NOW })
  const done = await eventually(states, (rows) => rows.some(({ state }) => state === 'completed'))
  expect([done.length, runs]).toEqual([1, ['a-task']])
})

it('logs a failed scheduled task, without a dead letter or a retry', async () => {
  const failing = async () => {
    throw new Error('for a test')
  }
  await start(failing)
  await enqueueTask()
  const failed = await eventually(states, (rows) => rows.some(({ state }) => state === 'failed'))
  expect(failed).toEqual([{ state: 'failed', retries: 0 }])
  const lines = app.log.lines.filter(({ message }) => message.startsWith('Scheduled task failed'))
  expect(lines).toMatchObject([{ level: 'error', fields: { queue: 'maintenance', subject: { task: 'a-task' } } }])
  expect(await app.sql(`select from jobs.job where name = 'dead-letter'`)).toEqual([])
})

it('cancels a scheduled task when its process stops, and another process runs the task again', async () => {
  const begun = Promise.withResolvers<void>()
  const first = await start((_, cancel) => {
    begun.resolve()
    return new Promise((_, reject) => cancel.addEventListener('abort', () => reject(cancel.reason)))
  })
  await enqueueTask()
  await begun.promise
  await first.stop()
  const runs: string[] = []
  await start(async (task) => void runs.push(task))
  const done = await eventually(states, (rows) => rows.some(({ state }) => state === 'completed'))
  expect([done, runs]).toEqual([[{ state: 'completed', retries: 1 }], ['a-task']])
})
