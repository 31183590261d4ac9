import { useMemo } from 'react'
import { Link, useSearchParams } from 'react-router'
import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'

const PagerFragment = graphql(/* GraphQL */ `
  fragment Pager on PageInfo {
    startCursor
    endCursor
    hasNextPage
    hasPreviousPage
  }
`)

/**
 * Which page to ask for, as variables of a connection. The cursor stands in the address: a page can be linked, and the browser's
 * way back works.
 */
export function usePage(size: number) {
  const [search] = useSearchParams()
  const before = search.get('before')
  const after = search.get('after')
  return useMemo(() => (before ? { last: size, before } : { first: size, after }), [size, before, after])
}

/** Links to the pages before and behind a page, where there are any. */
export function Pager({ page, label }: { page: FragmentType<typeof PagerFragment>; label: string }) {
  const { startCursor, endCursor, hasNextPage, hasPreviousPage } = readFragment(PagerFragment, page)
  if (!hasNextPage && !hasPreviousPage) return null
  return (
    <nav className="pager" aria-label={label}>
      {hasPreviousPage && <Link to={`?${new URLSearchParams({ before: startCursor ?? '' })}`}>← Newer</Link>}
      {hasNextPage && <Link to={`?${new URLSearchParams({ after: endCursor ?? '' })}`}>Older →</Link>}
    </nav>
  )
}
