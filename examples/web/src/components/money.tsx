import { createContext, useContext } from 'react'

/** Name of the currency unit. */
export const Currency = createContext('')

interface Amount {
  /** As the API writes it: a decimal string. */
  amount: string
  /** Whether it is what came or went, which is shown with its sign. */
  isChange?: boolean
}

// Formats the digits as they stand there: as a number they would be rounded.
const plain = new Intl.NumberFormat(undefined, { maximumFractionDigits: 18 })
const signed = new Intl.NumberFormat(undefined, { maximumFractionDigits: 18, signDisplay: 'exceptZero' })
const format = ({ amount, isChange }: Amount) => (isChange ? signed : plain).format(amount as Intl.StringNumericLiteral)

/** An amount in currency units. */
export const Money = (amount: Amount) => (
  <span className="money">
    {format(amount)}&nbsp;{useContext(Currency)}
  </span>
)

/** An amount of points; one pays for one currency unit. */
export const Points = (amount: Amount) => <span className="money">{format(amount)}&nbsp;points</span>
