import { wordsFor } from '../api/errors.ts'
import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'
import { Money } from './money.tsx'

export const PriceFragment = graphql(/* GraphQL */ `
  fragment Price on Quote {
    total
    available
    problems {
      code
      field
      message
    }
    ... on PaymentQuote {
      gas
      price
      missing
    }
  }
`)

/**
 * What something costs, before one pays for it, and what stands in the way; problems of fields are shown at the fields. `isOld`:
 * something has changed since, and another one is on its way.
 */
export function Price({ quote, isOld = false }: { quote: FragmentType<typeof PriceFragment>; isOld?: boolean }) {
  const { total, available, problems, ...payment } = readFragment(PriceFragment, quote)
  const { gas = '0', price = total, missing } = payment as Partial<Record<'gas' | 'price' | 'missing', string>>
  const funds = { required: total, available, missing }
  return (
    <div className="price" role="status" aria-busy={isOld}>
      <p>
        <strong>
          <Money amount={total} />
        </strong>
        {gas !== '0' && (
          <>
            : <Money amount={price} /> and <Money amount={gas} /> for the chain
          </>
        )}
        . You have <Money amount={available} />.
      </p>
      {problems
        .filter(({ field }) => field === null)
        .map(({ code, message }) => (
          <p className="wrong" key={code}>
            {wordsFor(code, message, funds)}
          </p>
        ))}
    </div>
  )
}

/** What is wrong with which field, as a quote tells it. */
export const fieldProblemsOf = (problems: readonly { field?: string | null; message: string }[]) =>
  Object.fromEntries(problems.flatMap(({ field, message }) => (field ? [[field, message]] : [])))
