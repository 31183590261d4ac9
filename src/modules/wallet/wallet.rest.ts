import { z } from 'zod'
import { defineRoute, get, post } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { formatAmount } from '../../shared/money.ts'

const walletRecord = values.objectOf('WalletBalance', 'The wallet of the caller and its balance.', {
  address: values.same('Wallet.address', z.string()),
  num_balance: z
    .object({
      num: values.amount.describe('Balance in currency units, with at least 1 decimal.'),
      eth_num: values.always('0'),
    })
    .describe('Balances of the wallet.'),
})

const walletRoute = (path: string, operationId: string, summary: string) =>
  defineRoute({
    ...get(path, operationId, 'Earlier apps', summary),
    description: 'For the phone apps, which read the wallet before an order. New clients use `auth/users/me`.',
    deprecated: true,
    action: 'account:read',
    operation: graphql(/* GraphQL */ `
      query RestWallet { me { wallet { address num } } }
    `),
    variables: () => ({}),
    answer: walletRecord,
    present: ({ me }): z.output<typeof walletRecord> => ({
      address: me.wallet!.address,
      num_balance: { num: formatAmount(me.wallet!.num, 1), eth_num: '0' },
    }),
  })

export const walletRoutes = [
  walletRoute('wallets/num-wallet', 'getNumWallet', 'Get the NUM wallet of the caller'),
  walletRoute('wallets/asset-wallet', 'getAssetWallet', 'Get the asset wallet of the caller'),
]

const transferRecord = values.objectOf(
  'Transfer',
  'One change of the balances of a wallet. Only the owner of the wallet can read transfers.',
  {
    ...values.sameFields('Transfer', {
      id: z.string(),
      kind: z.enum([
        ...(['sign_up', 'commit', 'refund', 'order', 'order_refund', 'deposit', 'deposit_freeze'] as const),
        ...(['deposit_release', 'deposit_collection', 'grant', 'withdrawal', 'withdrawal_refund', 'other'] as const),
      ]),
      ...{ subject_id: z.string().nullable(), num: values.amount, points: values.amount },
    }),
    balance_num: values.amount.describe('Balance in currency units after the transfer.'),
    balance_points: values.amount.describe('Balance in points after the transfer.'),
    created_at: values.same('Transfer.createdAt', values.time),
  },
)

export const transferRoutes = [
  defineList({
    ...get('wallet/transfers', 'listTransfers', 'Wallet', 'List the transfers of your wallet, newest first'),
    action: 'transfer:read',
    record: transferRecord,
    plural: 'Transfers',
    searched: 'the kind',
    order: 'newest',
    operation: graphql(/* GraphQL */ `
    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor }
        nodes { id kind subjectId num points balance { num points } createdAt }
      }
    }
  `),
    present: ({ kind, balance: { num, points }, ...transfer }) => ({
      ...values.snakeCased(transfer),
      kind: values.lowerCase(kind),
      balance_num: num,
      balance_points: points,
    }),
  }),
]

const grantRecord = values.objectOf('PointGrant', 'Points that an administrator gave to a user.', {
  id: values.same('PointGrant.id', z.string()),
  user_id: z.string().describe('ID of the user who received the points.'),
  ...values.sameFields('PointGrant', { amount: values.amount, reason: z.string(), created_at: values.time }),
})

export const grantRoutes = [
  defineRoute({
    ...post('store/point-grants', 'grantPoints', 'Store', 'Give points to a user'),
    errors: ['NOT_FOUND'],
    body: values.objectOf('GrantPoints', 'The recipient, the number of points and the reason.', {
      ...values.sameFields('GrantPointsInput', {
        user_id: values.neededText(254),
        amount: values.givenAmount,
        reason: values.neededText(500),
      }),
    }),
    action: 'store:administer',
    operation: graphql(/* GraphQL */ `
    mutation RestGrantPoints($input: GrantPointsInput!) {
      grantPoints(input: $input) {
        grant { id user { id } amount reason createdAt }
      }
    }
  `),
    variables: (request) => ({
      input: {
        userId: request.body.text('user_id') ?? '',
        // Missing fields become invalid values, so that the service reports them with all other problems.
        amount: request.body.amount('amount') ?? '0',
        reason: request.body.text('reason') ?? '',
      },
    }),
    status: 201,
    answer: grantRecord,
    present({ grantPoints }) {
      const { user, ...grant } = grantPoints.grant
      return { ...values.snakeCased(grant), user_id: user.id }
    },
  }),
]
