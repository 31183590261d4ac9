import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import type { WithdrawalRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import {
  amount,
  givenAmount,
  lowerCase,
  moment,
  neededText,
  objectOf,
  presentPassword,
  same,
  snakeCased,
  withdrawalParam,
} from '../../http/rest/values.ts'
import { presentProblems, quoteFacts } from '../wallet/quotes.rest.ts'

const withdrawalRecord = objectOf('Withdrawal', 'Coins that leave a wallet for an address on the chain.', {
  id: same('Withdrawal.id', z.string()),
  status: same('Withdrawal.status', z.enum(['waiting', 'sending', 'confirmed', 'failed', 'cancelled'])),
  amount: same('Withdrawal.amount', amount),
  fee: same('Withdrawal.fee', amount),
  total: same('Withdrawal.total', amount),
  to: same('Withdrawal.to', z.string()),
  transaction_hash: same('Withdrawal.transactionHash', z.string().nullable()),
  failure: same('Withdrawal.failure', z.string().nullable()),
  created_at: same('Withdrawal.createdAt', moment),
  due_at: same('Withdrawal.dueAt', moment),
  settled_at: same('Withdrawal.settledAt', moment.nullable()),
})

export const WithdrawalRecord = graphql(/* GraphQL */ `
  fragment WithdrawalRecord on Withdrawal {
    id status amount fee total to transactionHash failure createdAt dueAt settledAt
  }
`)

const present = (withdrawal: WithdrawalRecordFragment): z.output<typeof withdrawalRecord> => ({
  ...snakeCased(withdrawal),
  status: lowerCase(withdrawal.status),
})

const quotedBody = {
  amount: same('WithdrawInput.amount', givenAmount),
  to: same('WithdrawInput.to', neededText(100)),
  max_fee: same('WithdrawInput.maxFee', givenAmount).optional(),
}

const withdrawalFrom = ({ body }: RestRequest) => ({
  // The service reports a missing amount together with all other problems.
  amount: body.amount('amount') ?? '0',
  to: body.text('to') ?? '',
  maxFee: body.amount('max_fee'),
})

const withdrawalQuote = objectOf(
  'WithdrawalQuote',
  'The cost of a withdrawal, and every reason for which it would be refused.',
  {
    dry_run: quoteFacts.dry_run,
    amount: same('WithdrawalQuote.amount', amount),
    fee: same('WithdrawalQuote.fee', amount),
    total: same('WithdrawalQuote.total', amount),
    available: same('WithdrawalQuote.available', amount),
    left_today: same('WithdrawalQuote.leftToday', amount),
    errors: quoteFacts.errors,
  },
)

const quote = defineRoute({
  ...post('quotes/withdrawals', 'quoteWithdrawCoins', 'Quotes'),
  isQuote: true,
  summary: 'Quote a withdrawal',
  description: 'No password is needed.',
  body: z.object(quotedBody).meta({ id: 'WithdrawalToQuote', description: 'The amount and its destination.' }),
  action: 'withdrawal:create',
  operation: graphql(/* GraphQL */ `
    query RestWithdrawalQuote($input: QuoteInput!) {
      quote(input: $input) {
        __typename
        total
        available
        problems { code message field }
        ... on WithdrawalQuote { amount fee leftToday }
      }
    }
  `),
  variables: (request) => ({ input: { withdraw: withdrawalFrom(request) } }),
  answer: withdrawalQuote,
  present({ quote }, { unread }) {
    if (quote.__typename !== 'WithdrawalQuote') throw new Error(`Unexpected quote: ${quote.__typename}`)
    const { amount, fee, total, available, leftToday, problems } = quote
    const errors = presentProblems(problems, unread)
    return { dry_run: true as const, amount, fee, total, available, left_today: leftToday, errors }
  },
})

/** Routes for withdrawals. */
export const withdrawalRoutes = [
  defineRoute({
    ...post('wallet/withdrawals', 'withdrawCoins', 'Wallet'),
    summary: 'Withdraw currency units to an address on the chain',
    description:
      'The fee is added to the amount. You can cancel a withdrawal until it is signed. You are notified by mail.',
    errors: ['CONFLICT', 'INSUFFICIENT_FUND', 'PRICE_EXCEEDS_MAX_COST', 'WITHDRAWALS_PAUSED'],
    body: objectOf('Withdraw', 'The amount, its destination and your password.', {
      ...quotedBody,
      current_password: same('WithdrawInput.currentPassword', presentPassword),
    }),
    action: 'withdrawal:create',
    operation: graphql(/* GraphQL */ `
      mutation RestWithdraw($input: WithdrawInput!) {
        withdraw(input: $input) {
          withdrawal { ...WithdrawalRecord }
        }
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
    ...get('wallet/withdrawals', 'listWithdrawals', 'Wallet'),
    summary: 'List your withdrawals, newest first',
    action: 'withdrawal:read',
    record: withdrawalRecord,
    plural: 'Withdrawals',
    searched: 'the address, the hash of the transaction or the failure',
    order: 'newest',
    operation: graphql(/* GraphQL */ `
      query RestWithdrawals($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
        withdrawals(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
          totalCount
          pageInfo { startCursor endCursor }
          nodes { ...WithdrawalRecord }
        }
      }
    `),
    present,
  }),
  defineRoute({
    ...post('wallet/withdrawals/:id/cancel', 'cancelWithdrawal', 'Wallet'),
    summary: 'Cancel a withdrawal that is not signed',
    params: withdrawalParam,
    errors: ['NOT_FOUND', 'UNABLE_TO_CANCEL_WITHDRAWAL'],
    action: 'withdrawal:create',
    operation: graphql(/* GraphQL */ `
      mutation RestCancelWithdrawal($input: CancelWithdrawalInput!) {
        cancelWithdrawal(input: $input) {
          withdrawal { ...WithdrawalRecord }
        }
      }
    `),
    variables: ({ params }) => ({ input: { id: params.id! } }),
    answer: withdrawalRecord,
    present: ({ cancelWithdrawal }) => present(cancelWithdrawal.withdrawal),
  }),
]
