import { toId } from '../domain/ids.ts'
import { add } from '../domain/money.ts'
import type { RefundQuote } from '../domain/store/refund-service.ts'
import type { Prisma, Refund } from '../platform/prisma/client.ts'
import { builder } from './builder.ts'
import { showing } from './compiled/showing.ts'
import { assertCursors } from './cursor.ts'
import { Node } from './node.ts'
import { offsetArg, searchArg, withOffset } from './offset.ts'
import { omitNullish } from './omit-nullish.ts'
import { wantedOf } from './paid-mutation.ts'
import { type InputFields, QuoteProblem } from './quote.ts'
import { atMost, characters, pageOf } from './sizes.ts'
import { totalCountDescription, totalCountOf } from './total-count.ts'

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

const RefundQuoteType = builder.objectRef<RefundQuote>('RefundQuote').implement({
  description: 'What a refund gives back. What was spent last comes back first: currency units, then points.',
  fields: (t) => ({
    num: t.expose('num', { type: 'Decimal', description: 'In currency units.' }),
    points: t.expose('points', { type: 'Decimal', description: 'In points.' }),
    total: t.expose('total', { type: 'Decimal', description: 'In all.' }),
    refundable: t.expose('refundable', { type: 'Decimal', description: 'What can be given back of the order now.' }),
    problems: t.field({
      ...atMost(50),
      type: [QuoteProblem],
      description: 'Everything the real call would be refused for; empty when it would be carried out.',
      resolve: ({ problems }) => problems,
    }),
  }),
})

const refundFields = (t: InputFields) => ({
  orderId: t.id({ required: true, description: 'Identifier of the order.' }),
  amount: t.field({ type: 'Decimal', description: 'The amount, more than 0. Without it, everything that is left.' }),
  reason: t.string({ required: true, description: 'The reason, at most 500 characters. The buyer reads it.' }),
})

const RefundQuoteInput = builder.inputType('RefundQuoteInput', {
  description: 'The refund to quote.',
  fields: refundFields,
})

const RefundOrderInput = builder.inputType('RefundOrderInput', {
  description: 'The refund to make.',
  fields: (t) => ({
    ...refundFields(t),
    dryRun: t.boolean({
      description: 'Checks everything and answers the quote; nothing is written, and no key is used up.',
    }),
  }),
})

interface RefundPayload {
  refund: Refund | null
  quote: RefundQuote | null
}

const RefundOrderPayload = builder.objectRef<RefundPayload>('RefundOrderPayload').implement({
  description: 'What was given back.',
  fields: (t) => ({
    refund: t.field({
      type: RefundType,
      nullable: true,
      description: 'The refund; null on a dry run.',
      resolve: ({ refund }) => refund,
    }),
    quote: t.field({
      type: RefundQuoteType,
      nullable: true,
      description: 'What it would give back; null unless it is a dry run.',
      resolve: ({ quote }) => quote,
    }),
  }),
})

builder.queryField('refundQuote', (t) =>
  t.field({
    type: RefundQuoteType,
    description:
      'The amount that a refund would return now, and every reason for which it would be refused; for administrators. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.',
    args: { input: t.arg({ type: RefundQuoteInput, required: true, description: 'The refund.' }) },
    resolve: (_root, { input }, { actor, services }) => services.refunds.quote(actor, omitNullish(input)),
  }),
)

builder.mutationField('refundOrder', (t) =>
  t.field({
    type: RefundOrderPayload,
    description:
      'Gives a paid order back, whole or in part, never more than was paid; for administrators. The buyer gets a mail, the webhook ' +
      'of the network app the event `order.refunded`. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.',
    args: { input: t.arg({ type: RefundOrderInput, required: true, description: 'The refund to make.' }) },
    resolve: showing('refund', async (query, { input }, { actor, services, idempotency }) => {
      if (input.dryRun) return { refund: null, quote: await services.refunds.quote(actor, wantedOf(input)) }
      const id = await services.refunds.refund(actor, wantedOf(input), idempotency)
      return { refund: await services.refunds.get(actor, id, query()), quote: null }
    }),
  }),
)
