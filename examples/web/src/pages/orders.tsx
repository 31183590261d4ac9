import { Link } from 'react-router'
import { useQuery } from 'urql'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePage } from '../components/pager.tsx'
import { Problem } from '../components/problem.tsx'
import { OrderState } from '../components/status.tsx'
import { graphql } from '../gql/gql.ts'

const Orders = graphql(/* GraphQL */ `
  query Orders($first: Int, $after: String, $last: Int, $before: String) {
    orders(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        networkAppName
        price
        createdAt
        status
      }
      pageInfo {
        ...Pager
      }
    }
  }
`)

const PAGE_SIZE = 20

export function OrdersPage() {
  const [{ data, error, fetching }] = useQuery({
    query: Orders,
    variables: usePage(PAGE_SIZE),
    requestPolicy: 'cache-and-network',
  })
  const orders = data?.orders.nodes ?? []
  return (
    <Page title="Your orders">
      <Problem error={error} />
      {!data && fetching && <p role="status">Loading…</p>}
      {data && orders.length === 0 && (
        <p className="empty">You have not ordered anything. Actions are sold on the page of an asset.</p>
      )}
      <ul className="rows">
        {orders.map(({ id, networkAppName, price, createdAt, status }) => (
          <li key={id}>
            <div>
              <Link to={`/orders/${id}`}>{networkAppName}</Link>
              <p className="hint">
                <Moment at={createdAt} />
              </p>
            </div>
            <OrderState status={status} />
            <Money amount={price} />
          </li>
        ))}
      </ul>
      {data && <Pager page={data.orders.pageInfo} label="Pages of orders" />}
    </Page>
  )
}
