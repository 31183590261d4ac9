import { brandWithType } from '@pothos/core'
import { fromId, isNid } from '../domain/ids.ts'
import { builder } from './builder.ts'

/** Everything with an identifier of its own implements this. */
export const Node = builder.nodeInterfaceRef()

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description: 'A thing by its identifier, whatever it is; null when there is none that you may see.',
    args: { id: t.arg.id({ required: true, description: "An asset's nid, or another thing's prefixed identifier." }) },
    resolve: async (_root, { id }, { actor, services }) => {
      if (isNid(id)) return brand(await services.assets.find(actor, id), 'Asset')
      const found = fromId(id)
      if (found?.prefix === 'user') return brand(await services.accounts.find(found.uuid), 'User')
      if (found?.prefix === 'commit') return brand(await services.assets.findCommit(actor, found.uuid), 'Commit')
      if (found?.prefix === 'order') return brand(await services.orders.find(actor, found.uuid), 'Order')
      if (found?.prefix === 'event') return brand(await services.events.find(actor, found.uuid), 'Event')
      if (found?.prefix === 'app') return brand(await services.networkApps.find(actor, id), 'NetworkApp')
      if (found?.prefix === 'key') return brand(await services.apiKeys.find(actor, id), 'ApiKey')
      if (found?.prefix === 'delivery') return brand(await services.deliveries.find(actor, id), 'WebhookDelivery')
      if (found?.prefix === 'session') return brand(await services.sessions.find(actor, id), 'Session')
      if (found?.prefix === 'audit') return brand(await services.audit.find(actor, id), 'AuditEntry')
      return null
    },
  }),
)

function brand<T extends object>(
  value: T | null,
  type:
    | 'ApiKey'
    | 'Asset'
    | 'AuditEntry'
    | 'Commit'
    | 'Event'
    | 'NetworkApp'
    | 'Order'
    | 'Session'
    | 'User'
    | 'WebhookDelivery',
): T | null {
  if (value) brandWithType(value, type as never)
  return value
}
