import { useCallback } from 'react'
import { Link } from 'react-router'
import { useSteadyQuery } from '../api/steady.ts'
import { DepositSection } from '../components/deposits.tsx'
import { Moment } from '../components/moment.tsx'
import { Money, Points } from '../components/money.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePage } from '../components/pager.tsx'
import { Problem } from '../components/problem.tsx'
import { WithdrawalForm } from '../components/withdrawal-form.tsx'
import { WithdrawalList } from '../components/withdrawals.tsx'
import { graphql } from '../gql/gql.ts'
import type { TransferKind } from '../gql/graphql.ts'

const Wallet = graphql(/* GraphQL */ `
  query Wallet($first: Int, $after: String, $last: Int, $before: String) {
    me {
      id
      wallet {
        num
        points
        spendable
      }
    }
    transfers(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        createdAt
        kind
        num
        points
        subjectId
        balance {
          num
          points
        }
      }
      pageInfo {
        ...Pager
      }
    }
  }
`)

const PAGE_SIZE = 20

const kinds: Record<TransferKind, string> = {
  COMMIT: 'An asset’s commit',
  DEPOSIT: 'Deposit over the chain',
  DEPOSIT_COLLECTION: 'Still owed for a deposit',
  DEPOSIT_FREEZE: 'A deposit that the chain took back',
  DEPOSIT_RELEASE: 'A deposit that came back',
  GRANT: 'Points given to you',
  WITHDRAWAL: 'Withdrawal',
  WITHDRAWAL_REFUND: 'Withdrawal, given back',
  ORDER: 'An order',
  ORDER_REFUND: 'An order, given back',
  OTHER: 'Something else',
  REFUND: 'A change that failed, given back',
  SIGN_UP: 'Points to start with',
}

export function WalletPage() {
  const [{ data, error, fetching }, execute] = useSteadyQuery({
    query: Wallet,
    variables: usePage(PAGE_SIZE),
    requestPolicy: 'cache-and-network',
  })
  const reread = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute])
  const wallet = data?.me.wallet
  return (
    <Page title="Your wallet">
      <Problem error={error} />
      {!data && fetching && <p role="status">Loading…</p>}
      {wallet && (
        <dl className="balances">
          <dt>You can spend</dt>
          <dd className="large">
            <Money amount={wallet.spendable} />
          </dd>
          <dt>of which points, spent first</dt>
          <dd>
            <Points amount={wallet.points} />
          </dd>
          <dt>and currency</dt>
          <dd>
            <Money amount={wallet.num} />
          </dd>
        </dl>
      )}
      <DepositSection onChange={reread} />
      <section aria-labelledby="withdraw">
        <h2 id="withdraw">Withdraw</h2>
        <WithdrawalForm />
        <WithdrawalList />
      </section>
      <h2 id="statement">Statement</h2>
      {data && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: on a narrow screen it is scrolled sideways, also by the keyboard.
        <section className="scroll" aria-labelledby="statement" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">What for</th>
                <th scope="col" className="number">
                  Change
                </th>
                <th scope="col" className="number">
                  After it
                </th>
              </tr>
            </thead>
            <tbody>
              {data.transfers.nodes.map(({ id, createdAt, kind, num, points, subjectId, balance }) => (
                <tr key={id}>
                  <td>
                    {subjectId?.startsWith('order_') ? (
                      <Link to={`/orders/${subjectId}`}>{kinds[kind]}</Link>
                    ) : (
                      kinds[kind]
                    )}
                    <p className="hint">
                      <Moment at={createdAt} />
                    </p>
                  </td>
                  <td className="number">
                    {points !== '0' && <Points amount={points} isChange />}
                    {num !== '0' && <Money amount={num} isChange />}
                  </td>
                  <td className="number">
                    <Points amount={balance.points} />
                    {balance.num !== '0' && <Money amount={balance.num} />}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {data && <Pager page={data.transfers.pageInfo} label="Pages of the statement" />}
    </Page>
  )
}
