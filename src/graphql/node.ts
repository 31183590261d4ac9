import { brandWithType } from '@pothos/core'
import type { Context } from '../context.ts'
import { findUser } from '../modules/accounts/find-users.ts'
import { findSession } from '../modules/accounts/sessions.ts'
import { findAssetLink } from '../modules/assets/asset-links.ts'
import { findAsset } from '../modules/assets/find-asset.ts'
import { findAuditEntry } from '../modules/audit/audit-entries.ts'
import { findCommit } from '../modules/commits/commits.ts'
import { findEvent } from '../modules/events/events.ts'
import { apiKeyReader } from '../modules/store/api-keys.ts'
import { networkAppReader } from '../modules/store/network-apps.ts'
import { orderReader } from '../modules/store/orders.ts'
import { refundReader } from '../modules/store/refunds.ts'
import { findGrant } from '../modules/wallet/grant-points.ts'
import { findTransfer } from '../modules/wallet/statement.ts'
import { deliveryReader } from '../modules/webhooks/deliveries.ts'
import { canonicalNid, fromId, type IdPrefix } from '../shared/ids.ts'
import { builder } from './builder.ts'

export const Node = builder.nodeInterfaceRef()

interface Kind {
  type: string
  /** Returns null if the object does not exist or the caller may not see it. */
  find(found: { id: string; uuid: string }, context: Context): Promise<object | null>
}

/** Kinds of objects by prefix of their IDs. */
const kinds: Partial<Record<IdPrefix, Kind>> = {
  app: { type: 'NetworkApp', find: ({ uuid }, context) => networkAppReader.find(context, uuid) },
  audit: { type: 'AuditEntry', find: ({ id }, context) => findAuditEntry(context, id) },
  commit: { type: 'Commit', find: ({ uuid }, context) => findCommit(context, uuid) },
  delivery: { type: 'WebhookDelivery', find: ({ uuid }, context) => deliveryReader.find(context, uuid) },
  event: { type: 'Event', find: ({ uuid }, context) => findEvent(context, uuid) },
  grant: { type: 'PointGrant', find: ({ uuid }, context) => findGrant(context, uuid) },
  key: { type: 'ApiKey', find: ({ uuid }, context) => apiKeyReader.find(context, uuid) },
  link: { type: 'AssetLink', find: ({ uuid }, context) => findAssetLink(context, uuid) },
  order: { type: 'Order', find: ({ uuid }, context) => orderReader.find(context, uuid) },
  refund: { type: 'Refund', find: ({ uuid }, context) => refundReader.find(context, uuid) },
  session: { type: 'Session', find: ({ id }, context) => findSession(context, id) },
  transfer: { type: 'Transfer', find: ({ uuid }, context) => findTransfer(context, uuid) },
  user: { type: 'User', find: ({ uuid }, context) => findUser(context, uuid) },
}

/** Adds a type of an optional module to the query `node`. */
export function addNodeKind(prefix: IdPrefix, kind: Kind): void {
  kinds[prefix] = kind
}

async function find(id: string, context: Context): Promise<[object | null, string]> {
  const nid = canonicalNid(id)
  if (nid !== undefined) return [await findAsset(context, nid), 'Asset']
  const found = fromId(id)
  if (!found) return [null, '']
  const kind = kinds[found.prefix]
  return kind ? [await kind.find({ id, uuid: found.uuid }, context), kind.type] : [null, '']
}

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description: 'An object by its ID. Null if the object does not exist or you may not see it.',
    args: {
      id: t.arg.id({ required: true, description: 'The nid of an asset, or the prefixed ID of another object.' }),
    },
    resolve: async (_root, { id }, context) => {
      const [thing, type] = await find(id, context)
      // References of types would cause circular imports, so the plugin gets the type's name.
      if (thing) brandWithType(thing, type as never)
      return thing
    },
  }),
)
