import { useNavigate } from 'react-router'
import { useQuery } from 'urql'
import { useOnce } from '../api/once.ts'
import { graphql } from '../gql/gql.ts'
import { Money } from './money.tsx'
import { Problem } from './problem.tsx'

const NetworkApps = graphql(/* GraphQL */ `
  query NetworkApps {
    networkApps(first: 50) {
      nodes {
        id
        name
        price
      }
    }
  }
`)

const CreateOrder = graphql(/* GraphQL */ `
  mutation CreateOrder($input: CreateOrderInput!) {
    createOrder(input: $input) {
      order {
        id
      }
    }
  }
`)

/** What can be bought for an asset. Ordering costs nothing yet; the order is paid on a page of its own. */
export function Actions({ assetId }: { assetId: string }) {
  const navigate = useNavigate()
  const [{ data, error }, reread] = useQuery({ query: NetworkApps, requestPolicy: 'cache-and-network' })
  const [{ error: refusal }, createOrder] = useOnce(CreateOrder)

  const order = async (networkApp: string, price: string) => {
    const input = { networkApp, maxCost: price, actionArgs: { nid: assetId } }
    const { data: ordered, error: reason } = await createOrder({ input })
    if (reason) reread({ requestPolicy: 'network-only' })
    const id = ordered?.createOrder.order?.id
    if (id) navigate(`/orders/${id}`)
  }

  return (
    <section aria-labelledby="actions">
      <h2 id="actions">Actions</h2>
      <Problem error={refusal ?? error} />
      {data?.networkApps.nodes.length === 0 && <p className="empty">Nothing is sold at the moment.</p>}
      <ul className="rows">
        {data?.networkApps.nodes.map(({ id, name, price }) => (
          <li key={id}>
            <span>{name}</span>
            <Money amount={price} />
            <button type="button" className="quiet" onClick={() => order(id, price)} aria-label={`Order ${name}`}>
              Order
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
