import { useCallback, useMemo } from 'react'
import { useParams } from 'react-router'
import { createRequest } from 'urql'
import { useLive } from '../api/live.ts'
import { useSteadyQuery } from '../api/steady.ts'
import { Actions } from '../components/actions.tsx'
import { AssetForm } from '../components/asset-form.tsx'
import { History } from '../components/history.tsx'
import { Page } from '../components/page.tsx'
import { usePage } from '../components/pager.tsx'
import { Picture } from '../components/picture.tsx'
import { Problem } from '../components/problem.tsx'
import { graphql } from '../gql/gql.ts'

const Asset = graphql(/* GraphQL */ `
  query Asset($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    asset(id: $id) {
      id
      headline
      caption
      assetFileName
      assetFileUrl
      isOwn
      ...Picture
      ...AssetForm
      commits(first: $first, after: $after, last: $last, before: $before) {
        ...History
      }
    }
  }
`)

const CommitUpdated = graphql(/* GraphQL */ `
  subscription CommitUpdated($nid: ID!) {
    commitUpdated(nid: $nid) {
      ...Commit
    }
  }
`)

const PAGE_SIZE = 10

export function AssetPage() {
  const { id = '' } = useParams()
  const [{ data, error, fetching }, execute] = useSteadyQuery({
    query: Asset,
    variables: { id, ...usePage(PAGE_SIZE) },
    requestPolicy: 'cache-and-network',
  })
  const reread = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute])
  const isThere = data?.asset != null
  useLive(
    useMemo(() => (isThere ? createRequest(CommitUpdated, { nid: id }) : null), [isThere, id]),
    reread,
  )

  const asset = data?.asset
  if (!asset) return <Page title="Asset">{fetching ? <p role="status">Loading…</p> : <Problem error={error} />}</Page>
  return (
    <Page title={asset.headline || asset.assetFileName}>
      <Problem error={error}>
        <div className="buttons">
          <button type="button" onClick={reread}>
            Try again
          </button>
        </div>
      </Problem>
      <div className="columns">
        <section aria-label="File">
          <Picture asset={asset} />
          <p className="hint">
            <a href={asset.assetFileUrl}>{asset.assetFileName}</a>
          </p>
          <p className="hint identifier">{asset.id}</p>
        </section>
        {asset.isOwn ? <AssetForm key={asset.id} asset={asset} reread={reread} /> : <p>{asset.caption}</p>}
      </div>
      <History commits={asset.commits} />
      <Actions assetId={asset.id} />
    </Page>
  )
}
