import type { CoinTransfer } from '../../db/prisma/client.ts'
import type PrismaTypes from '../../db/prisma/pothos-types.ts'
import {
  allColumns,
  builder,
  decimal,
  type InputFields,
  omitNullish,
  optionalText,
  optionalTime,
  payloadType,
  publicId,
  shortText,
  time,
} from '../../graphql/builder.ts'
import { showing } from '../../graphql/fast-path/compilable-fields.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import * as lists from '../../graphql/lists.ts'
import { addNodeKind, Node } from '../../graphql/node.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { add } from '../../shared/money.ts'
import { addQuote, QuoteInterface } from '../wallet/quotes.graphql.ts'
import { accountDepositReader, countConfirmations, depositReader, type HeldCoins, readHeldCoins } from './deposits.ts'
import * as withdrawals from './withdrawals.ts'

const filtered = 'Conditions of the list. Items must match all given conditions.'
const adminOnly = 'Only for administrators. Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

const WithdrawalStatus = builder.enumType('WithdrawalStatus', {
  description: 'Status of a withdrawal.',
  values: {
    WAITING: { description: 'The withdrawal is not signed and can be cancelled. The treasury may have too few coins.' },
    SENDING: { description: 'The transaction is signed but does not have enough confirmations.' },
    CONFIRMED: { description: 'The transaction has enough confirmations.' },
    FAILED: { description: 'The recipient refused the coins. The amount was refunded.' },
    CANCELLED: { description: 'The user cancelled the withdrawal. Amount and fee were refunded.' },
  } as const,
})

type WithdrawalFields = Pick<
  PothosSchemaTypes.PrismaObjectFieldBuilder<typeof builder.$inferSchemaTypes, PrismaTypes['Withdrawal']>,
  'expose' | 'exposeString' | 'field'
>

const transactionHash = {
  ...optionalText(66, 'Hash of the transaction. Null until one is sent. A higher gas price changes the hash.'),
  select: { move: { select: { status: true, transactionHash: true } } },
  resolve: ({ move }: { move: Pick<CoinTransfer, 'status' | 'transactionHash'> | null }) =>
    move && move.status !== 'SIGNED' ? move.transactionHash : null,
} as const

const withdrawalDetails = (t: WithdrawalFields) => ({
  status: t.expose('status', { type: WithdrawalStatus, description: 'Status of the withdrawal.' }),
  amount: t.expose('amount', decimal('Amount that the recipient receives, in currency units.')),
  total: t.field({
    ...decimal('Amount charged to the wallet, including the fee.'),
    resolve: ({ amount, fee }) => add(amount, fee),
  }),
  to: t.expose('recipient', { type: 'Address', description: 'Address of the recipient.' }),
  failure: t.exposeString('failure', optionalText(500, 'Reason of the failure. Null unless the withdrawal failed.')),
  createdAt: t.expose('createdAt', time('Time at which the withdrawal was requested.')),
  dueAt: t.expose('dueAt', time('Earliest time of the signature. You can cancel the withdrawal before.')),
  settledAt: t.expose('settledAt', optionalTime('Time of the confirmation, failure or cancellation. Null before.')),
})

const WithdrawalType = builder.prismaObject('Withdrawal', {
  description: 'A payment of coins from a wallet to a chain address. Only the wallet’s owner can read withdrawals.',
  interfaces: [Node],
  select: allColumns('Withdrawal'),
  fields: (t) => ({
    id: t.field(publicId('withdrawal', 'id', 'Identifier, as in `withdrawal_01h2x…`.')),
    ...withdrawalDetails(t),
    transactionHash: t.string(transactionHash),
    fee: t.expose('fee', decimal('Fee charged for the chain transaction.')),
  }),
})

addNodeKind('withdrawal', {
  type: 'Withdrawal',
  find: ({ uuid }, context) => withdrawals.withdrawalReader.find(context, uuid),
})

const AccountWithdrawalType = builder.prismaObject('Withdrawal', {
  variant: 'AccountWithdrawal',
  description: 'A withdrawal, with the fields that administrators can read.',
  select: allColumns('Withdrawal'),
  fields: (t) => ({
    withdrawalId: t.field(publicId('withdrawal', 'id', 'Identifier of the withdrawal.')),
    userId: t.field(publicId('user', 'walletId', 'Identifier of the user who owns the withdrawal.')),
    ...withdrawalDetails(t),
    transactionHash: t.string(transactionHash),
  }),
})

const AccountWithdrawalFilter = builder.inputType('AccountWithdrawalFilter', {
  description: filtered,
  fields: (t) => ({
    userId: t.id({ description: 'Returns only withdrawals of this user.' }),
    status: t.field({ type: WithdrawalStatus, description: 'Returns only withdrawals with this status.' }),
  }),
})

const withdrawalFields = (t: InputFields) => ({
  amount: t.field({
    ...decimal('Amount that the recipient receives, in currency units, more than 0. The fee is charged in addition.'),
    required: true,
  }),
  to: t.string({
    required: true,
    description:
      'Destination address on the chain, outside this service. An address in mixed case needs a valid EIP-55 checksum.',
  }),
  maxFee: t.field(decimal('Maximum fee that you accept. A higher fee raises PRICE_EXCEEDS_MAX_COST.')),
})

const WithdrawInput = builder.inputType('WithdrawInput', {
  description: 'The withdrawal to make.',
  fields: (t) => ({
    ...withdrawalFields(t),
    currentPassword: t.string({ required: true, description: 'Your password.' }),
  }),
})

builder.objectRef<withdrawals.WithdrawalQuote & { typeName: string }>('WithdrawalQuote').implement({
  description: 'The cost of a withdrawal.',
  interfaces: [QuoteInterface],
  fields: (t) => ({
    amount: t.expose('amount', decimal('The amount that the recipient would receive.')),
    fee: t.expose('fee', decimal('Fee for the chain transaction, at the present gas price.')),
    leftToday: t.expose('leftToday', decimal('Amount that can still be withdrawn in the current 24 hours.')),
  }),
})

addQuote({
  field: 'withdraw',
  input: builder.inputType('QuoteWithdrawInput', {
    description: 'A withdrawal, without the password.',
    fields: withdrawalFields,
  }),
  description: 'A withdrawal to quote. Returns a WithdrawalQuote.',
  typeName: 'WithdrawalQuote',
  quote: (context, input) => withdrawals.quoteWithdrawal(context, omitNullish(input)),
})

const withdrawalField = ['withdrawal', WithdrawalType, 'The withdrawal.'] as const
const CancelWithdrawalInput = lists.idInputType(
  'CancelWithdrawalInput',
  'The withdrawal to cancel.',
  'Identifier of the withdrawal.',
)

builder.mutationFields((t) => ({
  withdraw: t.field({
    type: payloadType('WithdrawPayload', 'The new withdrawal.', withdrawalField),
    description:
      'Sends currency units of your wallet to an address on the chain. Points cannot be withdrawn. You are notified by mail. You can cancel the withdrawal until it is signed. ' +
      'Raises NOT_AUTHENTICATED, VALIDATION_FAILED, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, WITHDRAWALS_PAUSED, THROTTLED, CONFLICT, UNAVAILABLE.',
    args: { input: t.arg({ type: WithdrawInput, required: true, description: 'The withdrawal to make.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await withdrawals.withdraw(context, omitNullish(input))
      return { withdrawal: await withdrawals.withdrawalReader.getByUuid(context, id, query()) }
    }),
  }),
  cancelWithdrawal: t.field({
    type: payloadType('CancelWithdrawalPayload', 'The cancelled withdrawal.', withdrawalField),
    description:
      'Refunds amount and fee of a withdrawal that is not signed. Raises NOT_AUTHENTICATED, NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL.',
    args: { input: t.arg({ type: CancelWithdrawalInput, required: true, description: 'The withdrawal.' }) },
    resolve: showing('withdrawal', async (query, { input }, context) => {
      const id = await withdrawals.cancelWithdrawal(context, input)
      return { withdrawal: await withdrawals.withdrawalReader.getByUuid(context, id, query()) }
    }),
  }),
}))

const DepositKind = builder.enumType('DepositKind', {
  description: 'The currency of a deposit.',
  values: {
    COIN: { description: 'The chain’s own coin.' },
    TOKEN: { description: 'The ERC-20 token that the operator configured.' },
  } as const,
})

const DepositStatus = builder.enumType('DepositStatus', {
  description: 'Status of a deposit.',
  values: {
    PENDING: {
      description: 'The amount is not credited: the block of the deposit does not have enough confirmations.',
    },
    CREDITED: { description: 'The amount is credited to the wallet.' },
    FROZEN: {
      description:
        'The chain lost the block after the credit. The amount is removed from the wallet until the chain includes the transaction again.',
    },
  } as const,
})

type DepositFields = Pick<
  PothosSchemaTypes.PrismaObjectFieldBuilder<typeof builder.$inferSchemaTypes, PrismaTypes['Deposit']>,
  'expose' | 'exposeInt' | 'exposeString'
>

const depositDetails = (t: DepositFields) => ({
  kind: t.expose('kind', { type: DepositKind, description: 'Currency of the deposit.' }),
  status: t.expose('status', { type: DepositStatus, description: 'Status of the deposit.' }),
  amount: t.expose('amount', decimal('Amount in currency units.')),
  transactionHash: t.exposeString('transactionHash', shortText(66, 'Hash of the transaction.')),
  blockNumber: t.exposeInt('blockNumber', {
    nullable: true,
    description: 'Block of the transaction. Null when the chain has lost the block.',
  }),
  shortfall: t.expose(
    'shortfall',
    decimal('Amount of a frozen deposit that was already spent. The user owes this amount. Zero unless frozen.'),
  ),
  createdAt: t.expose('createdAt', time('Time at which the deposit was found.')),
  creditedAt: t.expose('creditedAt', optionalTime('Time of the first credit. Null before.')),
  frozenAt: t.expose('frozenAt', optionalTime('Time since which the deposit is frozen. Null unless frozen.')),
})

const DepositType = builder.prismaObject('Deposit', {
  description: 'A deposit of coins or tokens to the address of a wallet. Only the wallet’s owner can read deposits.',
  interfaces: [Node],
  select: allColumns('Deposit'),
  fields: (t) => ({
    id: t.field(publicId('deposit', 'id', 'Identifier, as in `deposit_01h2x…`.')),
    ...depositDetails(t),
    confirmations: t.int({
      nullable: true,
      description: 'Number of blocks after the block of the deposit. Null when the chain has lost the block.',
      resolve: ({ blockNumber }, _args, context) => countConfirmations(context, blockNumber),
    }),
  }),
})

addNodeKind('deposit', { type: 'Deposit', find: ({ uuid }, context) => depositReader.find(context, uuid) })

const AccountDepositType = builder.prismaObject('Deposit', {
  variant: 'AccountDeposit',
  description: 'A deposit, with the fields that administrators can read.',
  select: allColumns('Deposit'),
  fields: (t) => ({
    depositId: t.field(publicId('deposit', 'id', 'Identifier of the deposit.')),
    userId: t.field(publicId('user', 'walletId', 'Identifier of the user who owns the deposit.')),
    ...depositDetails(t),
    writtenOff: t.expose('writtenOff', decimal('Amount that the platform wrote off. Zero unless frozen.')),
  }),
})

const AccountDepositFilter = builder.inputType('AccountDepositFilter', {
  description: filtered,
  fields: (t) => ({
    userId: t.id({ description: 'Returns only deposits of this user.' }),
    status: t.field({ type: DepositStatus, description: 'Returns only deposits with this status.' }),
  }),
})

const optionalDecimal = (description: string) => ({ ...decimal(description), nullable: true }) as const

const HeldCoinsType = builder.objectRef<HeldCoins>('HeldCoins').implement({
  description: 'Coins that the service holds for its users, and the pending withdrawals. Only for administrators.',
  fields: (t) => ({
    treasury: t.expose('treasury', {
      type: 'Address',
      description: 'Address of the treasury account, which collects deposits and pays withdrawals.',
    }),
    treasuryBalance: t.expose(
      'treasuryBalance',
      optionalDecimal('Balance of the treasury on the chain. Null while the chain does not answer.'),
    ),
    missing: t.expose(
      'missing',
      optionalDecimal('Amount that the treasury lacks for all due withdrawals. Null while the chain does not answer.'),
    ),
    inTreasury: t.expose('inTreasury', decimal('Coins of users in the treasury, by the ledger.')),
    inTransit: t.expose('inTransit', decimal('Coins of users in chain transactions that are not settled.')),
    atAddresses: t.expose('atAddresses', decimal('Coins of users at the chain addresses of their wallets.')),
    dueWithdrawals: t.exposeInt('dueWithdrawals', { description: 'Number of due withdrawals that are not signed.' }),
    amountDue: t.expose('amountDue', decimal('Sum of all due withdrawals, including their fees.')),
    oldestDueAt: t.expose(
      'oldestDueAt',
      optionalTime('Time since which the oldest due withdrawal waits. Null if no withdrawal is due.'),
    ),
    frozenDeposits: t.exposeInt('frozenDeposits', { description: 'Number of frozen deposits.' }),
    shortfall: t.expose('shortfall', decimal('Amount that wallets owe for frozen deposits.')),
  }),
})

builder.queryFields((t) => ({
  deposits: t.prismaConnection(
    {
      type: DepositType,
      cursor: 'id',
      ...pageOf(1_000),
      description:
        'Deposits to the address of your wallet, newest first. Includes pending deposits. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        status: t.arg({ type: DepositStatus, description: 'Returns only deposits with this status.' }),
        search: lists.searchArg(t, 'the hash of the transaction'),
        offset: lists.offsetArg(t),
      },
      ...lists.listResolvers(depositReader.list, depositReader.count),
    },
    lists.connectionOf(DepositType, 'Deposit', ['a deposit', 'deposits']),
  ),
  heldCoins: t.field({
    type: HeldCoinsType,
    description: `The coins that the service holds for its users, and the pending withdrawals. ${adminOnly}.`,
    resolve: (_root, _args, context) => readHeldCoins(context),
  }),
  accountDeposits: t.prismaConnection(
    {
      type: AccountDepositType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description: `The deposits of all users, newest first. ${adminOnly}, VALIDATION_FAILED.`,
      args: { filter: t.arg({ type: AccountDepositFilter, description: filtered }), offset: lists.offsetArg(t) },
      ...lists.listResolvers(accountDepositReader.list, accountDepositReader.count),
    },
    lists.connectionOf(
      AccountDepositType,
      'AccountDeposit',
      ['a deposit', 'deposits, with the fields that administrators can read'],
      lists.boundedCountDescription,
    ),
  ),
  withdrawals: t.prismaConnection(
    {
      type: WithdrawalType,
      cursor: 'id',
      ...pageOf(1_000),
      description: 'Your withdrawals, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        search: lists.searchArg(t, 'the recipient, the hash of the transaction or the failure'),
        offset: lists.offsetArg(t),
      },
      ...lists.listResolvers(withdrawals.withdrawalReader.list, withdrawals.withdrawalReader.count),
    },
    lists.connectionOf(WithdrawalType, 'Withdrawal', ['a withdrawal', 'withdrawals']),
  ),
  accountWithdrawals: t.prismaConnection(
    {
      type: AccountWithdrawalType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description: `The withdrawals of all users, newest first. ${adminOnly}, VALIDATION_FAILED.`,
      args: { filter: t.arg({ type: AccountWithdrawalFilter, description: filtered }), offset: lists.offsetArg(t) },
      ...lists.listResolvers(withdrawals.accountWithdrawalReader.list, withdrawals.accountWithdrawalReader.count),
    },
    lists.connectionOf(
      AccountWithdrawalType,
      'AccountWithdrawal',
      ['a withdrawal', 'withdrawals, with the fields that administrators can read'],
      lists.boundedCountDescription,
    ),
  ),
}))
