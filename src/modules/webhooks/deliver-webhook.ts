/** Jobs that call webhooks and record the result of each attempt. */
import type { Use } from '../../context.ts'
import type { JobData } from '../../jobs/queues.ts'
import { isUnavailable } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { webhookSecretContext } from '../store/network-apps.ts'
import { openActionArgs } from '../store/orders.ts'
import * as sql from './deliveries.sql.ts'
import { isSale, textsOf, writePayload } from './delivery-payload.ts'
import { nextAttemptAfter, shouldLog } from './webhook-schedule.ts'
import type { UnsavedOutcomes, WebhookCall, WebhookOutcome } from './webhook-sender.ts'

type Needs = Use<
  'database' | 'envelopeCipher' | 'webhookSender' | 'unsavedOutcomes' | 'notifications' | 'log' | 'meter'
>

/** Maximum number of attempt outcomes in memory while the database is unavailable. */
const MAX_UNSAVED_OUTCOMES = 1_000

const GONE = 410

/** Returns the outcome of an attempt that did not call the receiver. */
const notCalled = (failure: string, cause?: unknown): WebhookOutcome => ({ failure, cause, response: '', duration: 0 })
const NO_RECEIVER =
  'The webhook was not called: it was removed or disabled, the order was refunded, or its arguments are erased.'
const UNREADABLE = 'The webhook was not called: its data could not be decrypted.'
const JOB_FAILED = 'The webhook could not be called, or its result could not be stored.'

async function prepareCall({ envelopeCipher }: Needs, due: sql.DueDelivery, url: string): Promise<WebhookCall> {
  const openSecret = (sealed: Uint8Array | null) =>
    sealed ? [envelopeCipher.open(sealed, webhookSecretContext(due.network_app_id))] : []
  const secrets = await Promise.all([due.webhook_secret, due.previous_secret].flatMap(openSecret))
  // The arguments are part of `order.paid` events only. Other events are sent even if the arguments cannot be decrypted.
  const hasArguments = isSale(due) && due.type === 'order.paid'
  const actionArgs = hasArguments ? await openActionArgs({ envelopeCipher }, due.order_id, due.action_args) : {}
  const body = writePayload(due, actionArgs)
  const redacted = [...textsOf(actionArgs), ...secrets]
  return { url, id: toId('event', due.event_id), at: due.now, body, secrets, redacted }
}

/** Calls the receiver. An error before the call counts as a failed attempt, so that the retry schedule continues. */
async function attempt(context: Needs, due: sql.DueDelivery): Promise<WebhookOutcome> {
  if (!due.webhook_url) return notCalled(NO_RECEIVER)
  const call = await prepareCall(context, due, due.webhook_url).catch((cause: unknown) => notCalled(UNREADABLE, cause))
  return 'url' in call ? context.webhookSender.send(call) : call
}

/** Records the last attempt of a delivery, and notifies the feeds with new events. */
async function settle({ database, notifications }: Needs, result: sql.AttemptResult, goneUrl: string | null) {
  const rows = await (result.failure === null
    ? database.query(sql.recordDelivered, result)
    : database.query(sql.recordGivenUp, { ...result, goneUrl }))
  for (const feed of rows.flatMap(({ feeds }) => feeds)) notifications.notify(feed)
}

function countAttempt({ meter }: Needs, outcome: string, statusCode: number | undefined, milliseconds: number) {
  const status = statusCode === undefined ? 'none' : `${Math.floor(statusCode / 100)}xx`
  meter.count('annal_webhook_attempts_total', { outcome, status })
  meter.observe('annal_webhook_attempt_duration_seconds', {}, milliseconds / 1_000)
}

/** Records the outcome of an attempt, and schedules the next attempt or settles the delivery. */
async function record(context: Needs, id: string, due: sql.DueDelivery, outcome: WebhookOutcome): Promise<void> {
  const { database, log } = context
  const { statusCode, failure, retryAfter, response, duration, cause } = outcome
  const result: sql.AttemptResult = {
    ...{ delivery: id, before: due.attempt_count, duration, response },
    ...{ statusCode: statusCode ?? null, failure: failure ?? null },
  }
  // A test event changes no order, is not retried, and is not counted in metrics.
  if (due.type === 'webhook.test') return settle(context, result, null)
  const attempts = due.attempt_count + 1
  const fields = {
    delivery: toId('delivery', id),
    networkApp: toId('app', due.network_app_id),
    attempt: attempts,
    statusCode,
    durationMs: duration,
    ...(cause !== undefined && { err: cause }),
  }
  if (failure === undefined) {
    await settle(context, result, null)
    countAttempt(context, 'delivered', statusCode, duration)
    return log.debug(fields, 'Webhook delivered')
  }
  const seconds = due.webhook_url ? nextAttemptAfter({ attempts, statusCode, retryAfter }, Math.random()) : undefined
  if (seconds !== undefined) {
    await database.query(sql.recordRetry, { ...result, seconds })
    countAttempt(context, 'failed', statusCode, duration)
    const level = cause === undefined ? 'info' : 'warn'
    const details = { ...fields, failure, retryInSeconds: seconds }
    return log[shouldLog(attempts) ? level : 'debug'](details, 'Webhook delivery failed; retrying')
  }
  await settle(context, result, statusCode === GONE ? due.webhook_url : null)
  countAttempt(context, 'abandoned', statusCode, duration)
  log.warn({ ...fields, failure }, 'Webhook delivery failed permanently')
}

/** Returns the outcome of this attempt if a previous job made the attempt but could not record it. */
function takeUnsaved(unsavedOutcomes: UnsavedOutcomes, id: string, before: number): WebhookOutcome | undefined {
  const unsaved = unsavedOutcomes.get(id)
  unsavedOutcomes.delete(id)
  return unsaved?.before === before ? unsaved.outcome : undefined
}

/** Records an outcome. If the database is unavailable, the next job records the outcome and skips the call. */
async function recordOrKeep(context: Needs, id: string, due: sql.DueDelivery, outcome: WebhookOutcome): Promise<void> {
  const { unsavedOutcomes } = context
  try {
    await record(context, id, due, outcome)
  } catch (error) {
    if (isUnavailable(error)) {
      unsavedOutcomes.set(id, { before: due.attempt_count, outcome })
      if (unsavedOutcomes.size > MAX_UNSAVED_OUTCOMES) unsavedOutcomes.delete(unsavedOutcomes.keys().next().value!)
    }
    throw error
  }
}

/** Runs a job of the queue `webhook-delivery`: makes one attempt if the delivery is due. Throws UNAVAILABLE. */
export async function deliverWebhook(context: Needs, { deliveryId }: JobData['webhook-delivery']): Promise<void> {
  const [due] = await context.database.query(sql.findDue, { delivery: deliveryId, ignoreSchedule: false })
  if (!due) return
  const unsaved = takeUnsaved(context.unsavedOutcomes, deliveryId, due.attempt_count)
  await recordOrKeep(context, deliveryId, due, unsaved ?? (await attempt(context, due)))
}

/** Settles a delivery whose job failed for the last time, by the failure policy of the app. Throws UNAVAILABLE. */
export async function abandonDelivery(context: Needs, { deliveryId }: JobData['webhook-delivery']): Promise<void> {
  const [due] = await context.database.query(sql.findDue, { delivery: deliveryId, ignoreSchedule: true })
  if (!due) return
  const unsaved = takeUnsaved(context.unsavedOutcomes, deliveryId, due.attempt_count)
  await recordOrKeep(
    context,
    deliveryId,
    unsaved ? due : { ...due, webhook_url: null },
    unsaved ?? notCalled(JOB_FAILED),
  )
}
