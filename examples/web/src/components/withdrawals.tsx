import { useMutation } from 'urql'
import { useRepeatedly } from '../api/repeatedly.ts'
import { useSteadyQuery } from '../api/steady.ts'
import { graphql } from '../gql/gql.ts'
import { Moment } from './moment.tsx'
import { Money } from './money.tsx'
import { focusHeading } from './page.tsx'
import { Problem } from './problem.tsx'
import { WithdrawalState } from './status.tsx'

const Withdrawals = graphql(/* GraphQL */ `
  query Withdrawals($first: Int!) {
    withdrawals(first: $first) {
      nodes {
        id
        amount
        fee
        to
        status
        failure
        transactionHash
        createdAt
        dueAt
      }
    }
  }
`)

const CancelWithdrawal = graphql(/* GraphQL */ `
  mutation CancelWithdrawal($id: ID!) {
    cancelWithdrawal(input: { id: $id }) {
      withdrawal {
        id
        status
        settledAt
      }
    }
  }
`)

const SHOWN = 5

/** What was withdrawn lately and how far it is; as long as nothing is signed for it, it can be cancelled. */
export function WithdrawalList() {
  const [{ data, error }, execute] = useSteadyQuery({
    query: Withdrawals,
    variables: { first: SHOWN },
    requestPolicy: 'cache-and-network',
  })
  const [cancelled, cancel] = useMutation(CancelWithdrawal)
  useRepeatedly(execute)

  const giveBack = async (id: string) => {
    const { error: refusal } = await cancel({ id })
    if (refusal) execute({ requestPolicy: 'network-only' })
    else focusHeading()
  }

  return (
    <div aria-busy={cancelled.fetching}>
      <Problem error={cancelled.error ?? error} />
      <ul className="rows" aria-label="Withdrawals">
        {data?.withdrawals.nodes.map(({ id, amount, fee, to, status, failure, transactionHash, createdAt, dueAt }) => (
          <li key={id}>
            <div>
              <Money amount={amount} /> and <Money amount={fee} /> for the chain
              <p className="hint">
                <Moment at={createdAt} />
              </p>
              <p className="identifier">to {to}</p>
              {transactionHash && <p className="identifier">by {transactionHash}</p>}
            </div>
            <div>
              <WithdrawalState status={status} />
              {failure && <p className="wrong">{failure}</p>}
              {status === 'WAITING' && (
                <>
                  <p className="hint">
                    It is sent from <Moment at={dueAt} /> on.
                  </p>
                  <button type="button" className="quiet" onClick={() => giveBack(id)}>
                    Cancel the withdrawal
                  </button>
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  )
}
