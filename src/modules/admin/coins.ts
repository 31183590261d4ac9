/** Pages about coins: balances, pending operations, deposits and withdrawals. */
import { html } from 'hono/html'
import type {
  AccountDepositFilter,
  AccountWithdrawalFilter,
  AdminDepositsQuery,
  AdminHeldCoinsQuery,
  AdminWithdrawalsQuery,
} from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Html } from '../pages/page.ts'
import { type AdminRoute, pageAt } from './admin-page.ts'
import { badge, facts, formatTime, heading, id } from './components.ts'
import { listRoute, statusFilter } from './list-page.ts'

const HeldCoins = graphql(/* GraphQL */ `
  query AdminHeldCoins {
    heldCoins {
      treasury treasuryBalance missing inTreasury inTransit atAddresses dueWithdrawals amountDue oldestDueAt
      frozenDeposits shortfall
    }
  }
`)

const Deposits = graphql(/* GraphQL */ `
  query AdminDeposits($limit: Int!, $offset: Int!, $filter: AccountDepositFilter) {
    accountDeposits(first: $limit, offset: $offset, filter: $filter) {
      totalCount
      nodes { depositId userId kind status amount shortfall transactionHash createdAt frozenAt }
    }
  }
`)

const Withdrawals = graphql(/* GraphQL */ `
  query AdminWithdrawals($limit: Int!, $offset: Int!, $filter: AccountWithdrawalFilter) {
    accountWithdrawals(first: $limit, offset: $offset, filter: $filter) {
      totalCount
      nodes { withdrawalId userId status amount total to transactionHash failure dueAt settledAt }
    }
  }
`)

const PATH = '/admin/coins'
type Held = AdminHeldCoinsQuery['heldCoins']
type Deposit = AdminDepositsQuery['accountDeposits']['nodes'][number]
type Withdrawal = AdminWithdrawalsQuery['accountWithdrawals']['nodes'][number]

/** Renders the open tasks of the operator. */
function renderTasks({ missing, treasury, dueWithdrawals, oldestDueAt, frozenDeposits, shortfall }: Held): Html {
  const isShort = missing !== null && missing !== '0'
  if (dueWithdrawals === 0 && frozenDeposits === 0) return html`<p>There are no open tasks.</p>`
  return html`<ul>
${dueWithdrawals > 0 ? html`<li><a href="${PATH}/withdrawals?status=WAITING">Overdue withdrawals</a>: ${dueWithdrawals}. The oldest was due at ${formatTime(oldestDueAt)} UTC.${isShort ? html` The treasury needs ${missing} more. Send coins to ${id(treasury)}.` : ' The log of the service contains the reason.'}</li>` : ''}
${frozenDeposits > 0 ? html`<li><a href="${PATH}/deposits?status=FROZEN">Frozen deposits</a>: ${frozenDeposits}. Their users owe ${shortfall}. The command <code>annal deposits</code> collects or writes off this debt.</li>` : ''}
</ul>`
}

const overview = pageAt(PATH, async (request) => {
  const { heldCoins: held } = await request.run(HeldCoins, {})
  return {
    title: 'Coins',
    content: html`${heading('Coins', { request })}
<section><h2>Open tasks</h2>
${renderTasks(held)}
</section>
<section><h2>Balances</h2>
${facts(
  ['Address of the treasury', id(held.treasury)],
  ['Balance of the treasury on the chain', held.treasuryBalance ?? 'Unknown: the chain node does not respond.'],
  ['Coins of users in the treasury', held.inTreasury],
  ['Coins in transit to the treasury', held.inTransit],
  ['Coins at deposit addresses', held.atAddresses],
  ['Due withdrawals', held.dueWithdrawals && `${held.amountDue}, in ${held.dueWithdrawals} withdrawals`],
  ['Coins missing for due withdrawals', held.missing ?? 'Unknown: the chain node does not respond.'],
)}
</section>
<ul class="actions"><li><a class="button" href="${PATH}/deposits">Deposits</a></li><li><a class="button" href="${PATH}/withdrawals">Withdrawals</a></li></ul>`,
  }
})

const user = ({ userId }: { userId: string }) => id(userId, `/admin/users/${userId}`)
const about = html`<p><a href="${PATH}">Balances and pending operations</a></p>`

const deposits = listRoute({
  path: `${PATH}/deposits`,
  title: 'Deposits',
  about,
  filters: [statusFilter('PENDING', 'CREDITED', 'FROZEN'), { name: 'userId', label: 'ID of the user' }],
  columns: [
    { name: 'Deposit', show: ({ depositId }: Deposit) => id(depositId) },
    { name: 'Status', show: ({ status }) => badge(status) },
    { name: 'Kind', show: ({ kind }) => kind.toLowerCase() },
    { name: 'User', show: user },
    { name: 'Amount', amount: ({ amount }) => amount },
    { name: 'Owed', amount: ({ shortfall }) => shortfall },
    { name: 'Detected (UTC)', show: ({ createdAt }) => formatTime(createdAt) },
    { name: 'Frozen (UTC)', show: ({ frozenAt }) => formatTime(frozenAt) },
    { name: 'Transaction', show: ({ transactionHash }) => id(transactionHash) },
  ],
  empty: 'There are no deposits.',
  read: async (filter: AccountDepositFilter, { run }, page) =>
    (await run(Deposits, { ...page, filter })).accountDeposits,
})

const withdrawals = listRoute({
  path: `${PATH}/withdrawals`,
  title: 'Withdrawals',
  about,
  filters: [
    statusFilter('WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED'),
    { name: 'userId', label: 'ID of the user' },
  ],
  columns: [
    { name: 'Withdrawal', show: ({ withdrawalId }: Withdrawal) => id(withdrawalId) },
    { name: 'Status', show: ({ status, failure }) => (failure ? html`${badge(status)} ${failure}` : badge(status)) },
    { name: 'User', show: user },
    { name: 'Amount', amount: ({ amount }) => amount },
    { name: 'Amount with fee', amount: ({ total }) => total },
    { name: 'Due (UTC)', show: ({ dueAt }) => formatTime(dueAt) },
    { name: 'Completed (UTC)', show: ({ settledAt }) => formatTime(settledAt) },
    { name: 'To', show: ({ to }) => id(to) },
    { name: 'Transaction', show: ({ transactionHash }) => (transactionHash ? id(transactionHash) : '–') },
  ],
  empty: 'There are no withdrawals.',
  read: async (filter: AccountWithdrawalFilter, { run }, page) =>
    (await run(Withdrawals, { ...page, filter })).accountWithdrawals,
})

export const coinRoutes: AdminRoute[] = [overview, deposits, withdrawals]
