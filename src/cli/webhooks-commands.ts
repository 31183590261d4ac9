/** `annal webhooks`. */
import { type Command, Option } from 'commander'
import type { DeliveryFilter } from '../modules/webhooks/delivery-service.ts'
import type { Services } from '../services-context.ts'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, red, say, table, WRONG_USAGE } from './output.ts'
import { createProgress } from './progress.ts'
import { withServices } from './with-installation.ts'

interface FilterFlags {
  app?: string
  order?: string
  status?: string
}

const statuses = ['pending', 'delivered', 'given-up']
const DEFAULT_LIMIT = 20
const MOST = 1_000
const system = { kind: 'system' } as const

const filterOf = ({ app, order, status }: FilterFlags): DeliveryFilter => ({
  ...(app !== undefined && { networkAppId: app }),
  ...(order !== undefined && { orderId: order }),
  ...(status !== undefined && { status: status.toUpperCase().replace('-', '_') as 'PENDING' }),
})

async function readDeliveries({ deliveries }: Services, flags: FilterFlags, limit: number) {
  const { toId } = await import('../shared/ids.ts')
  const attempts = { orderBy: { number: 'asc' }, take: -1, select: { statusCode: true, failure: true } } as const
  const rows = (await deliveries.list(system, filterOf(flags), {
    take: limit,
    include: { attempts, networkApp: { select: { name: true } } },
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

type Delivery = Awaited<ReturnType<Services['deliveries']['list']>>[number]
/** As it is asked for here. */
type ListedDelivery = Delivery & {
  networkApp: { name: string }
  attempts: { statusCode: number | null; failure: string | null }[]
}

/** Identifiers of all deliveries that were given up, a page at a time. */
async function findGivenUp({ deliveries }: Services, flags: FilterFlags): Promise<string[]> {
  const { toId } = await import('../shared/ids.ts')
  const found: string[] = []
  for (let skip = 0; ; skip += MOST) {
    const page = await deliveries.list(system, { ...filterOf(flags), status: 'GIVEN_UP' }, { take: MOST, skip })
    found.push(...page.map(({ id }) => toId('delivery', id)))
    if (page.length < MOST) return found
  }
}

interface Replayed {
  id: string
  /** Why it is not called again; null when it is. */
  refusal: string | null
}

async function replayAll({ deliveries }: Services, ids: readonly string[]): Promise<Replayed[]> {
  const { DomainError } = await import('../shared/errors.ts')
  const progress = createProgress('called again')
  const replayed: Replayed[] = []
  for (const id of ids) {
    const refusal = await deliveries.replay(system, id, { key: undefined, replayed: false }).then(
      () => null,
      (error: unknown) => {
        if (error instanceof DomainError && error.code !== 'UNAVAILABLE') return error.message
        throw error
      },
    )
    replayed.push({ id, refusal })
    if (ids.length > 1) progress.tell(replayed.length, ids.length)
  }
  progress.end()
  return replayed
}

/** Adds `annal webhooks …`. */
export function addWebhooksCommands(program: Command): void {
  const webhooks = command(program, 'webhooks', 'Webhook deliveries: what receivers were told, and telling them again.')

  command(webhooks, 'list', 'Lists webhook deliveries, newest first, with what came of the last attempt of each.', [
    'annal webhooks list --status given-up',
    'annal webhooks list --app app_01h455vb4pex5vsknk084sn02q --limit 100 --json',
  ])
    .addOption(new Option('--status <status>', 'only those with this status').choices(statuses))
    .option('--app <id>', 'only those of this network app')
    .option('--order <id>', 'only that of this order')
    .option('--limit <count>', `how many at most, up to ${MOST}`, String(DEFAULT_LIMIT))
    .option(
      '--json',
      'prints a list of {"id", "networkAppId", "networkAppName", "orderId", "status", "attempts", "lastStatusCode", "lastFailure", "createdAt", "nextAttemptAt", "settledAt"}',
    )
    .action(async ({ limit, json, ...flags }: FilterFlags & { limit: string; json?: true }) => {
      const most = Number(limit)
      if (!Number.isInteger(most) || most < 1 || most > MOST) {
        return webhooks.error(`error: --limit is a whole number from 1 to ${MOST}`, { exitCode: WRONG_USAGE })
      }
      const found = await withServices(({ services }) => readDeliveries(services, flags, most))
      if (json) return printJson(found)
      if (found.length === 0) return say('There is none.')
      const rows = found.map((delivery) => [
        ...[delivery.id, delivery.status, String(delivery.attempts), delivery.createdAt.toISOString()],
        ...[
          delivery.networkAppName,
          delivery.lastFailure ?? (delivery.lastStatusCode ? `${delivery.lastStatusCode}` : '-'),
        ],
      ])
      print(table([['id', 'status', 'attempts', 'created', 'network app', 'last attempt'], ...rows]))
      if (found.length === most) say(`There may be more: --limit shows up to ${MOST}.`)
    })

  command(
    webhooks,
    'replay',
    'Calls receivers once more, now, with the same identifier and body; exits with 1 when one of them is not called.',
    [
      'annal webhooks replay delivery_01h455vb4pex5vsknk084sn02q',
      'annal webhooks replay --given-up --app app_01h455vb4pex5vsknk084sn02q',
    ],
  )
    .argument('[ids...]', 'identifiers of deliveries, as `annal webhooks list` shows them')
    .option('--given-up', 'all that were given up')
    .option('--app <id>', 'with --given-up: only those of this network app')
    .option('--json', 'prints a list of {"id", "refusal"}')
    .action(async (ids: string[], { givenUp, app, json }: { givenUp?: true; app?: string; json?: true }) => {
      if (ids.length > 0 === (givenUp === true)) {
        return webhooks.error('error: give identifiers, or --given-up', { exitCode: WRONG_USAGE })
      }
      const flags = app === undefined ? {} : { app }
      const replayed = await withServices(async ({ services }) =>
        replayAll(services, givenUp ? await findGivenUp(services, flags) : ids),
      )
      const refused = replayed.filter(({ refusal }) => refusal !== null)
      if (refused.length) fail()
      if (json) return printJson(replayed)
      for (const { id, refusal } of refused) say(red(`${id}: ${refusal}`))
      say(
        green(
          `${counted(replayed.length - refused.length, 'webhook is', 'webhooks are')} called again by a running server.`,
        ),
      )
    })
}
