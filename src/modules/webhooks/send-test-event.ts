import type { Use } from '../../context.ts'
import { statement, text, uuid } from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/enqueue-sql.ts'
import { notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remembered, rememberSql } from '../../shared/idempotency.ts'
import { toId, uuidFrom } from '../../shared/ids.ts'
import { assertMay } from '../../shared/policy.ts'
import { audited, auditorOf, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { SET_WEBHOOK_FIRST } from './deliveries.ts'
import { deliveryJobs } from './webhook-schedule.ts'

/**
 * Adds a test event to the feed of the app's owner, and its delivery. `subject`: prefixed ID of the app. Returns no row if the app has no
 * webhook.
 */
const insertTestEvent = statement(
  'webhook_test',
  {
    parameters: { app: uuid, subject: text, ...remembered, ...audited },
    columns: { id: uuid, owner_id: uuid },
  },
  `with called_app as materialized (
     select id, owner_id from network_apps where id = $app and webhook_url is not null and webhook_disabled_at is null
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + 1 from called_app
     where w.user_id = called_app.owner_id returning w.user_id, w.event_sequence as sequence
   ),
   ${eventSql({ from: 'updated_wallets', owner: 'user_id', sequence: 'sequence', type: 'webhook.test' })},
   inserted_delivery as (
     insert into webhook_deliveries (event_id, network_app_id)
     select inserted_events.id, called_app.id from inserted_events, called_app returning id, network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('inserted_delivery'))},
   ${auditSql({ from: 'inserted_delivery', user: '$actor', action: 'network-app.webhook-tested', subject: '$subject', address: '$address' })},
   ${rememberSql('id::text', 'inserted_delivery')}
   select inserted_delivery.id, called_app.owner_id
   from inserted_delivery, called_app, (select count(*) from enqueued_jobs) as jobs`,
)

/**
 * Calls the receiver of a network app once with a signed test event. Returns the ID of the delivery.
 * Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
 */
export async function sendTestEvent(
  context: IdempotentContext & Use<'notifications'>,
  { networkAppId }: { networkAppId: string },
): Promise<string> {
  const { actor, database, notifications } = context
  assertMay(actor, 'store:administer')
  const app = uuidFrom(networkAppId, 'app', 'Network app')
  const id = await once(context, 'sendTestEvent', { app }, async () => {
    const parameters = { app, subject: networkAppId, ...idempotencyParams(context), ...auditorOf(actor) }
    const [sent] = await database.query(insertTestEvent, parameters)
    if (!sent) {
      const found = await database.read.networkApp.findFirst({ where: { id: app }, select: { id: true } })
      throw found ? validationFailed({ networkAppId: [SET_WEBHOOK_FIRST] }) : notFound('Network app')
    }
    notifications.notify(sent.owner_id)
    return sent.id
  })
  return toId('delivery', id)
}
