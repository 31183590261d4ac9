/** Orders as administrators see them: whose they are and what became of them, never their arguments. Contract: `sales`, `sale`. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { Order, Prisma } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { notFound } from '../../shared/errors.ts'
import { fromId, uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit } from '../../shared/lists.ts'
import { assertMay } from '../../shared/policy.ts'
import { nextStatuses } from './orders.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type SaleQuery = Omit<Prisma.OrderFindManyArgs, 'where'>

const filterInput = z.strictObject({
  networkAppId: idInput('app').optional(),
  buyerId: idInput('user').optional(),
  status: z.enum(Object.keys(nextStatuses) as Order['status'][]).optional(),
})
/** Ids as callers see them. */
export type SaleFilter = z.input<typeof filterInput>

/** Everybody's orders, for administrators. */
export function createSaleService({ database }: { database: Pick<Database, 'read'> }) {
  /** Raises VALIDATION_FAILED. */
  function where(rawFilter: SaleFilter): Prisma.OrderWhereInput {
    const { networkAppId, buyerId, status } = parse(filterInput, rawFilter)
    return {
      ...(networkAppId !== undefined && { networkAppId: fromId(networkAppId)!.uuid }),
      ...(buyerId !== undefined && { buyerId: fromId(buyerId)!.uuid }),
      ...(status !== undefined && { status }),
    }
  }

  return {
    /** An order by its identifier. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
    async get(actor: Actor, orderId: string, query: SaleQuery = {}): Promise<Order> {
      assertMay(actor, 'store:administer')
      const uuid = uuidFrom(orderId, 'order', 'Order')
      const order = await database.read.order.findFirst({ ...query, where: { id: uuid } })
      if (!order) throw notFound('Order')
      return order
    },

    /** Everybody's orders, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async list(actor: Actor, filter: SaleFilter, query: SaleQuery): Promise<Order[]> {
      assertMay(actor, 'store:administer')
      return database.read.order.findMany({
        ...query,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        where: where(filter),
      })
    },

    /** How many `list` would give in all, counted no further than a page behind `offset` needs. Raises what `list` raises. */
    async count(actor: Actor, filter: SaleFilter, offset?: number | null): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.order.count({ where: where(filter), take: countLimit(offset) })
    },
  }
}
