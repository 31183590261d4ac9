import { z } from 'zod'
import { validationFailed } from '../../domain/errors.ts'
import { defineRoute, type RestRequest } from '../define-route.ts'
import type { DepositStatus } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { lowerCase } from '../lower-case.ts'
import { pageQuery, pageRecord } from '../page-record.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { amount, moment, same } from '../values.ts'

const statuses = ['pending', 'credited', 'frozen'] as const

const depositPage = pageRecord(
  'Deposits',
  z
    .object({
      id: same('Deposit.id', z.string()),
      kind: same('Deposit.kind', z.enum(['coin', 'contract', 'token'])),
      status: same('Deposit.status', z.enum(statuses)),
      amount: same('Deposit.amount', amount),
      transaction_hash: same('Deposit.transactionHash', z.string().nullable()),
      block_number: same('Deposit.blockNumber', z.int().nullable()),
      confirmations: same('Deposit.confirmations', z.int().nullable()),
      shortfall: same('Deposit.shortfall', amount),
      created_at: same('Deposit.createdAt', moment),
      credited_at: same('Deposit.creditedAt', moment.nullable()),
      frozen_at: same('Deposit.frozenAt', moment.nullable()),
    })
    .meta({ id: 'Deposit', description: 'What came in to the address of a wallet over the chain.' }),
)

/** Raises VALIDATION_FAILED. */
function statusFrom({ query }: RestRequest): DepositStatus | undefined {
  const word = query.get('status')?.toLowerCase()
  if (!word) return undefined
  const status = statuses.find((each) => each === word)
  if (!status) throw validationFailed({ status: [`Expected one of ${statuses.join(', ')}.`] })
  return status.toUpperCase() as Uppercase<typeof status>
}

const list = defineRoute({
  method: 'GET',
  path: 'wallet/deposits',
  operationId: 'listDeposits',
  tag: 'Wallet',
  summary: 'List what came in to one’s wallet over the chain, newest first, also what does not count yet',
  query: pageQuery({ status: z.enum(statuses).optional().describe('Only those of this status.') }),
  errors: ['VALIDATION_FAILED'],
  action: 'transfer:read',
  operation: graphql(/* GraphQL */ `
    query RestDeposits($limit: Int!, $offset: Int!, $status: DepositStatus) {
      deposits(first: $limit, offset: $offset, status: $status) {
        totalCount
        nodes {
          id
          kind
          status
          amount
          transactionHash
          blockNumber
          confirmations
          shortfall
          createdAt
          creditedAt
          frozenAt
        }
      }
    }
  `),
  variables: (request) => ({ ...pageOf(request), status: statusFrom(request) }),
  answer: depositPage,
  present: ({ deposits: { totalCount, nodes } }, request) =>
    presentPage(
      request,
      totalCount,
      nodes.map(({ id, kind, status, amount, transactionHash, blockNumber, confirmations, shortfall, ...at }) => ({
        ...{ id, kind: lowerCase(kind), status: lowerCase(status), amount, transaction_hash: transactionHash },
        ...{ block_number: blockNumber, confirmations, shortfall },
        ...{ created_at: at.createdAt, credited_at: at.creditedAt, frozen_at: at.frozenAt },
      })),
    ),
})

/** What came in to one's wallet. */
export const depositRoutes = [list]
