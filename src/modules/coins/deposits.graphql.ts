import type PrismaTypes from '../../db/prisma/pothos-types.ts'
import { allColumns, builder, decimal, optionalTime, time } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/document-cost.ts'
import { boundedCountDescription, connectionOf, listResolvers, offsetArg, searchArg } from '../../graphql/lists.ts'
import { addNodeKind, Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import {
  countAccountDeposits,
  countConfirmations,
  countDeposits,
  findDeposit,
  type HeldCoins,
  listAccountDeposits,
  listDeposits,
  readHeldCoins,
} from './deposits.ts'

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
    PENDING: { description: 'Its block does not have enough confirmations. It cannot be spent and may disappear.' },
    CREDITED: { description: 'In the wallet.' },
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

/** Fields of a deposit that its owner and administrators see. */
const sharedFields = (t: DepositFields) => ({
  kind: t.expose('kind', { type: DepositKind, description: 'Currency of the deposit.' }),
  status: t.expose('status', { type: DepositStatus, description: 'Status of the deposit.' }),
  amount: t.expose('amount', decimal('Amount in currency units.')),
  transactionHash: t.exposeString('transactionHash', { ...characters(66), description: 'Hash of the transaction.' }),
  blockNumber: t.exposeInt('blockNumber', {
    nullable: true,
    description: 'Block of the transaction. Null when the chain has lost the block.',
  }),
  shortfall: t.expose(
    'shortfall',
    decimal('Amount already spent from a deposit that was later frozen. The user owes it. Zero unless frozen.'),
  ),
  createdAt: t.expose('createdAt', time('Time at which the deposit was found.')),
  creditedAt: t.expose('creditedAt', optionalTime('Time of the first credit. Null until then.')),
  frozenAt: t.expose('frozenAt', optionalTime('Time since which the deposit is frozen. Null when it is not frozen.')),
})

const DepositType = builder.prismaObject('Deposit', {
  description: 'A deposit to the address of a wallet on the chain. Only the owner of the wallet sees it.',
  interfaces: [Node],
  select: allColumns('Deposit'),
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `deposit_01h2x…`.', resolve: ({ id }) => toId('deposit', id) }),
    ...sharedFields(t),
    confirmations: t.int({
      nullable: true,
      description: 'Number of blocks on top of its block. Null when the chain has lost the block.',
      resolve: ({ blockNumber }, _args, context) => countConfirmations(context, blockNumber),
    }),
  }),
})

addNodeKind('deposit', { type: 'Deposit', find: ({ uuid }, context) => findDeposit(context, uuid) })

const AccountDepositType = builder.prismaObject('Deposit', {
  variant: 'AccountDeposit',
  description: 'A deposit as administrators see it.',
  select: allColumns('Deposit'),
  fields: (t) => ({
    depositId: t.id({ description: 'Identifier of the deposit.', resolve: ({ id }) => toId('deposit', id) }),
    userId: t.id({
      description: 'Identifier of the user who owns the deposit.',
      resolve: ({ walletId }) => toId('user', walletId),
    }),
    ...sharedFields(t),
    writtenOff: t.expose(
      'writtenOff',
      decimal('The amount of a frozen deposit that the platform wrote off. Zero unless frozen.'),
    ),
  }),
})

const AccountDepositFilter = builder.inputType('AccountDepositFilter', {
  description: 'Filter. All given conditions must match.',
  fields: (t) => ({
    userId: t.id({ description: 'Only deposits of this user.' }),
    status: t.field({ type: DepositStatus, description: 'Deposits with this status.' }),
  }),
})

const HeldCoinsType = builder.objectRef<HeldCoins>('HeldCoins').implement({
  description:
    'The coins that the service holds for its users, and the pending withdrawals. Only administrators can read it.',
  fields: (t) => ({
    treasury: t.expose('treasury', {
      type: 'Address',
      description: 'Address of the treasury. It collects deposits and pays withdrawals.',
    }),
    treasuryBalance: t.expose('treasuryBalance', {
      type: 'Decimal',
      nullable: true,
      description: 'Balance of the treasury on the chain. Null while the chain does not answer.',
    }),
    missing: t.expose('missing', {
      type: 'Decimal',
      nullable: true,
      description: 'Amount that the treasury lacks for all due withdrawals. Null while the chain does not answer.',
    }),
    inTreasury: t.expose('inTreasury', decimal('Coins of users in the treasury, by the ledger.')),
    inTransit: t.expose('inTransit', decimal('Coins in transactions that are not settled.')),
    atAddresses: t.expose('atAddresses', decimal('Coins at the addresses of wallets.')),
    dueWithdrawals: t.exposeInt('dueWithdrawals', {
      description: 'Number of withdrawals that are due and not signed.',
    }),
    amountDue: t.expose('amountDue', decimal('Sum of the due withdrawals with their fees.')),
    oldestDueAt: t.expose(
      'oldestDueAt',
      optionalTime('Time since which the oldest due withdrawal waits. Null if there is none.'),
    ),
    frozenDeposits: t.exposeInt('frozenDeposits', { description: 'Number of frozen deposits.' }),
    shortfall: t.expose('shortfall', decimal('Amount that wallets owe for frozen deposits.')),
  }),
})

const adminOnly = 'Only for administrators. Raises NOT_AUTHENTICATED, PERMISSION_DENIED'

builder.queryFields((t) => ({
  deposits: t.prismaConnection(
    {
      type: DepositType,
      cursor: 'id',
      ...pageOf(1_000),
      description:
        'Deposits to the address of your wallet, newest first. Includes pending deposits. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        status: t.arg({ type: DepositStatus, description: 'Deposits with this status.' }),
        search: searchArg(t, 'the hash of the transaction'),
        offset: offsetArg(t),
      },
      ...listResolvers(listDeposits, countDeposits),
    },
    connectionOf(DepositType, 'Deposit', ['a deposit', 'deposits']),
  ),
  heldCoins: t.field({
    type: HeldCoinsType,
    description: `The coins that the service holds for its users, and the withdrawals that wait. ${adminOnly}.`,
    resolve: (_root, _args, context) => readHeldCoins(context),
  }),
  accountDeposits: t.prismaConnection(
    {
      type: AccountDepositType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description: `The deposits of all users, newest first. ${adminOnly}, VALIDATION_FAILED.`,
      args: {
        filter: t.arg({ type: AccountDepositFilter, description: 'Filter. All given conditions must match.' }),
        offset: offsetArg(t),
      },
      ...listResolvers(listAccountDeposits, countAccountDeposits),
    },
    connectionOf(
      AccountDepositType,
      'AccountDeposit',
      ['a deposit', 'deposits as administrators see them'],
      boundedCountDescription,
    ),
  ),
}))
