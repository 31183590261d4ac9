import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { always, amount, same } from '../../http/rest/values.ts'
import { formatAmount } from '../../shared/money.ts'

const walletRecord = z
  .object({
    address: same('Wallet.address', z.string()),
    num_balance: z
      .object({
        num: amount.describe('Balance in currency units, with at least 1 decimal.'),
        eth_num: always('0'),
      })
      .describe('Balances of the wallet.'),
  })
  .meta({ id: 'WalletBalance', description: 'The wallet of the caller and its balance.' })

const walletOperation = graphql(/* GraphQL */ `
  query RestWallet {
    me {
      wallet {
        address
        num
      }
    }
  }
`)

const walletRoute = (path: string, operationId: string, summary: string) =>
  defineRoute({
    method: 'GET',
    path,
    operationId,
    tag: 'Earlier apps',
    summary,
    description: 'The phone apps read it before they show the order dialog. New clients read `auth/users/me`.',
    deprecated: true,
    action: 'account:read',
    operation: walletOperation,
    variables: () => ({}),
    answer: walletRecord,
    present: ({ me }): z.output<typeof walletRecord> => ({
      address: me.wallet!.address,
      num_balance: { num: formatAmount(me.wallet!.num, 1), eth_num: '0' },
    }),
  })

/** The wallet of the caller, at the paths of the phone apps. A user has one wallet, so both return the same record. */
export const walletRoutes = [
  walletRoute('wallets/num-wallet', 'getNumWallet', 'Get the NUM wallet of the caller'),
  walletRoute('wallets/asset-wallet', 'getAssetWallet', 'Get the asset wallet of the caller'),
]
