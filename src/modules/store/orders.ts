/** Reads of orders and sales. `create-order.ts`, `confirm-order.ts`, `cancel-order.ts` and `expire-orders.ts` change orders. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Order, OrderStatus, Prisma } from '../../db/prisma/client.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { fromId, uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { type Cuttable, countLimit, readClientOf, type Search, searched } from '../../shared/lists.ts'
import { assertMay, visibleOrders } from '../../shared/policy.ts'
import { awaitStandbys, findOrderState, type OrderRow } from './orders.sql.ts'

type Reader = Use<'actor' | 'database'>

/** The selection of columns to load for an order, made from the requested GraphQL fields. */
export type OrderQuery = Omit<Prisma.OrderFindManyArgs, 'where'>

/** Filter of a list of orders. */
export interface OrderFilter {
  status?: Order['status'] | undefined
  search?: Search
}

/** Allowed next statuses of each order status. The trigger `orders_status_step` rejects all other changes. */
export const nextStatuses: Record<OrderStatus, readonly OrderStatus[]> = {
  CREATED: ['PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED'],
  PENDING: ['SUCCESS', 'FAILURE', 'REFUNDED'],
  // An administrator can send a failed delivery again.
  FAILURE: ['SUCCESS', 'REFUNDED'],
  // An administrator can refund an order at any time.
  SUCCESS: ['REFUNDED'],
  EXPIRED: [],
  CANCELLED: [],
  REFUNDED: [],
}

/** Returns true if an order with this status has been paid. This includes refunded orders. */
export const isPaid = (status: OrderStatus) => !['CREATED', 'EXPIRED', 'CANCELLED'].includes(status)

/** Returns true if an order can no longer be confirmed, even if the expiry job has not processed it yet. */
export const isExpired = ({ status, overdue }: { status: OrderStatus; overdue: boolean }) =>
  status === 'EXPIRED' || (status === 'CREATED' && overdue)

/** Returns the error for an order that was not confirmed in time. */
export const orderExpired = () =>
  new DomainError('ORDER_EXPIRED', 'The order was not confirmed in time. Create a new one.')

/** Returns the error for a wallet that another transaction has locked. */
export const walletBusy = () =>
  new DomainError('CONFLICT', 'Your wallet is being used by another request. Try again.', { retryAfter: 1 })

/** Casts a row of a writing statement to Prisma's model. */
export const asOrder = (row: OrderRow) => row as unknown as Order

/** Returns one of the actor's orders by its UUID, or null. */
export const findOrder = ({ actor, database }: Reader, uuid: string, query: OrderQuery = {}): Promise<Order | null> =>
  database.read.order.findFirst({ ...query, where: { id: uuid, ...visibleOrders(actor) } })

/** Returns one of the actor's orders by its UUID. Throws NOT_FOUND. */
export async function getOrderByUuid(context: Reader, uuid: string, query?: OrderQuery): Promise<Order> {
  const order = await findOrder(context, uuid, query)
  if (!order) throw notFound('Order')
  return order
}

/** Returns one of the actor's orders by its ID. Throws NOT_AUTHENTICATED, NOT_FOUND. */
export async function getOrder(context: Reader, id: string, query?: OrderQuery): Promise<Order> {
  assertMay(context.actor, 'order:read')
  return getOrderByUuid(context, uuidFrom(id, 'order', 'Order'), query)
}

/** Returns the current status of a buyer's order, to explain why the order was not changed. Throws NOT_FOUND. */
export async function readOrderState({ database }: Use<'database'>, buyer: UserActor, uuid: string) {
  const [state] = await database.query(findOrderState, { order: uuid, buyer: buyer.id })
  if (state) return state
  await database.query(awaitStandbys)
  throw notFound('Order')
}

function whereOf(actor: Actor, { search, ...filter }: OrderFilter): Prisma.OrderWhereInput {
  assertMay(actor, 'order:read')
  return { ...filter, ...visibleOrders(actor), ...searched(search, (word) => [{ networkAppName: word }]) }
}

/** Returns the actor's orders, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export async function listOrders(
  { actor, cutsPages, database }: Reader & Cuttable,
  filter: OrderFilter,
  query: OrderQuery,
): Promise<Order[]> {
  const where = whereOf(actor, filter)
  const orderBy: Prisma.OrderOrderByWithRelationInput[] = [{ createdAt: 'desc' }, { id: 'desc' }]
  return readClientOf(database, cutsPages).order.findMany({ ...query, orderBy, where })
}

/** Counts the orders that `listOrders` returns on all pages. */
export async function countOrders({ actor, database }: Reader, filter: OrderFilter): Promise<number> {
  return database.read.order.count({ where: whereOf(actor, filter) })
}

const saleFilterInput = z.strictObject({
  networkAppId: idInput('app').optional(),
  buyerId: idInput('user').optional(),
  status: z.enum(Object.keys(nextStatuses) as OrderStatus[]).optional(),
})

type SaleFilter = z.input<typeof saleFilterInput>

function whereOfSales(actor: Actor, rawFilter: SaleFilter): Prisma.OrderWhereInput {
  assertMay(actor, 'store:administer')
  const { networkAppId, buyerId, status } = parse(saleFilterInput, rawFilter)
  return {
    ...(networkAppId !== undefined && { networkAppId: fromId(networkAppId)!.uuid }),
    ...(buyerId !== undefined && { buyerId: fromId(buyerId)!.uuid }),
    ...(status !== undefined && { status }),
  }
}

/** Returns an order of any user, for administrators. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
export async function getSale({ actor, database }: Reader, id: string, query: OrderQuery = {}): Promise<Order> {
  assertMay(actor, 'store:administer')
  const order = await database.read.order.findFirst({ ...query, where: { id: uuidFrom(id, 'order', 'Order') } })
  if (!order) throw notFound('Order')
  return order
}

/** Returns the orders of all users, newest first, for administrators. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listSales({ actor, database }: Reader, filter: SaleFilter, query: OrderQuery): Promise<Order[]> {
  const where = whereOfSales(actor, filter)
  return database.read.order.findMany({ ...query, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], where })
}

/** Counts the orders of `listSales`. It stops counting shortly after the page at `offset`. */
export async function countSales(
  { actor, database }: Reader,
  filter: SaleFilter,
  offset?: number | null,
): Promise<number> {
  return database.read.order.count({ where: whereOfSales(actor, filter), take: countLimit(offset) })
}
