import { useMutation, useQuery } from 'urql'
import { useOnce } from '../api/once.ts'
import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'
import { Countdown } from './countdown.tsx'
import { focusHeading } from './page.tsx'
import { Price } from './price.tsx'
import { Problem } from './problem.tsx'

const Fragment = graphql(/* GraphQL */ `
  fragment Payment on Order {
    id
    expiresAt
  }
`)

const QuoteOrder = graphql(/* GraphQL */ `
  query QuoteOrder($id: ID!) {
    quote(input: { confirmOrder: { id: $id } }) {
      total
      problems {
        code
      }
      ...Price
    }
  }
`)

const ConfirmOrder = graphql(/* GraphQL */ `
  mutation ConfirmOrder($input: ConfirmOrderInput!) {
    confirmOrder(input: $input) {
      order {
        id
        status
        paidAt
        totalPaid
      }
    }
  }
`)

const CancelOrder = graphql(/* GraphQL */ `
  mutation CancelOrder($input: CancelOrderInput!) {
    cancelOrder(input: $input) {
      order {
        id
        status
      }
    }
  }
`)

/** What an order costs, how long it can be paid, and the two ways out of it. */
export function Payment({ order, reread }: { order: FragmentType<typeof Fragment>; reread: () => void }) {
  const { id, expiresAt } = readFragment(Fragment, order)
  const [{ data, error }, askAgain] = useQuery({ query: QuoteOrder, variables: { id }, requestPolicy: 'network-only' })
  const [confirmed, confirm] = useOnce(ConfirmOrder)
  const [cancelled, cancel] = useMutation(CancelOrder)
  const quote = data?.quote
  const pay = async () => {
    if (!quote || quote.problems.length > 0) return
    const { error: refusal } = await confirm({ input: { id, maxCost: quote.total } })
    if (refusal) askAgain()
    else focusHeading()
  }
  const withdraw = async () => {
    const { error: refusal } = await cancel({ input: { id } })
    if (!refusal) focusHeading()
  }

  return (
    <section aria-label="Payment" aria-busy={confirmed.fetching || cancelled.fetching}>
      <Problem error={confirmed.error ?? cancelled.error ?? error} />
      {quote && <Price quote={quote} />}
      <Countdown until={expiresAt} onEnd={reread} />
      <div className="buttons">
        <button type="button" aria-disabled={!quote || quote.problems.length > 0} onClick={pay}>
          Pay
        </button>
        <button type="button" className="quiet" onClick={withdraw}>
          Cancel the order
        </button>
      </div>
    </section>
  )
}
