import { type EventParts, eventSql } from '../events/event-sql.ts'

/** The events that the part `new_events (owner_id, type, order_id, delivery_id)` tells, at positions that `updated_wallets` got. */
export const newsSql = (about: Pick<EventParts, 'transfer'> = {}) =>
  eventSql({
    from: 'new_events join updated_wallets on updated_wallets.user_id = new_events.owner_id',
    owner: 'new_events.owner_id',
    sequence: 'updated_wallets.before + row_number() over (partition by new_events.owner_id order by new_events.type)',
    type: { sql: 'new_events.type' },
    order: 'new_events.order_id',
    delivery: 'new_events.delivery_id',
    ...about,
  })
