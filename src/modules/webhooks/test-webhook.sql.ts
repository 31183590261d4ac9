import { statement, text, uuid } from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/enqueue-sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/event-sql.ts'
import { deliveryJobs } from './delivery-job-sql.ts'

/**
 * Tells the receiver of a network app that it is tried: an event in the feed of the app's owner and its delivery, about no order.
 * `subject`: the app as callers see it. No row: the app has no webhook to call.
 */
export const insertTestEvent = statement(
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
