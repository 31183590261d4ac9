import { Link } from 'react-router'
import { useQuery } from 'urql'
import { Page } from '../components/page.tsx'
import { Pager, usePage } from '../components/pager.tsx'
import { Picture } from '../components/picture.tsx'
import { Problem } from '../components/problem.tsx'
import { graphql } from '../gql/gql.ts'

const Assets = graphql(/* GraphQL */ `
  query Assets($first: Int, $after: String, $last: Int, $before: String) {
    assets(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        headline
        assetFileName
        commitCount
        publicAccess
        ...Picture
      }
      pageInfo {
        ...Pager
      }
    }
  }
`)

const PAGE_SIZE = 12

export function AssetsPage() {
  const [{ data, error, fetching }] = useQuery({
    query: Assets,
    variables: usePage(PAGE_SIZE),
    requestPolicy: 'cache-and-network',
  })
  const assets = data?.assets.nodes ?? []
  return (
    <Page
      title="Your assets"
      aside={
        <Link className="button" to="/assets/new">
          Register a file
        </Link>
      }
    >
      <Problem error={error} />
      {!data && fetching && <p role="status">Loading…</p>}
      {data && assets.length === 0 && (
        <p className="empty">You have not registered anything yet. A file’s history begins when you register it.</p>
      )}
      <ul className="cards">
        {assets.map((asset) => (
          <li key={asset.id}>
            <Picture asset={asset} />
            <Link to={`/assets/${asset.id}`}>{asset.headline || asset.assetFileName}</Link>
            <p className="hint">
              {asset.commitCount === 1 ? '1 commit' : `${asset.commitCount} commits`},{' '}
              {asset.publicAccess ? 'public' : 'private'}
            </p>
          </li>
        ))}
      </ul>
      {data && <Pager page={data.assets.pageInfo} label="Pages of assets" />}
    </Page>
  )
}
