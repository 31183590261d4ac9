import { Link, NavLink, Outlet } from 'react-router'
import { useMutation, useQuery } from 'urql'
import { endSession } from '../api/session.ts'
import { graphql } from '../gql/gql.ts'
import { Currency, Money } from './money.tsx'

const Me = graphql(/* GraphQL */ `
  query Me {
    me {
      id
      username
      wallet {
        spendable
      }
    }
    pricing {
      currency
    }
  }
`)

const SignOut = graphql(/* GraphQL */ `
  mutation SignOut {
    signOut
  }
`)

/** The frame around every page of somebody who is signed in. */
export function Layout() {
  const [{ data }] = useQuery({ query: Me })
  const [, signOut] = useMutation(SignOut)
  const leave = async () => {
    // The server forgets the token; this page does so in any case.
    await signOut({})
    endSession()
  }
  return (
    <Currency value={data?.pricing.currency ?? ''}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link className="brand" to="/">
          Annal
        </Link>
        <nav className="menu" aria-label="Main">
          <NavLink to="/" end>
            Assets
          </NavLink>
          <NavLink to="/orders">Orders</NavLink>
          <NavLink to="/wallet">Wallet</NavLink>
        </nav>
        <div className="who">
          {data?.me.wallet && (
            <span>
              {data.me.username} has <Money amount={data.me.wallet.spendable} />
            </span>
          )}
          <button type="button" className="quiet" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main">
        <Outlet />
      </main>
    </Currency>
  )
}
