/** All background work, with its roles. `test/contract/loops.test.ts` finds unlisted work. */

import type { App, OpenChain } from './app.ts'
import type { Infrastructure } from './infrastructure.ts'
import { type Jobs, startJobs, type WorkOptions } from './jobs/jobs.ts'
import type { JobData } from './jobs/queues.ts'
import { done, repeat } from './jobs/repeat.ts'
import {
  cleanUpDeletedAccounts,
  deleteRestoredAccounts,
  destroyRestoredKeys,
} from './modules/accounts/delete-account.ts'
import { requestThumbnails } from './modules/assets/thumbnails.ts'
import { eraseOrderArguments, expireOrders } from './modules/store/expire-orders.ts'
import { deliveryWork } from './modules/webhooks/webhook-schedule.ts'
import type { Role } from './shared/process.ts'

interface LoopParts {
  infrastructure: Infrastructure
  chain: Pick<OpenChain, 'relay' | 'deposits' | 'treasuryWorker' | 'gasQuote'>
  layer: Pick<App, 'context' | 'maintenance' | 'jobs'>
}

/** A lease ensures that only one process at a time polls. */
const chainWork = { role: 'relay', pollers: ['relay', 'deposits', 'treasuryWorker'] } as const

const queues: { [Name in keyof JobData]: { role: Role; options: WorkOptions } } = {
  'webhook-delivery': { role: 'deliveries', options: deliveryWork },
  'abandoned-delivery': { role: 'deliveries', options: { concurrency: 1 } },
  mail: { role: 'deliveries', options: { concurrency: 2 } },
  'account-mail': { role: 'deliveries', options: { concurrency: 2 } },
  'forget-key': { role: 'jobs', options: { concurrency: 1 } },
  manifest: { role: 'jobs', options: { concurrency: 1 } },
  thumbnail: { role: 'jobs', options: { concurrency: 1 } },
  maintenance: { role: 'jobs', options: { concurrency: 2 } },
}

type Handlers = { [Name in keyof JobData]: (data: JobData[Name], cancel: AbortSignal) => Promise<void> }

interface Chore {
  role: Role
  /** Milliseconds between two runs. */
  every: number
  work: ((cancel: AbortSignal) => Promise<unknown>) | undefined
  task: string
}

type Task = { cron: string; work(cancel: AbortSignal): Promise<unknown> }

/** Tasks of the queue `maintenance`. One process runs each scheduled task. */
function tasksOf({ infrastructure: { config }, layer: { context, maintenance } }: LoopParts): Record<string, Task> {
  const garbageMinutes = config.files.garbageGraceSeconds / 60
  const garbageCron = garbageMinutes < 60 ? `*/${garbageMinutes} * * * *` : '45 * * * *'
  return {
    'clean-up-deleted-accounts': { cron: '5 * * * *', work: (cancel) => cleanUpDeletedAccounts(context, cancel) },
    'erase-order-arguments': { cron: '15 * * * *', work: (cancel) => eraseOrderArguments(context, cancel) },
    'delete-expired-data': { cron: '25 * * * *', work: maintenance.run },
    'collect-garbage': { cron: garbageCron, work: maintenance.collectGarbage },
  }
}

function choresOf({ layer: { context, maintenance }, chain: { gasQuote } }: LoopParts): Chore[] {
  // Once per process is enough: backups are restored while no process runs.
  const deleteRestored = async () => ((await deleteRestoredAccounts(context)) ? done : undefined)
  const destroyRestored = async (cancel: AbortSignal) => {
    await destroyRestoredKeys(context, cancel)
    return done
  }
  return [
    { role: 'jobs', every: 1_000, work: () => expireOrders(context), task: 'expire orders' },
    { role: 'jobs', every: 10_000, work: () => requestThumbnails(context), task: 'request thumbnails' },
    { role: 'jobs', every: 10_000, work: deleteRestored, task: 'delete restored accounts' },
    { role: 'jobs', every: 1_000, work: destroyRestored, task: 'destroy restored keys' },
    // These tasks use state of requests that only this process has.
    { role: 'http', every: 15_000, work: gasQuote?.look, task: 'read gas price' },
    { role: 'http', every: 20_000, work: maintenance.renewCounters, task: 'renew counters of streams and uploads' },
    { role: 'http', every: 60_000, work: context.credentials.recordTokenUse, task: 'record session use' },
  ]
}

async function startQueues(parts: LoopParts, roles: ReadonlySet<Role>): Promise<Jobs | undefined> {
  const mine = (Object.keys(queues) as (keyof JobData)[]).filter((name) => roles.has(queues[name].role))
  if (mine.length === 0) return undefined
  const tasks = tasksOf(parts)
  const schedules = Object.fromEntries(Object.entries(tasks).map(([task, { cron }]) => [task, cron]))
  // This role also retries jobs whose process died, and deletes completed jobs.
  const keepsQueues = roles.has('jobs')
  const jobs = await startJobs({ ...parts.infrastructure, keepsQueues, ...(keepsQueues && { schedules }) })
  const handlers: Handlers = {
    ...parts.layer.jobs,
    maintenance: async ({ task }, cancel) => void (await tasks[task]?.work(cancel)),
  }
  const workOn = <Name extends keyof JobData>(name: Name) => jobs.work(name, queues[name].options, handlers[name])
  for (const name of mine) await workOn(name)
  return jobs
}

/** The connection to the chain stops its own pollers. */
export async function startLoops(parts: LoopParts, roles: ReadonlySet<Role>) {
  if (roles.has(chainWork.role)) for (const name of chainWork.pollers) parts.chain[name].start()
  const jobs = await startQueues(parts, roles)
  const chores = choresOf(parts).flatMap(({ role, every, work, task }) =>
    work && roles.has(role) ? [repeat(work, every, parts.infrastructure.log, task)] : [],
  )
  return {
    /** Stops the background work. Running jobs have `milliseconds` to finish. */
    async stop(milliseconds: number) {
      await Promise.all([jobs?.stop(milliseconds), ...chores.map((chore) => chore.stop())])
    },
  }
}
