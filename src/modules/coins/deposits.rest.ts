import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { get, type RestRequest } from '../../http/rest/define-route.ts'
import type { DepositStatus } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { amount, lowerCase, moment, objectOf, same, snakeCased } from '../../http/rest/values.ts'
import { validationFailed } from '../../shared/errors.ts'

const statuses = ['pending', 'credited', 'frozen'] as const

const depositRecord = objectOf('Deposit', 'A payment to the address of a wallet on the chain.', {
  id: same('Deposit.id', z.string()),
  kind: same('Deposit.kind', z.enum(['coin', 'token'])),
  status: same('Deposit.status', z.enum(statuses)),
  amount: same('Deposit.amount', amount),
  transaction_hash: same('Deposit.transactionHash', z.string()),
  block_number: same('Deposit.blockNumber', z.int().nullable()),
  confirmations: same('Deposit.confirmations', z.int().nullable()),
  shortfall: same('Deposit.shortfall', amount),
  created_at: same('Deposit.createdAt', moment),
  credited_at: same('Deposit.creditedAt', moment.nullable()),
  frozen_at: same('Deposit.frozenAt', moment.nullable()),
})

/** Parses the status filter. Throws VALIDATION_FAILED. */
function statusFrom({ query }: RestRequest): DepositStatus | undefined {
  const word = query.get('status')?.toLowerCase()
  if (!word) return undefined
  const status = statuses.find((each) => each === word)
  if (!status) throw validationFailed({ status: [`Expected one of ${statuses.join(', ')}.`] })
  return status.toUpperCase() as Uppercase<typeof status>
}

/** Deposits to the caller's wallet. */
export const depositRoutes = [
  defineList({
    ...get('wallet/deposits', 'listDeposits', 'Wallet'),
    summary: 'List the deposits to your wallet, newest first',
    description: 'Deposits that are not credited yet are included.',
    filters: { status: z.enum(statuses).optional().describe('Deposits with this status.') },
    errors: ['VALIDATION_FAILED'],
    action: 'transfer:read',
    record: depositRecord,
    plural: 'Deposits',
    searched: 'the hash of the transaction',
    order: 'newest',
    operation: graphql(/* GraphQL */ `
      query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {
        deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {
          totalCount
          pageInfo { startCursor endCursor }
          nodes { id kind status amount transactionHash blockNumber confirmations shortfall createdAt creditedAt frozenAt }
        }
      }
    `),
    variables: (request, part) => ({ ...part, status: statusFrom(request) }),
    present: (deposit) => ({
      ...snakeCased(deposit),
      ...{ kind: lowerCase(deposit.kind), status: lowerCase(deposit.status) },
    }),
  }),
]
