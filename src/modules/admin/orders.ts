/** Pages about orders and their refunds. */
import { html } from 'hono/html'
import type { SaleFactsFragment, SaleFilter } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import { type Action, actionRoutes } from './action.ts'
import { type AdminRoute, pageAt } from './admin-page.ts'
import * as ui from './components.ts'
import { listRoute, statusFilter } from './list-page.ts'

export const SaleFacts = graphql(/* GraphQL */ `
  fragment SaleFacts on Sale {
    orderId status networkAppId networkAppName
    buyer { id username }
    price numPaid pointsPaid totalPaid totalRefunded createdAt paidAt settledAt
  }
`)

const Sales = graphql(/* GraphQL */ `
  query AdminSales($limit: Int!, $offset: Int!, $filter: SaleFilter) {
    sales(first: $limit, offset: $offset, filter: $filter) { totalCount nodes { ...SaleFacts } }
  }
`)

const Sale = graphql(/* GraphQL */ `
  query AdminSale($orderId: ID!) {
    sale(orderId: $orderId) { ...SaleFacts refunds { id total num points reason createdAt } }
  }
`)

const QuoteRefund = graphql(/* GraphQL */ `
  query AdminQuoteRefund($orderId: ID!) {
    quote(input: { refundOrder: { orderId: $orderId, reason: "-" } }) { available problems { message } }
  }
`)

const RefundOrder = graphql(/* GraphQL */ `
  mutation AdminRefundOrder($input: RefundOrderInput!) { refundOrder(input: $input) { refund { id } } }
`)

const PATH = '/admin/orders'

const appOf = ({ networkAppId, networkAppName }: SaleFactsFragment) =>
  ui.appLink({ id: networkAppId, name: networkAppName })

export const saleColumns: readonly (ui.Column<SaleFactsFragment> | ui.AmountColumn<SaleFactsFragment>)[] = [
  { name: 'Order', show: ({ orderId }) => ui.id(orderId, `${PATH}/${orderId}`) },
  { name: 'Status', show: ({ status }) => ui.badge(status) },
  { name: 'Network app', show: appOf },
  { name: 'Buyer', show: ({ buyer }) => ui.userLink(buyer) },
  { name: 'Price', amount: ({ price }) => price },
  { name: 'Paid', amount: ({ totalPaid }) => totalPaid },
  { name: 'Refunded', amount: ({ totalRefunded }) => totalRefunded },
  { name: 'Created (UTC)', show: ({ createdAt }) => ui.formatTime(createdAt) },
]

const list = listRoute({
  path: PATH,
  title: 'Orders',
  filters: [
    statusFilter('CREATED', 'PENDING', 'SUCCESS', 'FAILURE', 'EXPIRED', 'CANCELLED', 'REFUNDED'),
    { name: 'networkAppId', label: 'ID of the network app' },
    { name: 'buyerId', label: 'ID of the buyer' },
  ],
  columns: saleColumns,
  empty: 'There are no orders.',
  read: async (filter: SaleFilter, { run }, page) => (await run(Sales, { ...page, filter })).sales,
})

const read = pageAt(`${PATH}/:id`, async (request) => {
  const sale = (await request.run(Sale, { orderId: request.params.id! })).sale!
  const canRefund = sale.paidAt !== null && sale.status !== 'REFUNDED' && sale.totalPaid !== '0'
  return {
    title: `Order of ${sale.networkAppName}`,
    content: html`${ui.heading(html`Order of ${sale.networkAppName} ${ui.badge(sale.status)}`, { breadcrumbs: { [PATH]: 'Orders' }, request })}
${ui.facts(
  ['Order', ui.id(sale.orderId)],
  ['Buyer', ui.userLink(sale.buyer)],
  ['Network app', appOf(sale)],
  ['Price', sale.price],
  ['Paid', `${sale.totalPaid} (${sale.numPaid} in currency units, ${sale.pointsPaid} in points)`],
  ['Refunded', sale.totalRefunded],
  ['Created (UTC)', ui.formatTime(sale.createdAt)],
  ['Paid at (UTC)', ui.formatTime(sale.paidAt)],
  ['Completed (UTC)', ui.formatTime(sale.settledAt)],
  ['Webhook', html`<a href="/admin/webhooks?orderId=${sale.orderId}">Deliveries</a>`],
)}
<ul class="actions">${canRefund ? html`<li><a class="button" href="${PATH}/${sale.orderId}/refund">Refund</a></li>` : ''}</ul>
<section><h2>Refunds</h2>
${ui.table(
  'Refunds',
  [
    { name: 'Refund', show: (refund) => ui.id(refund.id) },
    { name: 'Amount', amount: ({ total }) => total },
    { name: 'In currency units', amount: ({ num }) => num },
    { name: 'In points', amount: ({ points }) => points },
    {
      name: 'Reason',
      show: ({ reason }) => reason || 'Automatic refund, or the reason was erased with the buyer’s account.',
    },
    { name: 'Created (UTC)', show: ({ createdAt }) => ui.formatTime(createdAt) },
  ],
  sale.refunds,
  'There are no refunds.',
)}</section>`,
  }
})

const refund: Action = {
  path: `${PATH}/:id/refund`,
  isGuarded: true,
  async view({ params, run }) {
    const orderId = params.id!
    const { available, problems } = (await run(QuoteRefund, { orderId })).quote
    return {
      title: 'Refund an order',
      breadcrumbs: { [PATH]: 'Orders', [`${PATH}/${orderId}`]: 'Order' },
      about: html`<p>Order ${ui.id(orderId)}. ${problems.length ? problems.map(({ message }) => message).join(' ') : `${available} can be refunded.`}</p>
<p>Currency units are refunded before points. The buyer gets an e-mail with the reason, and the webhook of the network app gets the event <code>order.refunded</code>.</p>`,
      fields: [
        {
          ...{ name: 'amount', label: 'Amount', isOptional: true },
          rule: `At most ${available}. Leave empty to refund the whole amount.`,
        },
        { name: 'reason', label: 'Reason', kind: 'area', rule: 'The buyer can read the reason.' },
      ],
      button: 'Refund',
    }
  },
  async execute({ params, form, run }) {
    const orderId = params.id!
    const amount = form.get('amount')?.trim() || undefined
    await run(RefundOrder, { input: { orderId, amount, reason: form.get('reason') ?? '' } })
    return { redirect: ui.doneAt(`${PATH}/${orderId}`, 'refunded') }
  },
}

export const orderRoutes: AdminRoute[] = [list, read, ...actionRoutes(refund)]
