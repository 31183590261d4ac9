/**
 * All that a process does without being asked, and the one role that each belongs to. `test/contract/loops.test.ts` looks for what
 * goes on by itself and does not stand here.
 */

import type { ChainConnection } from './connect-chain.ts'
import type { JobData } from './domain/jobs.ts'
import type { Log } from './domain/ports/log.ts'
import type { Role } from './domain/roles.ts'
import { deliveryWork } from './domain/store/delivery-service.ts'
import type { Installation } from './installation.ts'
import { type Jobs, startJobs, type WorkOptions } from './platform/jobs/jobs.ts'
import { done, type Repetition, repeat } from './platform/jobs/repeat.ts'
import type { ServiceLayer } from './services.ts'

/** What loops work with. */
export interface LoopParts {
  installation: Installation
  chain: Pick<ChainConnection, 'relay' | 'deposits' | 'coins' | 'gasQuote'>
  layer: Pick<ServiceLayer, 'services' | 'maintenance' | 'jobs'>
}

/** Loops that run. */
export interface RunningLoops {
  /** Ends them; jobs in hand have so many milliseconds. What looks at the chain is stopped with the connection to it. */
  stop(milliseconds: number): Promise<void>
}

/** What looks at the chain; several processes may, and one at a time does, by its lease. */
const watches = {
  relay: { role: 'relay' },
  deposits: { role: 'relay' },
  coins: { role: 'relay' },
} satisfies Partial<Record<keyof LoopParts['chain'], { role: Role }>>

interface QueueWork<Name extends keyof JobData> {
  role: Role
  options: WorkOptions
  handler(parts: LoopParts): (data: JobData[Name], cancel: AbortSignal) => Promise<void>
}

/** Who works on each queue, and on how many jobs at once. */
const queues: { [Name in keyof JobData]: QueueWork<Name> } = {
  'webhook-delivery': { role: 'deliveries', options: deliveryWork, handler: ({ layer }) => layer.jobs.webhookDelivery },
  'abandoned-delivery': {
    role: 'deliveries',
    options: { concurrency: 1 },
    handler: ({ layer }) => layer.jobs.abandonedDelivery,
  },
  mail: { role: 'deliveries', options: { concurrency: 2 }, handler: ({ layer }) => layer.jobs.mail },
  'account-mail': { role: 'deliveries', options: { concurrency: 2 }, handler: ({ layer }) => layer.jobs.accountMail },
  'forget-key': { role: 'jobs', options: { concurrency: 1 }, handler: ({ layer }) => layer.jobs.forgetKey },
  manifest: { role: 'jobs', options: { concurrency: 1 }, handler: ({ layer }) => layer.jobs.manifest },
  thumbnail: { role: 'jobs', options: { concurrency: 1 }, handler: ({ layer }) => layer.jobs.thumbnail },
  maintenance: {
    role: 'jobs',
    // The group of a task is its name, so no task runs twice at the same time.
    options: { concurrency: 2, groupConcurrency: 1 },
    handler(parts) {
      const tasks = tasksOf(parts)
      return async ({ task }, cancel) => void (await tasks[task as keyof typeof tasks]?.work(cancel))
    },
  },
}

/** Taking up what processes that died had in hand, and clearing away what is done: for all queues. */
const upkeepOfQueues: { role: Role } = { role: 'jobs' }

interface Chore {
  role: Role
  /** Milliseconds between two runs. */
  every: number
  /** Undefined where there is nothing to do with this configuration. */
  work: ((cancel: AbortSignal) => Promise<unknown>) | undefined
  /** Name in the log. */
  task: string
}

/** Tasks of the queue `maintenance`. One process runs each at its times. */
function tasksOf({ installation: { config }, layer: { services, maintenance } }: LoopParts) {
  const garbageMinutes = config.files.garbageGraceSeconds / 60
  return {
    'clean-up-deleted-accounts': { cron: '5 * * * *', work: services.deletions.sweep },
    'erase-order-arguments': { cron: '15 * * * *', work: services.orders.sweepArguments },
    'delete-expired-data': { cron: '25 * * * *', work: maintenance.sweep },
    'collect-garbage': {
      cron: garbageMinutes < 60 ? `*/${garbageMinutes} * * * *` : '45 * * * *',
      work: maintenance.collectGarbage,
    },
  }
}

function choresOf({ layer: { services, maintenance }, chain: { gasQuote } }: LoopParts): Chore[] {
  const { orders, sessions, thumbnails, deletions } = services
  // What a backup brought back is found once in a process: backups are restored while none runs.
  const reapply = async () => ((await deletions.reapply()) ? done : undefined)
  const forgetAgain = async (cancel: AbortSignal) => {
    await deletions.forgetAgain(cancel)
    return done
  }
  return [
    {
      role: 'jobs',
      every: 1_000,
      work: orders.expire,
      task: 'expire orders',
    },
    {
      role: 'jobs',
      every: 10_000,
      work: thumbnails.sweep,
      task: 'request thumbnails',
    },
    {
      role: 'jobs',
      every: 10_000,
      work: reapply,
      task: 'delete restored accounts',
    },
    {
      role: 'jobs',
      every: 1_000,
      work: forgetAgain,
      task: 'destroy restored keys',
    },
    // What requests of this process are charged, who follows what here, and whose tokens came, this process alone knows.
    {
      role: 'http',
      every: 15_000,
      work: gasQuote?.look,
      task: 'read gas price',
    },
    {
      role: 'http',
      every: 20_000,
      work: maintenance.renewCounters,
      task: 'renew counters of streams and uploads',
    },
    {
      role: 'http',
      every: 60_000,
      work: sessions.recordUse,
      task: 'record session use',
    },
  ]
}

async function startQueues(parts: LoopParts, roles: ReadonlySet<Role>): Promise<Jobs | undefined> {
  const mine = (Object.keys(queues) as (keyof JobData)[]).filter((name) => roles.has(queues[name].role))
  if (mine.length === 0) return undefined
  const schedules = Object.fromEntries(Object.entries(tasksOf(parts)).map(([task, { cron }]) => [task, cron]))
  const keepsQueues = roles.has(upkeepOfQueues.role)
  const jobs = await startJobs({ ...parts.installation, keepsQueues, ...(keepsQueues && { schedules }) })
  const workOn = <Name extends keyof JobData>(name: Name) => {
    const { options, handler } = queues[name]
    return jobs.work(name, options, handler(parts))
  }
  for (const name of mine) await workOn(name)
  return jobs
}

const startChores = (parts: LoopParts, roles: ReadonlySet<Role>, log: Log): Repetition[] =>
  choresOf(parts).flatMap(({ role, every, work, task }) =>
    work && roles.has(role) ? [repeat(work, every, log, task)] : [],
  )

/** Starts what belongs to these roles, and nothing else. */
export async function startLoops(parts: LoopParts, roles: ReadonlySet<Role>): Promise<RunningLoops> {
  for (const [name, { role }] of Object.entries(watches)) {
    if (roles.has(role)) parts.chain[name as keyof typeof watches].start()
  }
  const jobs = await startQueues(parts, roles)
  const chores = startChores(parts, roles, parts.installation.log)
  return {
    async stop(milliseconds) {
      await Promise.all([jobs?.stop(milliseconds), ...chores.map((chore) => chore.stop())])
    },
  }
}
