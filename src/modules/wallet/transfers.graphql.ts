import { resolveCursorConnection } from '@pothos/plugin-relay'
import { builder } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/limits/sizes.ts'
import { offsetArg, searchArg, totalCountDescription, totalCountOf } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import type { StatementLine } from './statement-service.ts'

const pages = pageOf(1_000)

const TransferKind = builder.enumType('TransferKind', {
  description: 'What a transfer is about.',
  values: {
    SIGN_UP: { description: 'The points an account starts with.' },
    COMMIT: { description: 'The charge for a commit.' },
    REFUND: { description: 'A commit that could not reach the chain, given back.' },
    ORDER: { description: 'The payment of an order, or what the sale brought to the owner of the network app.' },
    ORDER_REFUND: { description: 'The payment of an order, given back.' },
    DEPOSIT: { description: 'Currency units that came in over the chain.' },
    DEPOSIT_FREEZE: { description: 'A deposit that the chain has lost after it was credited, taken back.' },
    DEPOSIT_RELEASE: { description: 'A frozen deposit that the chain has again.' },
    DEPOSIT_COLLECTION: { description: 'What was still owed for a frozen deposit, taken by the operator.' },
    GRANT: { description: 'Points from an administrator.' },
    WITHDRAWAL: { description: 'Currency units that were withdrawn, with their fee.' },
    WITHDRAWAL_REFUND: { description: 'A withdrawal that was cancelled or failed, given back.' },
    OTHER: { description: 'Something else.' },
  } as const,
})

const Balance = builder.objectRef<StatementLine['balance']>('WalletBalance').implement({
  description: 'What a wallet held at one moment.',
  fields: (t) => ({
    num: t.expose('num', { type: 'Decimal', description: 'Currency units.' }),
    points: t.expose('points', { type: 'Decimal', description: 'Credits.' }),
  }),
})

const TransferType = builder.objectRef<StatementLine>('Transfer').implement({
  description: 'One movement in the books, as the owner of a wallet sees it.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `transfer_01h2x…`.', resolve: ({ id }) => toId('transfer', id) }),
    kind: t.expose('kind', { type: TransferKind, description: 'What it is about.' }),
    subjectId: t.exposeID('subjectId', {
      nullable: true,
      description:
        'ID of the commit, order, grant, withdrawal or user that the transfer is about. For a deposit: the hash of the transaction.',
    }),
    num: t.expose('num', {
      type: 'Decimal',
      description: 'Currency units it moved in your wallet; negative when it took them.',
    }),
    points: t.expose('points', {
      type: 'Decimal',
      description: 'Credits it moved in your wallet; negative when it took them.',
    }),
    balance: t.expose('balance', { type: Balance, description: 'Your wallet after it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
  }),
})

const TransferConnection = builder.connectionObject(
  {
    type: TransferType,
    name: 'TransferConnection',
    description: 'A page of transfers.',
    fields: (t) => ({
      totalCount: t.int({
        description: totalCountDescription,
        resolve: totalCountOf,
      }),
    }),
  },
  { name: 'TransferEdge', description: 'A transfer with its cursor.' },
)

builder.queryField('transfers', (t) =>
  t.connection(
    {
      type: TransferType,
      ...pages,
      description: 'Your statement: every movement in your wallet, newest first. Raises NOT_AUTHENTICATED.',
      args: {
        search: searchArg(t, 'the kind'),
        offset: offsetArg(t),
      },
      resolve: async (_root, { offset, search, ...args }, { actor, services }) => ({
        ...(await resolveCursorConnection<Promise<StatementLine[]>>(
          { args, ...pages, toCursor: ({ id }) => toId('transfer', id) },
          (page) => services.statement.list(actor, { ...page, offset: offset ?? 0, search }),
        )),
        totalCount: () => services.statement.count(actor, search),
      }),
    },
    TransferConnection,
  ),
)
