/** Pages about orders and their refunds. */
import { html } from 'hono/html'
import type { OrderStatus, SaleFactsFragment } from '../pages/generated/graphql.ts'
import { graphql } from '../pages/generated/index.ts'
import type { Run } from '../pages/page.ts'
import type { Action, TellRefusal } from './action.ts'
import type { AdminRoute } from './admin-page.ts'
import { badge, doneAt, facts, heading, id, moment, table } from './components.ts'
import { listRoute } from './list-page.ts'

/** Fields of an order that lists and pages show. */
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
  mutation AdminRefundOrder($input: RefundOrderInput!) {
    refundOrder(input: $input) { refund { id } }
  }
`)

const PATH = '/admin/orders'
const statuses: OrderStatus[] = ['CREATED', 'PENDING', 'SUCCESS', 'FAILURE', 'EXPIRED', 'CANCELLED', 'REFUNDED']
const options = [['', 'Any'], ...statuses.map((status) => [status, status.toLowerCase()])] as [string, string][]

/** Columns of a list of orders. */
export const saleColumns = [
  { name: 'Order', show: ({ orderId }: SaleFactsFragment) => id(orderId, `${PATH}/${orderId}`) },
  { name: 'Status', show: ({ status }: SaleFactsFragment) => badge(status) },
  {
    name: 'Network app',
    show: ({ networkAppName, networkAppId }: SaleFactsFragment) =>
      html`<a href="/admin/apps/${networkAppId}">${networkAppName}</a>`,
  },
  {
    name: 'Buyer',
    show: ({ buyer }: SaleFactsFragment) => html`<a href="/admin/users/${buyer.id}">${buyer.username}</a>`,
  },
  { name: 'Price', amount: ({ price }: SaleFactsFragment) => price },
  { name: 'Paid', amount: ({ totalPaid }: SaleFactsFragment) => totalPaid },
  { name: 'Given back', amount: ({ totalRefunded }: SaleFactsFragment) => totalRefunded },
  { name: 'Made (UTC)', show: ({ createdAt }: SaleFactsFragment) => moment(createdAt) },
]

const list = (run: Run, tell: TellRefusal) =>
  listRoute(tell, {
    path: PATH,
    title: 'Orders',
    filters: [
      { name: 'status', label: 'Status', options },
      { name: 'networkAppId', label: 'Identifier of the network app' },
      { name: 'buyerId', label: 'Identifier of the buyer' },
    ],
    columns: saleColumns,
    empty: 'Nobody has ordered anything yet.',
    async read({ status, ...asked }, { context }, page) {
      const filter = { ...asked, status: statuses.find((each) => each === status) }
      return (await run(Sales, { ...page, filter }, context)).sales
    },
  })

const read = (run: Run): AdminRoute => ({
  method: 'GET',
  path: `${PATH}/:id`,
  async answer(request) {
    const { sale: found } = await run(Sale, { orderId: request.params.id! }, request.context)
    const sale = found!
    const canRefund = sale.paidAt !== null && sale.status !== 'REFUNDED' && sale.totalPaid !== '0'
    return {
      title: `Order of ${sale.networkAppName}`,
      content: html`${heading(html`Order of ${sale.networkAppName} ${badge(sale.status)}`, { trail: [[PATH, 'Orders']], request })}
${facts(
  ['Order', id(sale.orderId)],
  ['Buyer', html`<a href="/admin/users/${sale.buyer.id}">${sale.buyer.username}</a>`],
  ['Network app', html`<a href="/admin/apps/${sale.networkAppId}">${sale.networkAppName}</a>`],
  ['Price', sale.price],
  ['Paid', `${sale.totalPaid} (${sale.numPaid} in currency units, ${sale.pointsPaid} in points)`],
  ['Given back', sale.totalRefunded],
  ['Made (UTC)', moment(sale.createdAt)],
  ['Paid at (UTC)', moment(sale.paidAt)],
  ['Settled (UTC)', moment(sale.settledAt)],
  ['Webhook', html`<a href="/admin/webhooks?orderId=${sale.orderId}">Its deliveries</a>`],
)}
<ul class="actions">${canRefund ? html`<li><a class="button" href="${PATH}/${sale.orderId}/refund">Give back</a></li>` : ''}</ul>
<section><h2>Refunds</h2>
${table(
  'Refunds',
  [
    { name: 'Refund', show: (refund) => id(refund.id) },
    { name: 'Amount', amount: ({ total }) => total },
    { name: 'In currency units', amount: ({ num }) => num },
    { name: 'In points', amount: ({ points }) => points },
    { name: 'Reason', show: ({ reason }) => reason || 'Its webhook was given up, or the buyer’s account is deleted.' },
    { name: 'Made (UTC)', show: ({ createdAt }) => moment(createdAt) },
  ],
  sale.refunds,
  'No refunds.',
)}</section>`,
    }
  },
})

const refund = (run: Run): Action => ({
  path: `${PATH}/:id/refund`,
  isGuarded: true,
  async view({ params, context }) {
    const orderId = params.id!
    const { quote } = await run(QuoteRefund, { orderId }, context)
    const { available, problems } = quote
    return {
      title: 'Give an order back',
      trail: [
        [PATH, 'Orders'],
        [`${PATH}/${orderId}`, 'Order'],
      ],
      about: html`<p>Order ${id(orderId)}. ${problems.length ? problems.map(({ message }) => message).join(' ') : `${available} can be refunded.`}</p>
<p>What was spent last comes back first: currency units, then points. The buyer gets a mail with the reason, the webhook of the network app the event <code>order.refunded</code>.</p>`,
      fields: [
        {
          name: 'amount',
          label: 'Amount',
          isOptional: true,
          rule: `At most ${available}. Everything that is left if the field is empty.`,
        },
        { name: 'reason', label: 'Reason', kind: 'area', rule: 'The buyer reads it.' },
      ],
      button: 'Give back',
    }
  },
  async carryOut({ params, form, context }) {
    const orderId = params.id!
    const amount = form.get('amount')?.trim() || undefined
    await run(RefundOrder, { input: { orderId, amount, reason: form.get('reason') ?? '' } }, context)
    return { redirect: doneAt(`${PATH}/${orderId}`, 'refunded') }
  },
})

export const orderRoutes = (run: Run, tell: TellRefusal): AdminRoute[] => [list(run, tell), read(run)]

export const orderActions = (run: Run): Action[] => [refund(run)]
