import { builder } from '../../graphql/builder.ts'
import { openToStaleTokens } from '../../graphql/expired-token.ts'
import { characters } from '../../graphql/limits/sizes.ts'
import { add } from '../../shared/money.ts'
import { type Pricing, readPricing } from './quote.ts'

/** `Wallet`, for its owner alone. */
export const WalletType = builder.prismaObject('Wallet', {
  description: "A user's custodial key pair and balances.",
  select: { userId: true, address: true, num: true, points: true },
  fields: (t) => ({
    address: t.field({
      type: 'Address',
      description:
        "The key pair's address on the chain. Coins of plain transactions to it and the configured token are credited to the wallet " +
        'after enough confirmations. `deposits` shows them before. Coins that a contract sends are not credited automatically.',
      resolve: (wallet) => wallet.address,
    }),
    num: t.field({ type: 'Decimal', description: 'Balance in currency units.', resolve: (wallet) => wallet.num }),
    points: t.field({
      type: 'Decimal',
      description: 'Balance in points. One point pays for one currency unit. Points are spent before currency units.',
      resolve: (wallet) => wallet.points,
    }),
    spendable: t.field({
      type: 'Decimal',
      description: 'The spendable amount: num and points together.',
      resolve: (wallet) => add(wallet.num, wallet.points),
    }),
  }),
})

const PricingType = builder.objectRef<Pricing>('Pricing').implement({
  description: 'What paid operations cost, in currency units.',
  fields: (t) => ({
    assetUpdateFee: t.expose('assetUpdateFee', {
      type: 'Decimal',
      description: 'Charged for each commit: registering or updating an asset.',
    }),
    gasFee: t.expose('gasFee', {
      type: 'Decimal',
      description:
        'Charged for the chain transaction that carries a commit. Where the operator lets it follow the chain, it changes within bounds: `quote` returns it, and `maxCost` limits it.',
    }),
    total: t.expose('total', { type: 'Decimal', description: 'What one commit takes from the wallet.' }),
    currency: t.exposeString('currency', { ...characters(64), description: 'Name of the currency unit.' }),
  }),
})

builder.queryField('pricing', (t) =>
  t.field({
    ...openToStaleTokens,
    type: PricingType,
    description: 'What paid operations cost.',
    resolve: (_root, _args, context) => readPricing(context),
  }),
)
