import type { CoinTransfer, Withdrawal } from '../../db/prisma/client.ts'
import { builder, type InputFields, omitNullish } from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import {
  assertCursors,
  offsetArg,
  searchArg,
  totalCountDescription,
  totalCountOf,
  withOffset,
} from '../../graphql/lists.ts'
import { addNodeKind, Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { add } from '../../shared/money.ts'
import { addQuote, QuoteInterface } from '../wallet/quotes.graphql.ts'
import { quoteWithdrawal, type WithdrawalQuote, withdraw } from './withdraw.ts'
import { cancelWithdrawal, countWithdrawals, findWithdrawal, getWithdrawal, listWithdrawals } from './withdrawals.ts'

export const WithdrawalStatus = builder.enumType('WithdrawalStatus', {
  description: 'How far a withdrawal is.',
  values: {
    WAITING: {
      description: 'Nothing is signed for it: it can be cancelled. Also while the treasury is short of coins.',
    },
    SENDING: { description: 'It is signed for, and not deep enough in the chain.' },
    CONFIRMED: { description: 'The coins arrived for good.' },
    FAILED: { description: 'The recipient refused the coins; the amount is back in the wallet.' },
    CANCELLED: { description: 'It was cancelled; amount and fee are back in the wallet.' },
  } as const,
})

/** Returns the hash of a withdrawal's transaction. Null until it was sent. */
export const hashOf = (move: Pick<CoinTransfer, 'status' | 'transactionHash'> | null): string | null =>
  move && move.status !== 'SIGNED' ? move.transactionHash : null

/** The withdrawal type. Only the owner of a withdrawal sees it. */
export const WithdrawalType = builder.prismaObject('Withdrawal', {
  description: 'Coins that leave a wallet for an address on the chain.',
  interfaces: [Node],
  select: {
    ...{ id: true, status: true, amount: true, fee: true, recipient: true, failure: true },
    ...{ createdAt: true, dueAt: true, settledAt: true },
  },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `withdrawal_01h2x…`.', resolve: ({ id }) => toId('withdrawal', id) }),
    status: t.field({ type: WithdrawalStatus, description: 'How far it is.', resolve: ({ status }) => status }),
    amount: t.field({
      type: 'Decimal',
      description: 'What arrives, in currency units.',
      resolve: ({ amount }) => amount,
    }),
    fee: t.field({
      type: 'Decimal',
      description: 'What was charged for the chain transaction.',
      resolve: ({ fee }) => fee,
    }),
    total: t.field({
      type: 'Decimal',
      description: 'What it took from the wallet.',
      resolve: ({ amount, fee }) => add(amount, fee),
    }),
    to: t.field({ type: 'Address', description: 'Where it goes.', resolve: ({ recipient }) => recipient }),
    transactionHash: t.string({
      ...characters(66),
      nullable: true,
      description:
        'Hash of the chain transaction; null until one was sent. It changes when a dearer one takes its place.',
      select: { move: { select: { status: true, transactionHash: true } } },
      resolve: ({ move }) => hashOf(move),
    }),
    failure: t.string({
      ...characters(500),
      nullable: true,
      description: 'Why it failed, if it did.',
      resolve: ({ failure }) => failure,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: ({ createdAt }) => createdAt,
    }),
    dueAt: t.field({
      type: 'DateTime',
      description: 'From when on it may be signed for; until then it can be cancelled.',
      resolve: ({ dueAt }) => dueAt,
    }),
    settledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was confirmed, failed or was cancelled; null until then.',
      resolve: ({ settledAt }) => settledAt,
    }),
  }),
})

addNodeKind('withdrawal', { type: 'Withdrawal', find: ({ uuid }, context) => findWithdrawal(context, uuid) })

/** Input fields of a withdrawal and of its quote. */
const withdrawalFields = (t: InputFields) => ({
  amount: t.field({
    type: 'Decimal',
    required: true,
    description: 'The amount to arrive, in currency units, more than 0. The fee is added to it.',
  }),
  to: t.string({
    required: true,
    description:
      'The destination address on the chain, which is no account of this service. In mixed case its EIP-55 checksum must be right.',
  }),
  maxFee: t.field({ type: 'Decimal', description: 'Refuses a higher fee with PRICE_EXCEEDS_MAX_COST.' }),
})

const WithdrawInput = builder.inputType('WithdrawInput', {
  description: 'The withdrawal to make.',
  fields: (t) => ({
    ...withdrawalFields(t),
    currentPassword: t.string({ required: true, description: 'Your password.' }),
  }),
})

builder.objectRef<WithdrawalQuote & { typeName: string }>('WithdrawalQuote').implement({
  description: 'The cost of a withdrawal.',
  interfaces: [QuoteInterface],
  fields: (t) => ({
    amount: t.expose('amount', { type: 'Decimal', description: 'The amount that would arrive.' }),
    fee: t.expose('fee', { type: 'Decimal', description: 'Fee for the chain transaction, at the present gas price.' }),
    leftToday: t.expose('leftToday', {
      type: 'Decimal',
      description: 'The amount that can still be withdrawn in these 24 hours.',
    }),
  }),
})

addQuote({
  field: 'withdraw',
  input: builder.inputType('QuoteWithdrawInput', {
    description: 'A withdrawal, without the password.',
    fields: withdrawalFields,
  }),
  description: 'A withdrawal. Returns a WithdrawalQuote.',
  typeName: 'WithdrawalQuote',
  quote: (context, input) => quoteWithdrawal(context, omitNullish(input)),
})

const withdrawalPayload = (name: string, description: string) =>
  builder.objectRef<{ withdrawal: Withdrawal }>(name).implement({
    description,
    fields: (t) => ({
      withdrawal: t.expose('withdrawal', { type: WithdrawalType, description: 'The withdrawal.' }),
    }),
  })
const WithdrawPayload = withdrawalPayload('WithdrawPayload', 'The new withdrawal.')
const CancelWithdrawalPayload = withdrawalPayload('CancelWithdrawalPayload', 'The cancelled withdrawal.')

const CancelWithdrawalInput = builder.inputType('CancelWithdrawalInput', {
  description: 'Which withdrawal to cancel.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the withdrawal.' }) }),
})

builder.mutationFields((t) => ({
  withdraw: t.field({
    type: WithdrawPayload,
    description:
      'Takes currency units out of your wallet and sends them to an address on the chain; points stay. A mail tells you. It can be cancelled until it is ' +
      'signed for. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, WITHDRAWALS_PAUSED, THROTTLED, CONFLICT, UNAVAILABLE.',
    args: { input: t.arg({ type: WithdrawInput, required: true, description: 'The withdrawal to make.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await withdraw(context, omitNullish(input))
      return { withdrawal: await getWithdrawal(context, id, query()) }
    }),
  }),
  cancelWithdrawal: t.field({
    type: CancelWithdrawalPayload,
    description:
      'Gives a withdrawal back, amount and fee, as long as nothing is signed for it. Raises NOT_AUTHENTICATED, NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL.',
    args: { input: t.arg({ type: CancelWithdrawalInput, required: true, description: 'The withdrawal.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await cancelWithdrawal(context, input)
      return { withdrawal: await getWithdrawal(context, id, query()) }
    }),
  }),
}))

const WithdrawalConnection = builder.connectionObject(
  {
    type: WithdrawalType,
    name: 'WithdrawalConnection',
    description: 'A page of withdrawals.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'WithdrawalEdge', description: 'A withdrawal with its cursor.' },
)

builder.queryField('withdrawals', (t) =>
  t.prismaConnection(
    {
      type: WithdrawalType,
      cursor: 'id',
      ...pageOf(1_000),
      description: 'Your withdrawals, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        search: searchArg(t, 'the recipient, the hash of the transaction or the failure'),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { search }, context) => countWithdrawals(context, search),
      resolve: (query, _root, { search, offset, ...page }, context) => {
        assertCursors('id', page)
        return listWithdrawals(context, search, withOffset(query, offset))
      },
    },
    WithdrawalConnection,
  ),
)
