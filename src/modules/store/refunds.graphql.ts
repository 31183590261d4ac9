import type { Prisma, Refund } from '../../db/prisma/client.ts'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/payload-selection.ts'
import { atMost, characters, pageOf } from '../../graphql/limits/sizes.ts'
import {
  assertCursors,
  offsetArg,
  searchArg,
  totalCountDescription,
  totalCountOf,
  withOffset,
} from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { add } from '../../shared/money.ts'

/** `Refund`, for the order's buyer and administrators. */
const RefundType = builder.prismaObject('Refund', {
  description:
    'Money of an order that was given back: by an administrator, or because its webhook was given up. The buyer and administrators see it.',
  interfaces: [Node],
  select: {
    id: true,
    orderId: true,
    transferId: true,
    points: true,
    num: true,
    reason: true,
    refundedBy: true,
    createdAt: true,
  },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `refund_01h2x…`.', resolve: ({ id }) => toId('refund', id) }),
    orderId: t.id({ description: 'Identifier of the order.', resolve: ({ orderId }) => toId('order', orderId) }),
    num: t.field({ type: 'Decimal', description: 'Given back in currency units.', resolve: ({ num }) => num }),
    points: t.field({ type: 'Decimal', description: 'Given back in points.', resolve: ({ points }) => points }),
    total: t.field({
      type: 'Decimal',
      description: 'Given back in all.',
      resolve: ({ num, points }) => add(num, points),
    }),
    reason: t.string({
      ...characters(500),
      description: "Why, in the administrator's words; empty when the webhook of the order was given up.",
      resolve: ({ reason }) => reason,
    }),
    transferId: t.id({
      description: "Identifier of the transfer, as it stands in the buyer's transfers.",
      resolve: ({ transferId }) => toId('transfer', transferId),
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
  }),
})

/** One is usual, and parts are given back by hand. */
const SHOWN = 20

/** The refunds of an order, as its buyer and administrators see them beside it. */
export const shownRefunds = {
  type: RefundType,
  ...atMost(SHOWN),
  description: `Its refunds, the oldest first; the last ${SHOWN} of them. \`refunds\` lists all.`,
  query: { orderBy: [{ numBefore: 'asc' }, { pointsBefore: 'asc' }], take: -SHOWN } satisfies Prisma.Order$refundsArgs,
}

const RefundConnection = builder.connectionObject(
  {
    type: RefundType,
    name: 'RefundConnection',
    description: 'A page of refunds.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'RefundEdge', description: 'A refund with its cursor.' },
)

builder.queryField('refunds', (t) =>
  t.prismaConnection(
    {
      type: RefundType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'What was given back of an order, the oldest first; for its buyer and administrators. Raises NOT_AUTHENTICATED, NOT_FOUND.',
      args: {
        orderId: t.arg.id({ required: true, description: 'Identifier of the order.' }),
        search: searchArg(t, 'the reason'),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { orderId, search }, { actor, services }) =>
        services.refunds.count(actor, orderId, search),
      resolve: (query, _root, { orderId, search, offset, ...page }, { actor, services }) => {
        assertCursors('id', page)
        return services.refunds.list(actor, orderId, search, withOffset(query, offset))
      },
    },
    RefundConnection,
  ),
)

/** Input of a refund and of its quote. */
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
      'Gives a paid order back, whole or in part, never more than was paid; for administrators. The buyer gets a mail, the webhook ' +
      'of the network app the event `order.refunded`. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.',
    args: { input: t.arg({ type: RefundOrderInput, required: true, description: 'The refund to make.' }) },
    resolve: showing('refund', async (query, { input }, { actor, services, idempotency }) => {
      const id = await services.refunds.refund(actor, omitNullish(input), idempotency)
      return { refund: await services.refunds.get(actor, id, query()) }
    }),
  }),
)
