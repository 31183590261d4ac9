/** Pages for administrators about coins: balances, pending operations, deposits and withdrawals. */
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
import { badge, facts, heading, id, moment } from './components.ts'
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
  const short = missing !== null && missing !== '0'
  if (dueWithdrawals === 0 && frozenDeposits === 0) return html`<p>There is nothing to do.</p>`
  return html`<ul>
${dueWithdrawals > 0 ? html`<li><a href="${PATH}/withdrawals?status=WAITING">Withdrawals wait</a>: ${dueWithdrawals}, oldest: ${moment(oldestDueAt)} UTC.${short ? html` The treasury lacks ${missing}: send coins to ${id(treasury)}.` : ' The log contains the reason.'}</li>` : ''}
${frozenDeposits > 0 ? html`<li><a href="${PATH}/deposits?status=FROZEN">Deposits are frozen</a>: ${frozenDeposits}. Wallets owe ${shortfall} for them. The command <code>annal deposits</code> collects or writes off the debt.</li>` : ''}
</ul>`
}

const overview = pageAt(PATH, async (request) => {
  const { heldCoins: held } = await request.run(HeldCoins, {})
  return {
    title: 'Coins',
    content: html`${heading('Coins', { request })}
<section><h2>To do</h2>
${renderTasks(held)}
</section>
<section><h2>Location</h2>
${facts(
  ['Treasury', id(held.treasury)],
  ['Balance of the treasury on the chain', held.treasuryBalance ?? 'The chain does not respond.'],
  ['Coins of users in the treasury', held.inTreasury],
  ['In transit', held.inTransit],
  ['At deposit addresses', held.atAddresses],
  ['Due withdrawals', held.dueWithdrawals && `${held.amountDue}, in ${held.dueWithdrawals} withdrawals`],
  ['Missing for due withdrawals', held.missing ?? 'The chain does not respond.'],
)}
</section>
<ul class="actions"><li><a class="button" href="${PATH}/deposits">Deposits</a></li><li><a class="button" href="${PATH}/withdrawals">Withdrawals</a></li></ul>`,
  }
})

const account = ({ userId }: { userId: string }) => id(userId, `/admin/users/${userId}`)
const about = html`<p><a href="${PATH}">Balances and pending operations</a></p>`

const deposits = listRoute({
  path: `${PATH}/deposits`,
  title: 'Deposits',
  about,
  filters: [statusFilter('PENDING', 'CREDITED', 'FROZEN'), { name: 'userId', label: 'Identifier of a user' }],
  columns: [
    { name: 'Deposit', show: ({ depositId }: Deposit) => id(depositId) },
    { name: 'Status', show: ({ status }) => badge(status) },
    { name: 'Kind', show: ({ kind }) => kind.toLowerCase() },
    { name: 'Account', show: account },
    { name: 'Amount', amount: ({ amount }) => amount },
    { name: 'Owed', amount: ({ shortfall }) => shortfall },
    { name: 'Detected (UTC)', show: ({ createdAt }) => moment(createdAt) },
    { name: 'Frozen (UTC)', show: ({ frozenAt }) => moment(frozenAt) },
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
    { name: 'userId', label: 'Identifier of a user' },
  ],
  columns: [
    { name: 'Withdrawal', show: ({ withdrawalId }: Withdrawal) => id(withdrawalId) },
    { name: 'Status', show: ({ status, failure }) => (failure ? html`${badge(status)} ${failure}` : badge(status)) },
    { name: 'Account', show: account },
    { name: 'Amount', amount: ({ amount }) => amount },
    { name: 'Amount with fee', amount: ({ total }) => total },
    { name: 'Due (UTC)', show: ({ dueAt }) => moment(dueAt) },
    { name: 'Settled (UTC)', show: ({ settledAt }) => moment(settledAt) },
    { name: 'To', show: ({ to }) => id(to) },
    { name: 'Transaction', show: ({ transactionHash }) => (transactionHash ? id(transactionHash) : '–') },
  ],
  empty: 'There are no withdrawals.',
  read: async (filter: AccountWithdrawalFilter, { run }, page) =>
    (await run(Withdrawals, { ...page, filter })).accountWithdrawals,
})

export const coinRoutes: AdminRoute[] = [overview, deposits, withdrawals]
