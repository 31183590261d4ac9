import type { CoinTransfer, Withdrawal } from '../../db/prisma/client.ts'
import type PrismaTypes from '../../db/prisma/pothos-types.ts'
import {
  allColumns,
  builder,
  decimal,
  type InputFields,
  omitNullish,
  optionalTime,
  time,
} from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import {
  boundedCountDescription,
  connectionOf,
  idInputType,
  listResolvers,
  offsetArg,
  searchArg,
} from '../../graphql/lists.ts'
import { addNodeKind, Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { add } from '../../shared/money.ts'
import { addQuote, QuoteInterface } from '../wallet/quotes.graphql.ts'
import {
  cancelWithdrawal,
  countAccountWithdrawals,
  countWithdrawals,
  findWithdrawal,
  getWithdrawal,
  listAccountWithdrawals,
  listWithdrawals,
  quoteWithdrawal,
  type WithdrawalQuote,
  withdraw,
} from './withdrawals.ts'

const WithdrawalStatus = builder.enumType('WithdrawalStatus', {
  description: 'Status of a withdrawal.',
  values: {
    WAITING: { description: 'Not signed, also while the treasury has too few coins. It can be cancelled.' },
    SENDING: { description: 'Signed. It does not have enough confirmations.' },
    CONFIRMED: { description: 'The coins arrived.' },
    FAILED: { description: 'The recipient refused the coins. The amount was refunded.' },
    CANCELLED: { description: 'Cancelled. Amount and fee were refunded.' },
  } as const,
})

type WithdrawalFields = Pick<
  PothosSchemaTypes.PrismaObjectFieldBuilder<typeof builder.$inferSchemaTypes, PrismaTypes['Withdrawal']>,
  'expose' | 'exposeString' | 'field'
>

/** Fields of a withdrawal that its owner and administrators see. */
const sharedFields = (t: WithdrawalFields) => ({
  status: t.expose('status', { type: WithdrawalStatus, description: 'Status of the withdrawal.' }),
  amount: t.expose('amount', decimal('Amount that arrives, in currency units.')),
  total: t.field({
    type: 'Decimal',
    description: 'Amount charged to the wallet, including the fee.',
    resolve: ({ amount, fee }) => add(amount, fee),
  }),
  to: t.expose('recipient', { type: 'Address', description: 'Address of the recipient.' }),
  failure: t.exposeString('failure', {
    ...characters(500),
    nullable: true,
    description: 'Reason of the failure. Null unless the withdrawal failed.',
  }),
  createdAt: t.expose('createdAt', time('Time of the request.')),
  dueAt: t.expose('dueAt', time('Time from which it may be signed. It can be cancelled until then.')),
  settledAt: t.expose(
    'settledAt',
    optionalTime('Time at which it was confirmed, failed or was cancelled. Null until then.'),
  ),
})

const transactionHash = {
  ...characters(66),
  nullable: true,
  description:
    'Hash of the chain transaction. Null until one was sent. It changes when a transaction with a higher gas price replaces it.',
  select: { move: { select: { status: true, transactionHash: true } } },
  resolve: ({ move }: { move: Pick<CoinTransfer, 'status' | 'transactionHash'> | null }) =>
    move && move.status !== 'SIGNED' ? move.transactionHash : null,
} as const

const WithdrawalType = builder.prismaObject('Withdrawal', {
  description: 'Coins that leave a wallet for an address on the chain. Only the owner of the wallet sees them.',
  interfaces: [Node],
  select: allColumns('Withdrawal'),
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `withdrawal_01h2x…`.', resolve: ({ id }) => toId('withdrawal', id) }),
    ...sharedFields(t),
    transactionHash: t.string(transactionHash),
    fee: t.expose('fee', decimal('Fee charged for the chain transaction.')),
  }),
})

addNodeKind('withdrawal', { type: 'Withdrawal', find: ({ uuid }, context) => findWithdrawal(context, uuid) })

const AccountWithdrawalType = builder.prismaObject('Withdrawal', {
  variant: 'AccountWithdrawal',
  description: 'A withdrawal as administrators see it.',
  select: allColumns('Withdrawal'),
  fields: (t) => ({
    withdrawalId: t.id({ description: 'Identifier of the withdrawal.', resolve: ({ id }) => toId('withdrawal', id) }),
    userId: t.id({
      description: 'Identifier of the user who owns the withdrawal.',
      resolve: ({ walletId }) => toId('user', walletId),
    }),
    ...sharedFields(t),
    transactionHash: t.string(transactionHash),
  }),
})

const AccountWithdrawalFilter = builder.inputType('AccountWithdrawalFilter', {
  description: 'Filter. All given conditions must match.',
  fields: (t) => ({
    userId: t.id({ description: 'Only withdrawals of this user.' }),
    status: t.field({ type: WithdrawalStatus, description: 'Only withdrawals with this status.' }),
  }),
})

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
  maxFee: t.field(decimal('Refuses a higher fee with PRICE_EXCEEDS_MAX_COST.')),
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
    amount: t.expose('amount', decimal('The amount that would arrive.')),
    fee: t.expose('fee', decimal('Fee for the chain transaction, at the present gas price.')),
    leftToday: t.expose('leftToday', decimal('The amount that can still be withdrawn in these 24 hours.')),
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

const payloadOf = (name: string, description: string) =>
  builder.objectRef<{ withdrawal: Withdrawal }>(name).implement({
    description,
    fields: (t) => ({ withdrawal: t.expose('withdrawal', { type: WithdrawalType, description: 'The withdrawal.' }) }),
  })

const CancelWithdrawalInput = idInputType(
  'CancelWithdrawalInput',
  'The withdrawal to cancel.',
  'Identifier of the withdrawal.',
)

builder.mutationFields((t) => ({
  withdraw: t.field({
    type: payloadOf('WithdrawPayload', 'The new withdrawal.'),
    description:
      'Sends currency units of your wallet to an address on the chain. Points stay. You are notified by mail. You can cancel it until it is signed. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, WITHDRAWALS_PAUSED, THROTTLED, CONFLICT, UNAVAILABLE.',
    args: { input: t.arg({ type: WithdrawInput, required: true, description: 'The withdrawal to make.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await withdraw(context, omitNullish(input))
      return { withdrawal: await getWithdrawal(context, id, query()) }
    }),
  }),
  cancelWithdrawal: t.field({
    type: payloadOf('CancelWithdrawalPayload', 'The cancelled withdrawal.'),
    description:
      'Refunds amount and fee of a withdrawal that is not signed. Raises NOT_AUTHENTICATED, NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL.',
    args: { input: t.arg({ type: CancelWithdrawalInput, required: true, description: 'The withdrawal.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await cancelWithdrawal(context, input)
      return { withdrawal: await getWithdrawal(context, id, query()) }
    }),
  }),
}))

builder.queryFields((t) => ({
  withdrawals: t.prismaConnection(
    {
      type: WithdrawalType,
      cursor: 'id',
      ...pageOf(1_000),
      description: 'Your withdrawals, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        search: searchArg(t, 'the recipient, the hash of the transaction or the failure'),
        offset: offsetArg(t),
      },
      ...listResolvers(listWithdrawals, countWithdrawals),
    },
    connectionOf(WithdrawalType, 'Withdrawal', ['a withdrawal', 'withdrawals']),
  ),
  accountWithdrawals: t.prismaConnection(
    {
      type: AccountWithdrawalType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'The withdrawals of all users, newest first. Only for administrators. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
      args: {
        filter: t.arg({ type: AccountWithdrawalFilter, description: 'Filter. All given conditions must match.' }),
        offset: offsetArg(t),
      },
      ...listResolvers(listAccountWithdrawals, countAccountWithdrawals),
    },
    connectionOf(
      AccountWithdrawalType,
      'AccountWithdrawal',
      ['a withdrawal', 'withdrawals as administrators see them'],
      boundedCountDescription,
    ),
  ),
}))
