/** Command `webhooks`. */
import { type Command, Option } from 'commander'
import { type AppContext, asSystem } from '../context.ts'
import type { WebhookDelivery } from '../db/prisma/client.ts'
import type { DeliveryFilter } from '../modules/webhooks/deliveries.ts'
import { DomainError } from '../shared/errors.ts'
import { toId } from '../shared/ids.ts'
import { command, type Flags, integer } from './command.ts'
import { counted, createProgress, fail, green, printJson, printTable, red, report, usageError } from './terminal.ts'
import { withApp } from './with-infrastructure.ts'

const statuses = ['pending', 'delivered', 'given-up']
const MAX_LIMIT = 1_000

type FilterFlags = Flags<never, 'app' | 'order' | 'status'>

const filterOf = ({ app, order, status }: FilterFlags): DeliveryFilter => ({
  ...(app !== undefined && { networkAppId: app }),
  ...(order !== undefined && { orderId: order }),
  ...(status !== undefined && { status: status.toUpperCase().replace('-', '_') as 'PENDING' }),
})

type ListedDelivery = WebhookDelivery & {
  networkApp: { name: string }
  attempts: { statusCode: number | null; failure: string | null }[]
}

async function readDeliveries(context: AppContext, flags: FilterFlags, limit: number) {
  const { deliveryReader } = await import('../modules/webhooks/deliveries.ts')
  const attempts = { orderBy: { number: 'asc' }, take: -1, select: { statusCode: true, failure: true } } as const
  const include = { attempts, networkApp: { select: { name: true } } }
  const rows = (await deliveryReader.list(asSystem(context), filterOf(flags), {
    take: limit,
    include,
  })) as ListedDelivery[]
  return rows.map(({ id, orderId, networkAppId, networkApp, status, attemptCount, attempts: [last], ...times }) => ({
    id: toId('delivery', id),
    networkAppId: toId('app', networkAppId),
    networkAppName: networkApp.name,
    orderId: orderId && toId('order', orderId),
    status: status.toLowerCase().replace('_', '-'),
    attempts: attemptCount,
    lastStatusCode: last?.statusCode ?? null,
    lastFailure: last?.failure ?? null,
    createdAt: times.createdAt,
    nextAttemptAt: times.nextAttemptAt,
    settledAt: times.settledAt,
  }))
}

async function printDeliveries({ limit, json, ...flags }: FilterFlags & { limit: number }) {
  const found = await withApp(({ context }) => readDeliveries(context, flags, limit))
  if (json) return printJson(found)
  if (found.length === 0) return report('No delivery found.')
  const rows = found.map((row) => ({ ...row, lastAttempt: row.lastFailure ?? row.lastStatusCode }))
  printTable(rows, 'id', 'status', 'attempts', 'createdAt', 'networkAppName', 'lastAttempt')
  if (found.length === limit) report(`There may be more. --limit shows up to ${MAX_LIMIT}.`)
}

async function findFailed(context: AppContext, flags: FilterFlags): Promise<string[]> {
  const { deliveryReader } = await import('../modules/webhooks/deliveries.ts')
  const filter: DeliveryFilter = { ...filterOf(flags), status: 'GIVEN_UP' }
  const found: string[] = []
  for (let skip = 0; ; skip += MAX_LIMIT) {
    const page = await deliveryReader.list(asSystem(context), filter, { take: MAX_LIMIT, skip })
    found.push(...page.map(({ id }) => toId('delivery', id)))
    if (page.length < MAX_LIMIT) return found
  }
}

/** Returns the replayed deliveries. `refusal`: reason why a delivery is not sent again, or null. */
async function replay(context: AppContext, ids: readonly string[]) {
  const { replayDelivery } = await import('../modules/webhooks/deliveries.ts')
  const progress = createProgress('queued')
  const replayed: { id: string; refusal: string | null }[] = []
  for (const id of ids) {
    const refusal = await replayDelivery(asSystem(context), { id }).then(
      () => null,
      (error: unknown) => {
        if (error instanceof DomainError && error.code !== 'UNAVAILABLE') return error.message
        throw error
      },
    )
    replayed.push({ id, refusal })
    if (ids.length > 1) progress(replayed.length, ids.length)
  }
  return replayed
}

async function replayDeliveries(ids: string[], { givenUp, app, json }: Flags<never, 'app'> & { givenUp?: true }) {
  if (ids.length > 0 === (givenUp === true)) throw usageError('Specify either IDs or --given-up.')
  const replayed = await withApp(async ({ context }) =>
    replay(context, givenUp ? await findFailed(context, app === undefined ? {} : { app }) : ids),
  )
  const refused = replayed.filter(({ refusal }) => refusal !== null)
  if (refused.length) fail()
  if (json) return printJson(replayed)
  for (const { id, refusal } of refused) report(red(`${id}: ${refusal}`))
  const count = counted(replayed.length - refused.length, 'delivery', 'deliveries')
  report(green(`A running server sends ${count} again.`))
}

export function addWebhooksCommands(program: Command): void {
  const webhooks = command(program, 'webhooks', { description: 'Lists and replays webhook deliveries.' })

  command(webhooks, 'list', {
    description: 'Lists webhook deliveries with the result of their last attempts, newest first.',
    examples: [
      'annal webhooks list --status given-up',
      'annal webhooks list --app app_01h455vb4pex5vsknk084sn02q --limit 100 --json',
    ],
    json: 'a list of {"id", "networkAppId", "networkAppName", "orderId", "status", "attempts", "lastStatusCode", "lastFailure", "createdAt", "nextAttemptAt", "settledAt"}',
  })
    .addOption(new Option('--status <status>', 'deliveries with this status').choices(statuses))
    .option('--app <id>', 'deliveries of this network app')
    .option('--order <id>', 'deliveries of this order')
    .option('--limit <count>', `maximum number of deliveries, up to ${MAX_LIMIT}`, integer(1, MAX_LIMIT), 20)
    .action(printDeliveries)

  command(webhooks, 'replay', {
    description: 'Sends deliveries again now, with the same ID and body. Exits with 1 if one of them cannot be sent.',
    examples: [
      'annal webhooks replay delivery_01h455vb4pex5vsknk084sn02q',
      'annal webhooks replay --given-up --app app_01h455vb4pex5vsknk084sn02q',
    ],
    json: 'a list of {"id", "refusal"}',
  })
    .argument('[ids...]', 'IDs of deliveries')
    .option('--given-up', 'all deliveries that failed permanently')
    .option('--app <id>', 'with --given-up: deliveries of this network app')
    .action(replayDeliveries)
}
