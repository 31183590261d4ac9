import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { amount, lowerCase, moment, same } from '../../http/rest/values.ts'

const transferRecord = z
  .object({
    id: same('Transfer.id', z.string()),
    kind: same(
      'Transfer.kind',
      z.enum([
        ...[
          'sign_up',
          'commit',
          'refund',
          'order',
          'order_refund',
          'deposit',
          'deposit_freeze',
          'deposit_release',
          'deposit_collection',
          'grant',
          'withdrawal',
          'withdrawal_refund',
          'other',
        ],
      ] as const),
    ),
    subject_id: same('Transfer.subjectId', z.string().nullable()),
    num: same('Transfer.num', amount),
    points: same('Transfer.points', amount),
    balance_num: amount.describe('Currency units in the wallet after it.'),
    balance_points: amount.describe('Credits in the wallet after it.'),
    created_at: same('Transfer.createdAt', moment),
  })
  .meta({ id: 'Transfer', description: 'A movement in the books, as the owner of the wallet sees it.' })

const list = defineList({
  path: 'wallet/transfers',
  operationId: 'listTransfers',
  tag: 'Wallet',
  summary: 'List the transfers of your wallet, newest first',
  action: 'transfer:read',
  record: transferRecord,
  plural: 'Transfers',
  searched: 'the kind',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestTransfers($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      transfers(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          id
          kind
          subjectId
          num
          points
          balance {
            num
            points
          }
          createdAt
        }
      }
    }
  `),
  variables: (_request, part) => part,
  connectionOf: ({ transfers }) => transfers,
  present: ({ id, kind, subjectId, num, points, balance, createdAt }) => ({
    id,
    kind: lowerCase(kind),
    subject_id: subjectId,
    num,
    points,
    balance_num: balance.num,
    balance_points: balance.points,
    created_at: createdAt,
  }),
})

/** Transfers of the caller's wallet. */
export const transferRoutes = [list]
