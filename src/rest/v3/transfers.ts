import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { lowerCase } from '../lower-case.ts'
import { pageQuery, pageRecord } from '../page-record.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { amount, moment, same } from '../values.ts'

const transferPage = pageRecord(
  'Transfers',
  z
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
            'grant_expiry',
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
    .meta({ id: 'Transfer', description: 'One movement in the books, as the owner of a wallet sees it.' }),
)

const list = defineRoute({
  method: 'GET',
  path: 'wallet/transfers',
  operationId: 'listTransfers',
  tag: 'Wallet',
  summary: 'Read the statement of one’s wallet, newest first',
  query: pageQuery({}),
  action: 'transfer:read',
  operation: graphql(/* GraphQL */ `
    query RestTransfers($limit: Int!, $offset: Int!) {
      transfers(first: $limit, offset: $offset) {
        totalCount
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
  variables: pageOf,
  answer: transferPage,
  present: ({ transfers: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, kind, subjectId, num, points, balance, createdAt }) => ({
        id,
        kind: lowerCase(kind),
        subject_id: subjectId,
        num,
        points,
        balance_num: balance.num,
        balance_points: balance.points,
        created_at: createdAt,
      })),
    ),
})

/** The statement of one's wallet. */
export const transferRoutes = [list]
