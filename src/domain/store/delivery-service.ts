/** Telling apps about payments, and the log of it that administrators read. Contract: `/api/v3/store/webhook-deliveries/`. */
import { z } from 'zod'
import type { Event, Order, Prisma, WebhookDelivery } from '../../platform/prisma/client.ts'
import type { Actor } from '../actor.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { notFound, validationFailed } from '../errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../idempotency.ts'
import { fromId, type IdPrefix, toId } from '../ids.ts'
import { parse } from '../input.ts'
import type { DeliveryJob } from '../jobs.ts'
import { assertMay, canAdminister } from '../policy.ts'
import type { Database, EnvelopeCipher, FeedNotifications, Log, WebhookOutcome, WebhookSender } from '../ports.ts'
import type { Meter } from '../telemetry.ts'
import type { ActionArgs } from './action-args.ts'
import { textsOf, writePayload } from './delivery-payload.ts'
import {
  type DueDelivery,
  findDue,
  recordDelivered,
  recordGivenUp,
  recordRetry,
  replayDelivery,
} from './delivery-statements.ts'
import { webhookSecretContext } from './network-app-service.ts'
import { isTold, nextAttemptAfter } from './webhook-schedule.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type DeliveryQuery = Omit<Prisma.WebhookDeliveryFindManyArgs, 'where'>

const idOf = (prefix: IdPrefix) =>
  z.string().refine((id) => fromId(id, prefix), `Expected an identifier as in ${prefix}_01h2x….`)
const filterInput = z.strictObject({
  networkAppId: idOf('app').optional(),
  orderId: idOf('order').optional(),
  status: z.enum(['PENDING', 'DELIVERED', 'GIVEN_UP']).optional(),
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

/** `cause`: what hindered a call that was never made. */
type Outcome = WebhookOutcome & { cause?: unknown }

const GONE = 410
const NOT_CALLED: WebhookOutcome = {
  failure:
    'The app has no webhook any more, its receiver is gone, the order was refunded, or its arguments are erased.',
  response: '',
  duration: 0,
}

const NOT_MADE: WebhookOutcome = {
  failure: 'The call could not be made: what it was to say could not be read.',
  response: '',
  duration: 0,
}
const NOT_CARRIED_OUT: WebhookOutcome = {
  failure: 'The service could not carry out or write down the call.',
  response: '',
  duration: 0,
}

function whyNoReplay({
  event: { type },
  order: { status, actionArgsErasedAt },
}: {
  event: Pick<Event, 'type'>
  order: Pick<Order, 'status' | 'actionArgsErasedAt'>
}): string {
  const isPayment = type === 'order.paid'
  if (isPayment && status === 'REFUNDED') return 'The order was refunded, so its webhook is not called again.'
  if (isPayment && actionArgsErasedAt)
    return 'The order is long over and its arguments are erased, so its webhook is not called again.'
  return "The app has no webhook, or its receiver is gone: set the app's webhook URL first."
}

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
  /** Makes the call. */
  async function call(due: DueDelivery, url: string): Promise<WebhookOutcome> {
    const secretOf = (sealed: Uint8Array | null) =>
      sealed ? [envelopeCipher.open(sealed, webhookSecretContext(due.network_app_id))] : []
    const secrets = await Promise.all([due.webhook_secret, due.previous_secret].flatMap(secretOf))
    // A refund tells nothing of them, and goes out even where they do not open.
    const actionArgs = await argumentsOf.open(due.order_id, due.refund_id === null ? due.action_args : null)
    const body = writePayload(due, actionArgs)
    const redacted = [...textsOf(actionArgs), ...secrets]
    return sender.send({ url, id: toId('event', due.event_id), at: due.now, body, secrets, redacted })
  }

  /** Whatever goes wrong before the call is an attempt that failed: it is written down, and the schedule goes on. */
  async function context(due: DueDelivery, url: string): Promise<Outcome> {
    return call(due, url).catch((cause: unknown) => ({ ...NOT_MADE, cause }))
  }

  const notify = (told: readonly { feeds: string[] }[]) => {
    for (const feed of told.flatMap(({ feeds }) => feeds)) notifications.notify(feed)
  }

  /** Writes down what came of an attempt, and what follows from it. */
  async function record(id: string, due: DueDelivery, outcome: Outcome): Promise<void> {
    const { statusCode, failure, retryAfter, response, duration, cause } = outcome
    const made = { delivery: id, before: due.attempt_count, duration, response }
    const facts = { ...made, statusCode: statusCode ?? null, failure: failure ?? null }
    const attempts = due.attempt_count + 1
    const error = cause === undefined ? {} : { err: cause }
    const about = { delivery: id, networkApp: due.network_app_id, attempt: attempts, statusCode, duration, ...error }
    if (failure === undefined) {
      meter.webhookAttempted('delivered', statusCode, duration)
      notify(await database.query(recordDelivered, facts))
      return log.debug(about, 'A webhook was delivered')
    }
    const seconds = due.webhook_url ? nextAttemptAfter({ attempts, statusCode, retryAfter }, Math.random()) : undefined
    meter.webhookAttempted(seconds === undefined ? 'given-up' : 'failed', statusCode, duration)
    if (seconds !== undefined) {
      await database.query(recordRetry, { ...facts, seconds })
      const level = cause === undefined ? 'info' : 'warn'
      return log[isTold(attempts) ? level : 'debug'](
        { ...about, failure, seconds },
        'A webhook failed and is tried again',
      )
    }
    const goneUrl = statusCode === GONE ? due.webhook_url : null
    notify(await database.query(recordGivenUp, { ...facts, goneUrl }))
    log.warn({ ...about, failure }, 'A webhook was given up')
  }

  /** Raises VALIDATION_FAILED. */
  function where(rawFilter: DeliveryFilter): Prisma.WebhookDeliveryWhereInput {
    const { networkAppId, orderId, status } = parse(filterInput, rawFilter)
    return {
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

  return {
    /** Carries out a job of the queue `webhook-delivery`: one attempt, if its time has come. */
    async handle({ deliveryId }: DeliveryJob): Promise<void> {
      const [due] = await database.query(findDue, { delivery: deliveryId, atOnce: false })
      if (!due) return
      await record(deliveryId, due, due.webhook_url ? await context(due, due.webhook_url) : NOT_CALLED)
    },

    /** Gives up a delivery whose job failed for the last time, so that its order ends as its app asks for. */
    async abandon({ deliveryId }: DeliveryJob): Promise<void> {
      const [due] = await database.query(findDue, { delivery: deliveryId, atOnce: true })
      if (due) await record(deliveryId, { ...due, webhook_url: null }, NOT_CARRIED_OUT)
    },

    /** The delivery with this identifier, or null when there is none that this actor may see. */
    async find(actor: Actor, id: string, query: DeliveryQuery = {}): Promise<WebhookDelivery | null> {
      const found = canAdminister(actor) && fromId(id, 'delivery')
      return found ? database.read.webhookDelivery.findFirst({ ...query, where: { id: found.uuid } }) : null
    },

    /** The delivery with this identifier. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
    async get(actor: Actor, id: string, query?: DeliveryQuery): Promise<WebhookDelivery> {
      assertMay(actor, 'store:administer')
      const delivery = await this.find(actor, id, query)
      if (!delivery) throw notFound('Webhook delivery')
      return delivery
    },

    /** The log, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async list(actor: Actor, filter: DeliveryFilter, query: DeliveryQuery): Promise<WebhookDelivery[]> {
      assertMay(actor, 'store:administer')
      return database.read.webhookDelivery.findMany({ ...query, orderBy: { id: 'desc' }, where: where(filter) })
    },

    /** How many deliveries `list` would give in all. */
    async count(actor: Actor, filter: DeliveryFilter): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.webhookDelivery.count({ where: where(filter) })
    },

    /**
     * Calls the receiver once more, now, with the same id and body; an attempt that fails goes on as the schedule says.
     * Returns the delivery's identifier. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
     */
    async replay(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const uuid = fromId(id, 'delivery')?.uuid
      if (!uuid) throw notFound('Webhook delivery')
      await idempotency.once(actor, context, 'replayWebhookDelivery', { uuid }, async () => {
        const facts = { delivery: uuid, subject: id, ...fingerprintOf(context), ...auditorOf(actor) }
        const [due] = await database.query(replayDelivery, facts)
        return due ? due.id : explainNoReplay(uuid)
      })
      return id
    },
  }
}
