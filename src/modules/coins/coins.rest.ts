import { z } from 'zod'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import type { WithdrawalRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { validationFailed } from '../../shared/errors.ts'
import { presentProblems, quoteFacts } from '../wallet/quotes.rest.ts'

const withdrawalRecord = values.objectOf('Withdrawal', 'A payment of coins from a wallet to an address on the chain.', {
  ...values.sameFields('Withdrawal', {
    ...{ id: z.string(), status: z.enum(['waiting', 'sending', 'confirmed', 'failed', 'cancelled']) },
    ...{ amount: values.amount, fee: values.amount, total: values.amount, to: z.string() },
    ...{ transaction_hash: z.string().nullable(), failure: z.string().nullable() },
    ...{ created_at: values.time, due_at: values.time, settled_at: values.time.nullable() },
  }),
})

export const WithdrawalRecord = graphql(/* GraphQL */ `
  fragment WithdrawalRecord on Withdrawal {
    id status amount fee total to transactionHash failure createdAt dueAt settledAt
  }
`)

const present = ({ status, ...rest }: WithdrawalRecordFragment): z.output<typeof withdrawalRecord> => ({
  ...values.snakeCased(rest),
  status: values.lowerCase(status),
})

const quotedBody = {
  ...values.sameFields('WithdrawInput', { amount: values.givenAmount, to: values.neededText(100) }),
  max_fee: values.same('WithdrawInput.maxFee', values.givenAmount).optional(),
}

const withdrawalFrom = ({ body }: RestRequest) => ({
  // A missing amount is sent as 0, so that the service reports it together with all other problems.
  amount: body.amount('amount') ?? '0',
  to: body.text('to') ?? '',
  maxFee: body.amount('max_fee'),
})

const quote = defineRoute({
  ...post('quotes/withdrawals', 'quoteWithdrawCoins', 'Quotes', 'Quote a withdrawal'),
  isQuote: true,
  description: 'Quoting a withdrawal needs no password.',
  body: z.object(quotedBody).meta({ id: 'WithdrawalToQuote', description: 'The amount and its destination.' }),
  action: 'withdrawal:create',
  operation: graphql(/* GraphQL */ `
    query RestWithdrawalQuote($input: QuoteInput!) {
      quote(input: $input) {
        __typename total available problems { code message field }
        ... on WithdrawalQuote { amount fee leftToday }
      }
    }
  `),
  variables: (request) => ({ input: { withdraw: withdrawalFrom(request) } }),
  answer: values.objectOf('WithdrawalQuote', 'The cost of a withdrawal, and every reason why it would be rejected.', {
    dry_run: quoteFacts.dry_run,
    ...values.sameFields('WithdrawalQuote', {
      amount: values.amount,
      fee: values.amount,
      total: values.amount,
      available: values.amount,
      left_today: values.amount,
    }),
    errors: quoteFacts.errors,
  }),
  present({ quote }, { unread }) {
    if (quote.__typename !== 'WithdrawalQuote') throw new Error(`Unexpected quote: ${quote.__typename}`)
    const { __typename, problems, ...amounts } = quote
    return { dry_run: true as const, ...values.snakeCased(amounts), errors: presentProblems(problems, unread) }
  },
})

const statuses = ['pending', 'credited', 'frozen'] as const

const depositRecord = values.objectOf('Deposit', 'A payment to the address of a wallet on the chain.', {
  ...values.sameFields('Deposit', {
    ...{ id: z.string(), kind: z.enum(['coin', 'token']), status: z.enum(statuses), amount: values.amount },
    ...{ transaction_hash: z.string(), block_number: z.int().nullable(), confirmations: z.int().nullable() },
    ...{
      shortfall: values.amount,
      created_at: values.time,
      credited_at: values.time.nullable(),
      frozen_at: values.time.nullable(),
    },
  }),
})

function statusFrom({ query }: RestRequest) {
  const word = query.get('status')
  if (!word) return undefined
  const status = statuses.find((each) => each === word.toLowerCase())
  if (!status) throw validationFailed({ status: [`Expected one of ${statuses.join(', ')}.`] })
  return status.toUpperCase() as Uppercase<typeof status>
}

export const coinRoutes = [
  defineRoute({
    ...post('wallet/withdrawals', 'withdrawCoins', 'Wallet'),
    summary: 'Withdraw currency units to an address on the chain',
    description:
      'The fee is added to the amount. You can cancel a withdrawal until it is signed. You are notified by mail.',
    errors: ['CONFLICT', 'INSUFFICIENT_FUND', 'PRICE_EXCEEDS_MAX_COST', 'WITHDRAWALS_PAUSED'],
    body: values.objectOf('Withdraw', 'The amount, its destination and your password.', {
      ...quotedBody,
      current_password: values.same('WithdrawInput.currentPassword', values.presentPassword),
    }),
    action: 'withdrawal:create',
    operation: graphql(/* GraphQL */ `
      mutation RestWithdraw($input: WithdrawInput!) {
        withdraw(input: $input) { withdrawal { ...WithdrawalRecord } }
      }
    `),
    variables: (request) => ({
      input: { ...withdrawalFrom(request), currentPassword: request.body.exactText('current_password') ?? '' },
    }),
    status: 201,
    answer: withdrawalRecord,
    present: ({ withdraw }) => present(withdraw.withdrawal),
    quote,
  }),
  quote,
  defineList({
    ...get('wallet/withdrawals', 'listWithdrawals', 'Wallet', 'List your withdrawals, newest first'),
    action: 'withdrawal:read',
    record: withdrawalRecord,
    plural: 'Withdrawals',
    searched: 'the address, the hash of the transaction or the failure',
    order: 'newest',
    operation: graphql(/* GraphQL */ `
      query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
        withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
          totalCount pageInfo { startCursor endCursor }
          nodes { ...WithdrawalRecord }
        }
      }
    `),
    present,
  }),
  defineRoute({
    ...post('wallet/withdrawals/:id/cancel', 'cancelWithdrawal', 'Wallet'),
    summary: 'Cancel a withdrawal that is not signed',
    params: values.withdrawalParam,
    errors: ['NOT_FOUND', 'UNABLE_TO_CANCEL_WITHDRAWAL'],
    action: 'withdrawal:create',
    operation: graphql(/* GraphQL */ `
      mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {
        cancelWithdrawal(input: $input) { withdrawal { ...WithdrawalRecord } }
      }
    `),
    variables: ({ params }) => ({ input: { id: params.id! } }),
    answer: withdrawalRecord,
    present: ({ cancelWithdrawal }) => present(cancelWithdrawal.withdrawal),
  }),
  defineList({
    ...get('wallet/deposits', 'listDeposits', 'Wallet', 'List the deposits to your wallet, newest first'),
    description: 'Deposits that are not credited yet are included.',
    filters: { status: z.enum(statuses).optional().describe('Returns only deposits with this status.') },
    errors: ['VALIDATION_FAILED'],
    action: 'transfer:read',
    record: depositRecord,
    plural: 'Deposits',
    searched: 'the hash of the transaction',
    order: 'newest',
    operation: graphql(/* GraphQL */ `
      query RestDeposits($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $status: DepositStatus) {
        deposits(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, status: $status) {
          totalCount pageInfo { startCursor endCursor }
          nodes { id kind status amount transactionHash blockNumber confirmations shortfall createdAt creditedAt frozenAt }
        }
      }
    `),
    variables: (request, part) => ({ ...part, status: statusFrom(request) }),
    present: (deposit) => ({
      ...values.snakeCased(deposit),
      ...{ kind: values.lowerCase(deposit.kind), status: values.lowerCase(deposit.status) },
    }),
  }),
]
