/** Telling apps about payments, and the log of it that administrators read. Contract: `/api/v3/store/webhook-deliveries/`. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { Event, Order, Prisma, WebhookDelivery } from '../../db/prisma/client.ts'
import type { DeliveryJob } from '../../jobs/queues.ts'
import type { EnvelopeCipher } from '../../keys/key-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { isUnavailable, notFound, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { fromId, toId, uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit, searched } from '../../shared/lists.ts'
import type { Log } from '../../shared/log.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { webhookSecretContext } from '../store/network-apps.ts'
import {
  type AttemptFacts,
  type DueDelivery,
  findDue,
  recordDelivered,
  recordGivenUp,
  recordRetry,
  replayDelivery,
} from './deliveries.sql.ts'
import { isSale, textsOf, writePayload } from './delivery-payload.ts'
import { insertTestEvent } from './test-webhook.sql.ts'
import { createWebhookEventLookup } from './webhook-events.ts'
import { nextAttemptAfter, shouldLog } from './webhook-schedule.ts'
import type { WebhookCall, WebhookOutcome, WebhookSender } from './webhook-types.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type DeliveryQuery = Omit<Prisma.WebhookDeliveryFindManyArgs, 'where'>

const filterInput = z.strictObject({
  networkAppId: idInput('app').optional(),
  orderId: idInput('order').optional(),
  status: z.enum(['PENDING', 'DELIVERED', 'GIVEN_UP']).optional(),
  search: z.string().optional(),
})
/** Ids as callers see them. */
export type DeliveryFilter = z.input<typeof filterInput>

interface Dependencies {
  database: Database
  envelopeCipher: EnvelopeCipher
  actionArgs: ActionArgs
  sender: WebhookSender
  idempotency: Idempotency
  notifications: Pick<FeedNotifications, 'notify'>
  log: Log
  meter: Meter
}

/** How many attempts are under way at once, in this process; and of one app, in all processes together. */
export const deliveryWork = { concurrency: 100, groupConcurrency: 4, pollEvery: 0.5 } as const

/** Outcomes that this process keeps while the database does not take them. */
const MOST_UNWRITTEN = 1_000

/** `cause`: what hindered a call that was never made. */
type Outcome = WebhookOutcome & { cause?: unknown }

const GONE = 410
/** The schedule came to an attempt whose receiver must not be called any more. */
const noReceiver: WebhookOutcome = {
  failure:
    'The app has no webhook any more, its receiver is gone, the order was refunded, or its arguments are erased.',
  response: '',
  duration: 0,
}
/** What is sealed does not open: the arguments of the order, or the secrets of the app. */
const unreadablePayload: WebhookOutcome = {
  failure: 'The call could not be made: what it was to say could not be read.',
  response: '',
  duration: 0,
}
/** The job failed for the last time. */
const jobGivenUp: WebhookOutcome = {
  failure: 'The service could not carry out or write down the call.',
  response: '',
  duration: 0,
}

const SET_WEBHOOK_FIRST = "The app has no webhook, or its receiver is gone: set the app's webhook URL first."

function whyNoReplay({
  event,
  order,
}: {
  event: Pick<Event, 'type'>
  order: Pick<Order, 'status' | 'actionArgsErasedAt'> | null
}): string {
  const paid = event.type === 'order.paid' ? order : null
  if (paid?.status === 'REFUNDED') return 'The order was refunded, so its webhook is not called again.'
  if (paid?.actionArgsErasedAt)
    return 'The order is long over and its arguments are erased, so its webhook is not called again.'
  return SET_WEBHOOK_FIRST
}

/** What stands for the arguments of an order where they are nobody's business. */
const WITHHELD = '[withheld]'

/** Webhook deliveries: carries out their attempts, writes down what came of each, and shows the log to administrators. */
export function createDeliveryService({
  database,
  envelopeCipher,
  actionArgs: argumentsOf,
  sender,
  idempotency,
  notifications,
  log,
  meter,
}: Dependencies) {
  const findEvent = createWebhookEventLookup(database)
  /** By delivery, oldest first: what came of an attempt that the database did not take, as on a full disk, and how many there were before it. */
  const unwritten = new Map<string, { before: number; outcome: Outcome }>()

  /** What the receiver is told. Raises what opening its secrets and the order's arguments raises. */
  async function callOf(due: DueDelivery, url: string): Promise<WebhookCall> {
    const secretOf = (sealed: Uint8Array | null) =>
      sealed ? [envelopeCipher.open(sealed, webhookSecretContext(due.network_app_id))] : []
    const secrets = await Promise.all([due.webhook_secret, due.previous_secret].flatMap(secretOf))
    // Other events tell nothing of them, and go out even where they do not open.
    const actionArgs =
      isSale(due) && due.type === 'order.paid' ? await argumentsOf.open(due.order_id, due.action_args) : {}
    const body = writePayload(due, actionArgs)
    const redacted = [...textsOf(actionArgs), ...secrets]
    return { url, id: toId('event', due.event_id), at: due.now, body, secrets, redacted }
  }

  /** Whatever goes wrong before the call is an attempt that failed: it is written down, and the schedule goes on. */
  async function attempt(due: DueDelivery, url: string): Promise<Outcome> {
    let call: WebhookCall
    try {
      call = await callOf(due, url)
    } catch (cause) {
      return { ...unreadablePayload, cause }
    }
    return sender.send(call)
  }

  const notify = (rows: readonly { feeds: string[] }[]) => {
    for (const feed of rows.flatMap(({ feeds }) => feeds)) notifications.notify(feed)
  }

  /** A test has one attempt; nothing follows from it, and no alert counts it. */
  async function recordTest(facts: AttemptFacts): Promise<void> {
    notify(
      await (facts.failure === null
        ? database.query(recordDelivered, facts)
        : database.query(recordGivenUp, { ...facts, goneUrl: null })),
    )
  }

  function countAttempt(outcome: string, statusCode: number | undefined, milliseconds: number) {
    const status = statusCode === undefined ? 'none' : `${Math.floor(statusCode / 100)}xx`
    meter.count('annal_webhook_attempts_total', { outcome, status })
    meter.observe('annal_webhook_attempt_duration_seconds', {}, milliseconds / 1_000)
  }

  /** Writes down what came of an attempt, and what follows from it. */
  async function record(id: string, due: DueDelivery, outcome: Outcome): Promise<void> {
    const { statusCode, failure, retryAfter, response, duration, cause } = outcome
    const made = { delivery: id, before: due.attempt_count, duration, response }
    const facts = { ...made, statusCode: statusCode ?? null, failure: failure ?? null }
    const attempts = due.attempt_count + 1
    const error = cause === undefined ? {} : { err: cause }
    const about = {
      ...{ delivery: toId('delivery', id), networkApp: toId('app', due.network_app_id) },
      ...{ attempt: attempts, statusCode, durationMs: duration, ...error },
    }
    if (due.type === 'webhook.test') return recordTest(facts)
    if (failure === undefined) {
      notify(await database.query(recordDelivered, facts))
      countAttempt('delivered', statusCode, duration)
      return log.debug(about, 'Webhook delivered')
    }
    const seconds = due.webhook_url ? nextAttemptAfter({ attempts, statusCode, retryAfter }, Math.random()) : undefined
    if (seconds !== undefined) {
      await database.query(recordRetry, { ...facts, seconds })
      countAttempt('failed', statusCode, duration)
      const level = cause === undefined ? 'info' : 'warn'
      return log[shouldLog(attempts) ? level : 'debug'](
        { ...about, failure, retryInSeconds: seconds },
        'Webhook delivery failed; retrying',
      )
    }
    const goneUrl = statusCode === GONE ? due.webhook_url : null
    notify(await database.query(recordGivenUp, { ...facts, goneUrl }))
    countAttempt('abandoned', statusCode, duration)
    log.warn({ ...about, failure }, 'Webhook delivery failed finally')
  }

  /** What came of this attempt before, where it could not be written down. */
  function takeUnwritten(id: string, before: number): Outcome | undefined {
    const kept = unwritten.get(id)
    unwritten.delete(id)
    return kept?.before === before ? kept.outcome : undefined
  }

  /** The same as `record`; where the database is away, the outcome is kept for the next try. */
  async function recordOrKeep(id: string, due: DueDelivery, outcome: Outcome): Promise<void> {
    try {
      await record(id, due, outcome)
    } catch (error) {
      if (isUnavailable(error)) {
        unwritten.set(id, { before: due.attempt_count, outcome })
        if (unwritten.size > MOST_UNWRITTEN) unwritten.delete(unwritten.keys().next().value!)
      }
      throw error
    }
  }

  /** Raises VALIDATION_FAILED. */
  function where(rawFilter: DeliveryFilter): Prisma.WebhookDeliveryWhereInput {
    const { networkAppId, orderId, status, search } = parse(filterInput, rawFilter)
    return {
      ...searched<Prisma.WebhookDeliveryWhereInput>(search, (word) => [
        { event: { type: word } },
        { networkApp: { name: word } },
      ]),
      ...(networkAppId !== undefined && { networkAppId: fromId(networkAppId)!.uuid }),
      ...(orderId !== undefined && { orderId: fromId(orderId)!.uuid }),
      ...(status !== undefined && { status }),
    }
  }

  /** Why `replayDelivery` found nothing to do. Raises NOT_FOUND, VALIDATION_FAILED. */
  async function explainNoReplay(id: string): Promise<never> {
    const select = {
      event: { select: { type: true } },
      order: { select: { status: true, actionArgsErasedAt: true } },
    } as const
    const delivery = await database.read.webhookDelivery.findFirst({ where: { id }, select })
    if (!delivery) throw notFound('Webhook delivery')
    throw validationFailed({ id: [whyNoReplay(delivery)] })
  }

  /** Why `insertTestEvent` found nothing to do. Raises NOT_FOUND, VALIDATION_FAILED. */
  async function explainNoTest(id: string): Promise<never> {
    const app = await database.read.networkApp.findFirst({ where: { id }, select: { id: true } })
    throw app ? validationFailed({ networkAppId: [SET_WEBHOOK_FIRST] }) : notFound('Network app')
  }

  /** The delivery with this identifier, or null when there is none that this actor may see. */
  async function find(actor: Actor, id: string, query: DeliveryQuery = {}): Promise<WebhookDelivery | null> {
    const found = canAdminister(actor) && fromId(id, 'delivery')
    return found ? database.read.webhookDelivery.findFirst({ ...query, where: { id: found.uuid } }) : null
  }

  /** The delivery with this identifier. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
  async function get(actor: Actor, id: string, query?: DeliveryQuery): Promise<WebhookDelivery> {
    assertMay(actor, 'store:administer')
    const delivery = await find(actor, id, query)
    if (!delivery) throw notFound('Webhook delivery')
    return delivery
  }

  return {
    /**
     * Carries out a job of the queue `webhook-delivery`: one attempt, if its time has come. What came of it is written down without another call
     * where the database did not take it before. Raises UNAVAILABLE, which says nothing of the delivery.
     */
    async handle({ deliveryId }: DeliveryJob): Promise<void> {
      const [due] = await database.query(findDue, { delivery: deliveryId, atOnce: false })
      if (!due) return
      const known = takeUnwritten(deliveryId, due.attempt_count)
      const outcome = known ?? (due.webhook_url ? await attempt(due, due.webhook_url) : noReceiver)
      await recordOrKeep(deliveryId, due, outcome)
    },

    /** Gives up a delivery whose job failed for the last time, so that its order ends as its app asks for. */
    async abandon({ deliveryId }: DeliveryJob): Promise<void> {
      const [due] = await database.query(findDue, { delivery: deliveryId, atOnce: true })
      if (!due) return
      const known = takeUnwritten(deliveryId, due.attempt_count)
      await recordOrKeep(deliveryId, known ? due : { ...due, webhook_url: null }, known ?? jobGivenUp)
    },

    find,
    get,

    /** The log, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async list(actor: Actor, filter: DeliveryFilter, query: DeliveryQuery): Promise<WebhookDelivery[]> {
      assertMay(actor, 'store:administer')
      return database.read.webhookDelivery.findMany({ ...query, orderBy: { id: 'desc' }, where: where(filter) })
    },

    /** How many deliveries `list` would give in all, counted no further than a page behind `offset` needs. */
    async count(actor: Actor, filter: DeliveryFilter, offset?: number | null): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.webhookDelivery.count({ where: where(filter), take: countLimit(offset) })
    },

    /**
     * What receivers are told of an event, by its UUID, but for the arguments of an order: one of them may be a live token. Ask
     * only of a delivery that was given to an administrator.
     */
    async payload(eventId: string): Promise<Record<string, unknown>> {
      const event = await findEvent(eventId)
      if (!event) throw notFound('Event')
      return JSON.parse(writePayload(event, event.action_args === null ? {} : WITHHELD))
    },

    /**
     * Calls the receiver of a network app (`app_…`) once, with a signed event that tells of nothing; it is written down like any
     * other delivery, whose identifier is returned. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
     */
    async sendTest(actor: Actor, networkAppId: string, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const app = uuidFrom(networkAppId, 'app', 'Network app')
      const id = await idempotency.once(actor, context, 'sendTestEvent', { app }, async () => {
        const facts = { app, subject: networkAppId, ...fingerprintOf(context), ...auditorOf(actor) }
        const [sent] = await database.query(insertTestEvent, facts)
        if (!sent) return explainNoTest(app)
        notifications.notify(sent.owner_id)
        return sent.id
      })
      return toId('delivery', id)
    },

    /**
     * Calls the receiver once more, now, with the same id and body; an attempt that fails goes on as the schedule says.
     * Returns the delivery's identifier. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
     */
    async replay(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(id, 'delivery', 'Webhook delivery')
      await idempotency.once(actor, context, 'replayWebhookDelivery', { uuid }, async () => {
        const facts = { delivery: uuid, subject: id, ...fingerprintOf(context), ...auditorOf(actor) }
        const [due] = await database.query(replayDelivery, facts)
        return due ? due.id : explainNoReplay(uuid)
      })
      return id
    },
  }
}
