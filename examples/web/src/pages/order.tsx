import { useCallback, useMemo } from 'react'
import { useParams } from 'react-router'
import { createRequest, useQuery } from 'urql'
import { useLive } from '../api/live.ts'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { Page } from '../components/page.tsx'
import { Payment } from '../components/payment.tsx'
import { Problem } from '../components/problem.tsx'
import { OrderState } from '../components/status.tsx'
import { graphql } from '../gql/gql.ts'

const Order = graphql(/* GraphQL */ `
  query Order($id: ID!) {
    order(id: $id) {
      id
      networkAppName
      price
      createdAt
      paidAt
      totalPaid
      status
      ...Payment
    }
  }
`)

const OrderUpdated = graphql(/* GraphQL */ `
  subscription OrderUpdated($id: ID!) {
    orderUpdated(id: $id) {
      id
      paidAt
      totalPaid
      status
    }
  }
`)

export function OrderPage() {
  const { id = '' } = useParams()
  const [{ data, error, fetching }, execute] = useQuery({
    query: Order,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const reread = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute])
  const isThere = data?.order != null
  useLive(
    useMemo(() => (isThere ? createRequest(OrderUpdated, { id }) : null), [isThere, id]),
    reread,
  )

  const order = data?.order
  if (!order) return <Page title="Order">{fetching ? <p role="status">Loading…</p> : <Problem error={error} />}</Page>
  return (
    <Page title={order.networkAppName}>
      <p aria-live="polite">
        <OrderState status={order.status} />
      </p>
      <dl>
        <dt>Price</dt>
        <dd>
          <Money amount={order.price} />
        </dd>
        <dt>Ordered</dt>
        <dd>
          <Moment at={order.createdAt} />
        </dd>
        {order.paidAt && (
          <>
            <dt>Paid</dt>
            <dd>
              <Money amount={order.totalPaid} />, <Moment at={order.paidAt} />
            </dd>
          </>
        )}
      </dl>
      {order.status === 'CREATED' && <Payment order={order} reread={reread} />}
    </Page>
  )
}
