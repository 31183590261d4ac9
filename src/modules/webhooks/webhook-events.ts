import type { Database } from '../../db/database-types.ts'
import { arrayOf, type RowOf, statement, uuid } from '../../db/sql.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { webhookEventColumns, webhookEventColumnsSql } from './deliveries.sql.ts'

/** Those of the events that tell an app's owner what the app's webhook is told. */
const findWebhookEvents = statement(
  'webhook_events',
  { parameters: { events: arrayOf(uuid) }, columns: webhookEventColumns },
  `select ${webhookEventColumnsSql}
   from events e
   left join orders o on o.id = e.order_id
   left join webhook_deliveries d on d.event_id = e.id
   join network_apps a on a.id = coalesce(o.network_app_id, d.network_app_id)
   left join refunds r on r.transfer_id = e.transfer_id
   where e.id = any ($events) and e.type in ('order.paid', 'order.refunded', 'webhook.test') and e.owner_id = a.owner_id`,
)

/** An event with everything that receivers of webhooks are told of it. */
export type WebhookEvent = RowOf<typeof webhookEventColumns>

/**
 * Finds events that webhooks tell of by their UUIDs; questions that come together are one statement. Undefined: no webhook is
 * told of it.
 */
export const createWebhookEventLookup = (
  database: Pick<Database, 'query'>,
): ((id: string) => Promise<WebhookEvent | undefined>) =>
  createBatchLoader(async (ids: string[]) => {
    const rows = await database.query(findWebhookEvents, { events: ids })
    const found = new Map(rows.map((row) => [row.event_id, row]))
    return ids.map((id) => found.get(id))
  })
