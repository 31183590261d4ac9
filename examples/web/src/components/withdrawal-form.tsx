import { type FormEvent, useState } from 'react'
import { useQuery } from 'urql'
import { fieldErrorsOf } from '../api/errors.ts'
import { useOnce } from '../api/once.ts'
import { graphql } from '../gql/gql.ts'
import type { QuoteWithdrawalQuery } from '../gql/graphql.ts'
import { Field } from './field.tsx'
import { Money } from './money.tsx'
import { focusHeading } from './page.tsx'
import { fieldProblemsOf } from './price.tsx'
import { Problem } from './problem.tsx'

const QuoteWithdrawal = graphql(/* GraphQL */ `
  query QuoteWithdrawal($input: QuoteWithdrawInput!) {
    quote(input: { withdraw: $input }) {
      total
      available
      problems {
        code
        field
        message
      }
      ... on WithdrawalQuote {
        amount
        fee
        leftToday
      }
    }
  }
`)

const Withdraw = graphql(/* GraphQL */ `
  mutation Withdraw($input: WithdrawInput!) {
    withdraw(input: $input) {
      withdrawal {
        id
        status
      }
    }
  }
`)

type WithdrawalQuote = Extract<QuoteWithdrawalQuery['quote'], { fee: string }>

function Quote({ quote }: { quote: WithdrawalQuote }) {
  const { amount, fee, total, available, leftToday, problems } = quote
  return (
    <div className="price" role="status">
      <p>
        <strong>
          <Money amount={total} />
        </strong>{' '}
        will leave your wallet: <Money amount={amount} /> arrive, and <Money amount={fee} /> are for the chain. You have{' '}
        <Money amount={available} /> besides points, which cannot be withdrawn; today you can withdraw another{' '}
        <Money amount={leftToday} />.
      </p>
      {problems
        .filter(({ field }) => field === null)
        .map(({ code, message }) => (
          <p className="wrong" key={code}>
            {message}
          </p>
        ))}
    </div>
  )
}

/**
 * Sends currency units to an address on the chain. The form first shows a quote, and quotes again after a change. The quoted fee is the maximum
 * that is paid.
 */
export function WithdrawalForm() {
  const [amount, setAmount] = useState('')
  const [to, setTo] = useState('')
  const [currentPassword, setPassword] = useState('')
  const [isQuoted, setQuoted] = useState(false)
  const [quoted] = useQuery({
    query: QuoteWithdrawal,
    variables: { input: { amount, to } },
    pause: !isQuoted,
    requestPolicy: 'network-only',
  })
  const [withdrawn, withdraw] = useOnce(Withdraw)
  const answer = isQuoted && !quoted.fetching ? quoted.data?.quote : undefined
  const quote = answer && 'fee' in answer ? (answer as WithdrawalQuote) : undefined
  const mayWithdraw = quote?.problems.length === 0
  const error = isQuoted ? (withdrawn.error ?? quoted.error) : undefined
  const wrong = { ...fieldProblemsOf(quote?.problems ?? []), ...fieldErrorsOf(error) }

  const change = (set: (text: string) => void) => (event: { target: { value: string } }) => {
    set(event.target.value)
    setQuoted(false)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!mayWithdraw) return setQuoted(true)
    const { error: refusal } = await withdraw({ input: { amount, to, currentPassword, maxFee: quote.fee } })
    setPassword('')
    if (refusal) return
    setAmount('')
    setTo('')
    setQuoted(false)
    focusHeading()
  }

  return (
    <form onSubmit={submit} aria-label="Withdrawal" aria-busy={quoted.fetching || withdrawn.fetching}>
      <Problem error={error} />
      <Field label="Amount that arrives" error={wrong.amount}>
        <input required inputMode="decimal" autoComplete="off" value={amount} onChange={change(setAmount)} />
      </Field>
      <Field
        label="Address"
        hint="On the same chain, and of no account here. What is sent to a wrong address is lost."
        error={wrong.to}
      >
        <input required autoComplete="off" spellCheck={false} value={to} onChange={change(setTo)} />
      </Field>
      {quote && <Quote quote={quote} />}
      {mayWithdraw && (
        <Field label="Your password" error={wrong.currentPassword}>
          <input
            type="password"
            autoComplete="current-password"
            required
            value={currentPassword}
            onChange={({ target }) => setPassword(target.value)}
          />
        </Field>
      )}
      <div className="buttons">
        <button type="submit">{mayWithdraw ? 'Withdraw' : 'See what it takes'}</button>
      </div>
    </form>
  )
}
