import { builder, omitNullish } from '../../graphql/builder.ts'
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
import { countConfirmations, countDeposits, findDeposit, listDeposits } from './deposits.ts'

/** The currency of a deposit. */
export const DepositKind = builder.enumType('DepositKind', {
  description: 'The currency of a deposit.',
  values: {
    COIN: { description: 'The chain’s own coin.' },
    TOKEN: { description: 'The ERC-20 token that the operator configured.' },
  } as const,
})

/** Status of a deposit. */
export const DepositStatus = builder.enumType('DepositStatus', {
  description: 'Whether a deposit counts.',
  values: {
    PENDING: { description: 'In a block that is not deep enough: it can still disappear, and cannot be spent.' },
    CREDITED: { description: 'In the wallet.' },
    FROZEN: {
      description: 'Was in the wallet, and the chain has lost its block: taken out again until the chain has it.',
    },
  } as const,
})

const DepositType = builder.prismaObject('Deposit', {
  description: 'A deposit to the address of a wallet on the chain. Only the owner of the wallet sees it.',
  interfaces: [Node],
  select: {
    ...{ id: true, kind: true, status: true, amount: true, transactionHash: true, blockNumber: true, shortfall: true },
    ...{ createdAt: true, creditedAt: true, frozenAt: true },
  },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `deposit_01h2x…`.', resolve: ({ id }) => toId('deposit', id) }),
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
      description: 'Block of the transaction. Null when the chain has lost the block.',
      resolve: ({ blockNumber }) => blockNumber,
    }),
    confirmations: t.int({
      nullable: true,
      description: 'How many blocks lie on top of it; null when the chain does not have it.',
      resolve: ({ blockNumber }, _args, context) => countConfirmations(context, blockNumber),
    }),
    shortfall: t.field({
      type: 'Decimal',
      description: 'Of a frozen one: what the wallet had spent of it and owes.',
      resolve: ({ shortfall }) => shortfall,
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

addNodeKind('deposit', { type: 'Deposit', find: ({ uuid }, context) => findDeposit(context, uuid) })

const DepositConnection = builder.connectionObject(
  {
    type: DepositType,
    name: 'DepositConnection',
    description: 'A page of deposits.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'DepositEdge', description: 'A deposit with its cursor.' },
)

builder.queryField('deposits', (t) =>
  t.prismaConnection(
    {
      type: DepositType,
      cursor: 'id',
      ...pageOf(1_000),
      description:
        'What came in to your wallet’s address, newest first, also what does not count yet. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: {
        status: t.arg({ type: DepositStatus, description: 'Only those of this status.' }),
        search: searchArg(t, 'the hash of the transaction'),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { status, search }, context) => countDeposits(context, omitNullish({ status, search })),
      resolve: (query, _root, { status, search, offset, ...page }, context) => {
        assertCursors('id', page)
        return listDeposits(context, omitNullish({ status, search }), withOffset(query, offset))
      },
    },
    DepositConnection,
  ),
)
