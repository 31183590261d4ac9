import { resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, decimal, openToStaleTokens, publicId, shortText, time } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/limits/document-cost.ts'
import { connectionOf, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { add } from '../../shared/money.ts'
import { type Pricing, readPricing } from './quote.ts'
import { countTransfers, listTransfers, type StatementLine } from './statement.ts'

export const WalletType = builder.prismaObject('Wallet', {
  description: "A user's custodial key pair and balances.",
  select: { userId: true, address: true, num: true, points: true },
  fields: (t) => ({
    address: t.expose('address', {
      type: 'Address',
      description:
        "Address of the wallet's key pair on the chain. Coins from plain transactions and the configured token are credited after enough confirmations. `deposits` shows each deposit before the credit. Coins that a contract sends are not credited automatically.",
    }),
    num: t.expose('num', decimal('Balance in currency units.')),
    points: t.expose(
      'points',
      decimal('Balance in points. A point pays for one currency unit. Points are spent first.'),
    ),
    spendable: t.field({
      ...decimal('The spendable amount: num and points together.'),
      resolve: ({ num, points }) => add(num, points),
    }),
  }),
})

const PricingType = builder.objectRef<Pricing>('Pricing').implement({
  description: 'Prices of paid operations, in currency units.',
  fields: (t) => ({
    assetUpdateFee: t.expose('assetUpdateFee', decimal('Price of each commit: registering or updating an asset.')),
    gasFee: t.expose(
      'gasFee',
      decimal(
        'Fee for the chain transaction of a commit. The fee can follow the gas price. `maxCost` limits the total.',
      ),
    ),
    total: t.expose('total', decimal('Total cost of a commit.')),
    currency: t.exposeString('currency', shortText(64, 'Name of the currency unit.')),
  }),
})

builder.queryField('pricing', (t) =>
  t.field({
    ...openToStaleTokens,
    type: PricingType,
    description: 'Prices of paid operations.',
    resolve: (_root, _args, context) => readPricing(context),
  }),
)

const pages = pageOf(1_000)

const TransferKind = builder.enumType('TransferKind', {
  description: 'Reason of a transfer.',
  values: {
    SIGN_UP: { description: 'The points that a new account receives.' },
    COMMIT: { description: 'The charge for a commit.' },
    REFUND: { description: 'The refund of a commit that could not reach the chain.' },
    ORDER: { description: 'The payment of an order, or the income of the network app’s owner from it.' },
    ORDER_REFUND: { description: 'The refund of an order.' },
    DEPOSIT: { description: 'Currency units that were deposited over the chain.' },
    DEPOSIT_FREEZE: { description: 'The reversal of a credited deposit whose block left the chain.' },
    DEPOSIT_RELEASE: { description: 'The credit of a frozen deposit that is on the chain again.' },
    DEPOSIT_COLLECTION: { description: 'A debt from a frozen deposit that the operator collected.' },
    GRANT: { description: 'Points from an administrator.' },
    WITHDRAWAL: { description: 'Currency units that were withdrawn, with the fee.' },
    WITHDRAWAL_REFUND: { description: 'The refund of a withdrawal that was cancelled or failed.' },
    OTHER: { description: 'Any other reason.' },
  } as const,
})

const Balance = builder.objectRef<StatementLine['balance']>('WalletBalance').implement({
  description: 'The balances of a wallet at one time.',
  fields: (t) => ({
    num: t.expose('num', decimal('Balance in currency units.')),
    points: t.expose('points', decimal('Balance in points.')),
  }),
})

const TransferType = builder.objectRef<StatementLine>('Transfer').implement({
  description: 'One change of the balances of a wallet. Only the owner of the wallet can read transfers.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(publicId('transfer', 'id', 'Identifier, as in `transfer_01h2x…`.')),
    kind: t.expose('kind', { type: TransferKind, description: 'Reason of the transfer.' }),
    subjectId: t.exposeID('subjectId', {
      nullable: true,
      description:
        'ID of the commit, order, grant, withdrawal or user that caused the transfer. For a deposit, the hash of its chain transaction.',
    }),
    num: t.expose('num', decimal('Change of your balance in currency units. Negative for a charge.')),
    points: t.expose('points', decimal('Change of your balance in points. Negative for a charge.')),
    balance: t.expose('balance', { type: Balance, description: 'Your balances after the transfer.' }),
    createdAt: t.expose('createdAt', time('Time of the transfer.')),
  }),
})

builder.queryField('transfers', (t) =>
  t.connection(
    {
      type: TransferType,
      ...pages,
      description: 'The statement of your wallet: all transfers, newest first. Raises NOT_AUTHENTICATED.',
      args: { search: searchArg(t, 'the kind'), offset: offsetArg(t) },
      resolve: async (_root, { offset, search, ...args }, context) => ({
        ...(await resolveCursorConnection<Promise<StatementLine[]>>(
          { args, ...pages, toCursor: ({ id }) => toId('transfer', id) },
          (page) => listTransfers(context, { ...page, offset: offset ?? 0, search }),
        )),
        totalCount: () => countTransfers(context, search),
      }),
    },
    connectionOf(TransferType, 'Transfer', ['a transfer', 'transfers']),
  ),
)
