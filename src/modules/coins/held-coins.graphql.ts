import { builder, omitNullish } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { assertCursors, boundedCountDescription, offsetArg, totalCountOf, withOffset } from '../../graphql/lists.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { add } from '../../shared/money.ts'
import { DepositKind, DepositStatus } from './deposits.graphql.ts'
import {
  countAccountDeposits,
  countAccountWithdrawals,
  type HeldCoins,
  listAccountDeposits,
  listAccountWithdrawals,
  readHeldCoins,
} from './held-coins.ts'
import { hashOf, WithdrawalStatus } from './withdrawals.graphql.ts'

const HeldCoinsType = builder.objectRef<HeldCoins>('HeldCoins').implement({
  description: 'Coins that the service holds for its users, and what waits for them. Administrators see it.',
  fields: (t) => ({
    treasury: t.expose('treasury', {
      type: 'Address',
      description: 'Where deposits are gathered and withdrawals paid.',
    }),
    treasuryBalance: t.expose('treasuryBalance', {
      type: 'Decimal',
      nullable: true,
      description: 'What the chain says that it has; null while the chain does not answer.',
    }),
    missing: t.expose('missing', {
      type: 'Decimal',
      nullable: true,
      description: 'What it lacks for all withdrawals that are due; null while the chain does not answer.',
    }),
    inTreasury: t.expose('inTreasury', { type: 'Decimal', description: 'Coins of users in it, by the books.' }),
    inTransit: t.expose('inTransit', { type: 'Decimal', description: 'Coins in transactions that are not settled.' }),
    atAddresses: t.expose('atAddresses', {
      type: 'Decimal',
      description: 'Coins that lie at the addresses where they came in.',
    }),
    dueWithdrawals: t.exposeInt('dueWithdrawals', { description: 'Withdrawals that could be signed for and wait.' }),
    amountDue: t.expose('amountDue', { type: 'Decimal', description: 'What they take, with their fees.' }),
    oldestDueAt: t.expose('oldestDueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the oldest of them waits; null when none does.',
    }),
    frozenDeposits: t.exposeInt('frozenDeposits', {
      description: 'Deposits that the chain has lost after they counted.',
    }),
    shortfall: t.expose('shortfall', { type: 'Decimal', description: 'What wallets had spent of these and owe.' }),
  }),
})

const AccountDepositType = builder.prismaObject('Deposit', {
  variant: 'AccountDeposit',
  description: 'A deposit as administrators see it.',
  select: {
    ...{ id: true, walletId: true, kind: true, status: true, amount: true, transactionHash: true, blockNumber: true },
    ...{ shortfall: true, writtenOff: true, createdAt: true, creditedAt: true, frozenAt: true },
  },
  fields: (t) => ({
    depositId: t.id({ description: 'Identifier of the deposit.', resolve: ({ id }) => toId('deposit', id) }),
    userId: t.id({ description: 'Whose it is.', resolve: ({ walletId }) => toId('user', walletId) }),
    kind: t.field({ type: DepositKind, description: 'Currency of the deposit.', resolve: ({ kind }) => kind }),
    status: t.field({ type: DepositStatus, description: 'Whether it counts.', resolve: ({ status }) => status }),
    amount: t.field({ type: 'Decimal', description: 'Currency units.', resolve: ({ amount }) => amount }),
    transactionHash: t.string({
      ...characters(66),
      description: 'Hash of the transaction.',
      resolve: ({ transactionHash }) => transactionHash,
    }),
    blockNumber: t.int({
      nullable: true,
      description: 'The block that has it; null when the chain does not have it any more.',
      resolve: ({ blockNumber }) => blockNumber,
    }),
    shortfall: t.field({
      type: 'Decimal',
      description: 'Of a frozen one: what the wallet had spent of it and owes.',
      resolve: ({ shortfall }) => shortfall,
    }),
    writtenOff: t.field({
      type: 'Decimal',
      description: 'Of a frozen one: what the platform bears of it.',
      resolve: ({ writtenOff }) => writtenOff,
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was found.', resolve: ({ createdAt }) => createdAt }),
    creditedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was credited first; null until then.',
      resolve: ({ creditedAt }) => creditedAt,
    }),
    frozenAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is frozen; null when it is not.',
      resolve: ({ frozenAt }) => frozenAt,
    }),
  }),
})

const AccountWithdrawalType = builder.prismaObject('Withdrawal', {
  variant: 'AccountWithdrawal',
  description: 'A withdrawal as administrators see it.',
  select: {
    ...{ id: true, walletId: true, status: true, amount: true, fee: true, recipient: true, failure: true },
    ...{ createdAt: true, dueAt: true, settledAt: true },
  },
  fields: (t) => ({
    withdrawalId: t.id({ description: 'Identifier of the withdrawal.', resolve: ({ id }) => toId('withdrawal', id) }),
    userId: t.id({ description: 'Whose it is.', resolve: ({ walletId }) => toId('user', walletId) }),
    status: t.field({ type: WithdrawalStatus, description: 'How far it is.', resolve: ({ status }) => status }),
    amount: t.field({ type: 'Decimal', description: 'What arrives.', resolve: ({ amount }) => amount }),
    total: t.field({
      type: 'Decimal',
      description: 'What it took from the wallet, with its fee.',
      resolve: ({ amount, fee }) => add(amount, fee),
    }),
    to: t.field({ type: 'Address', description: 'Where it goes.', resolve: ({ recipient }) => recipient }),
    transactionHash: t.string({
      ...characters(66),
      nullable: true,
      description: 'Hash of the chain transaction; null until one was sent.',
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
      description: 'From when on it may be signed for.',
      resolve: ({ dueAt }) => dueAt,
    }),
    settledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was over; null until then.',
      resolve: ({ settledAt }) => settledAt,
    }),
  }),
})

const AccountDepositFilter = builder.inputType('AccountDepositFilter', {
  description: 'Which deposits to list; what is given must all fit.',
  fields: (t) => ({
    userId: t.id({ description: 'Only those of this user.' }),
    status: t.field({ type: DepositStatus, description: 'Only those of this status.' }),
  }),
})

const AccountWithdrawalFilter = builder.inputType('AccountWithdrawalFilter', {
  description: 'Which withdrawals to list; what is given must all fit.',
  fields: (t) => ({
    userId: t.id({ description: 'Only those of this user.' }),
    status: t.field({ type: WithdrawalStatus, description: 'Only those of this status.' }),
  }),
})

const AccountDepositConnection = builder.connectionObject(
  {
    type: AccountDepositType,
    name: 'AccountDepositConnection',
    description: 'A page of deposits as administrators see them.',
    fields: (t) => ({ totalCount: t.int({ description: boundedCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'AccountDepositEdge', description: 'A deposit with its cursor.' },
)

const AccountWithdrawalConnection = builder.connectionObject(
  {
    type: AccountWithdrawalType,
    name: 'AccountWithdrawalConnection',
    description: 'A page of withdrawals as administrators see them.',
    fields: (t) => ({ totalCount: t.int({ description: boundedCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'AccountWithdrawalEdge', description: 'A withdrawal with its cursor.' },
)

const adminOnly = 'Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryFields((t) => ({
  heldCoins: t.field({
    type: HeldCoinsType,
    description: `Where the coins of users lie, and what waits for them; for administrators. ${adminOnly}.`,
    resolve: (_root, _args, context) => readHeldCoins(context),
  }),
  accountDeposits: t.prismaConnection(
    {
      type: AccountDepositType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description: `Everybody's deposits, newest first; for administrators. ${adminOnly}, VALIDATION_FAILED.`,
      args: {
        filter: t.arg({ type: AccountDepositFilter, description: 'Only those that fit.' }),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { filter, offset }, context) =>
        countAccountDeposits(context, omitNullish(filter ?? {}), offset),
      resolve: (query, _root, { filter, offset, ...page }, context) => {
        assertCursors('id', page)
        return listAccountDeposits(context, omitNullish(filter ?? {}), withOffset(query, offset))
      },
    },
    AccountDepositConnection,
  ),
  accountWithdrawals: t.prismaConnection(
    {
      type: AccountWithdrawalType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description: `Everybody's withdrawals, newest first; for administrators. ${adminOnly}, VALIDATION_FAILED.`,
      args: {
        filter: t.arg({ type: AccountWithdrawalFilter, description: 'Only those that fit.' }),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { filter, offset }, context) =>
        countAccountWithdrawals(context, omitNullish(filter ?? {}), offset),
      resolve: (query, _root, { filter, offset, ...page }, context) => {
        assertCursors('id', page)
        return listAccountWithdrawals(context, omitNullish(filter ?? {}), withOffset(query, offset))
      },
    },
    AccountWithdrawalConnection,
  ),
}))
