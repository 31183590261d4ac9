import type { Prisma, Refund } from '../../db/prisma/client.ts'
import { allColumns, builder, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { atMost, characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, listResolvers, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { add } from '../../shared/money.ts'
import { countRefunds, getRefund, listRefunds, refundOrder } from './refund-order.ts'

const RefundType = builder.prismaObject('Refund', {
  description:
    'A refund of an order: by an administrator, or automatic after the delivery of its webhook failed permanently. The buyer and administrators see it.',
  interfaces: [Node],
  select: allColumns('Refund'),
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `refund_01h2x…`.', resolve: ({ id }) => toId('refund', id) }),
    orderId: t.id({ description: 'Identifier of the order.', resolve: ({ orderId }) => toId('order', orderId) }),
    num: t.expose('num', { type: 'Decimal', description: 'Refunded currency units.' }),
    points: t.expose('points', { type: 'Decimal', description: 'Refunded points.' }),
    total: t.field({
      type: 'Decimal',
      description: 'Refunded points and currency units together.',
      resolve: ({ num, points }) => add(num, points),
    }),
    reason: t.exposeString('reason', {
      ...characters(500),
      description: 'Reason that the administrator gave. Empty for an automatic refund.',
    }),
    transferId: t.id({
      description: "Identifier of the transfer in the buyer's `transfers`.",
      resolve: ({ transferId }) => toId('transfer', transferId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the refund.' }),
  }),
})

/** Maximum number of refunds that an order shows. Most refunded orders have only one. */
const MAX_IN_ORDER = 20

/** The GraphQL field `refunds` of an order. */
export const recentRefunds = {
  type: RefundType,
  ...atMost(MAX_IN_ORDER),
  description: `Its last ${MAX_IN_ORDER} refunds, oldest first. The query \`refunds\` lists all of them.`,
  query: {
    orderBy: [{ numBefore: 'asc' }, { pointsBefore: 'asc' }],
    take: -MAX_IN_ORDER,
  } satisfies Prisma.Order$refundsArgs,
}

const RefundConnection = connectionOf(RefundType, 'Refund', ['a refund', 'refunds'])

builder.queryField('refunds', (t) =>
  t.prismaConnection(
    {
      type: RefundType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'The refunds of an order, oldest first. Only for its buyer and administrators. Raises NOT_AUTHENTICATED, NOT_FOUND.',
      args: {
        orderId: t.arg.id({ required: true, description: 'Identifier of the order.' }),
        search: searchArg(t, 'the reason'),
        offset: offsetArg(t),
      },
      ...listResolvers(listRefunds, countRefunds),
    },
    RefundConnection,
  ),
)

/** Input of `refundOrder` and its quote. */
export const RefundOrderInput = builder.inputType('RefundOrderInput', {
  description: 'The refund to make.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Identifier of the order.' }),
    amount: t.field({ type: 'Decimal', description: 'The amount, more than 0. Without it, everything that is left.' }),
    reason: t.string({ required: true, description: 'The reason, at most 500 characters. The buyer reads it.' }),
  }),
})

const RefundOrderPayload = builder.objectRef<{ refund: Refund }>('RefundOrderPayload').implement({
  description: 'The new refund.',
  fields: (t) => ({
    refund: t.expose('refund', { type: RefundType, description: 'The refund.' }),
  }),
})

builder.mutationField('refundOrder', (t) =>
  t.field({
    type: RefundOrderPayload,
    description:
      'Refunds a paid order, completely or in part, never more than was paid. Only for administrators. The buyer gets an e-mail, and the ' +
      'webhook of the network app gets the event `order.refunded`. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.',
    args: { input: t.arg({ type: RefundOrderInput, required: true, description: 'The refund to make.' }) },
    resolve: showing('refund', async (query, { input }, context) => {
      const id = await refundOrder(context, omitNullish(input))
      return { refund: await getRefund(context, id, query()) }
    }),
  }),
)
