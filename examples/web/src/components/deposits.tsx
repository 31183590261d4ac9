import { useEffect, useRef } from 'react'
import { useRepeatedly } from '../api/repeatedly.ts'
import { useSteadyQuery } from '../api/steady.ts'
import { graphql } from '../gql/gql.ts'
import { Moment } from './moment.tsx'
import { Money } from './money.tsx'
import { Problem } from './problem.tsx'
import { DepositState } from './status.tsx'

const Deposits = graphql(/* GraphQL */ `
  query Deposits($first: Int!) {
    me {
      id
      wallet {
        address
        spendable
        num
      }
    }
    deposits(first: $first) {
      nodes {
        id
        amount
        status
        confirmations
        shortfall
        transactionHash
        createdAt
      }
    }
  }
`)

const SHOWN = 5

/** Where coins are sent to, what counts there and what does not, and what has come. `onChange`: a deposit came, or counts by now. */
export function DepositSection({ onChange }: { onChange: () => void }) {
  const [{ data, error }, execute] = useSteadyQuery({
    query: Deposits,
    variables: { first: SHOWN },
    requestPolicy: 'cache-and-network',
  })
  useRepeatedly(execute)
  const states = data?.deposits.nodes.map(({ id, status }) => `${id} ${status}`).join()
  const known = useRef<string>(undefined)
  useEffect(() => {
    if (known.current !== undefined && known.current !== states) onChange()
    known.current = states
  }, [states, onChange])

  return (
    <section aria-labelledby="deposit">
      <h2 id="deposit">Deposit</h2>
      <Problem error={error} />
      {data?.me.wallet && (
        <>
          <p>Send the chain’s own coin to the address of your wallet:</p>
          <p className="identifier">{data.me.wallet.address}</p>
          <div className="notice">
            <p>
              Send from an ordinary account: coins that a contract sends are not credited automatically. Your deposit is
              listed here at once and credited after enough confirmations. The token that your operator names is
              credited as well.
            </p>
          </div>
          <ul className="rows" aria-label="Deposits">
            {data.deposits.nodes.map(({ id, amount, status, confirmations, shortfall, transactionHash, createdAt }) => (
              <li key={id}>
                <div>
                  <Money amount={amount} />
                  <p className="hint">
                    <Moment at={createdAt} />
                  </p>
                  <p className="identifier">{transactionHash}</p>
                </div>
                <div>
                  <DepositState status={status} />
                  {status === 'PENDING' && confirmations != null && (
                    <p className="hint">{confirmations} blocks on top of it</p>
                  )}
                  {shortfall !== '0' && (
                    <p className="wrong">
                      You owe <Money amount={shortfall} /> of it, which you had spent.
                    </p>
                  )}
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
