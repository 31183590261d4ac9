import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'
import { metadataLabels, showValue } from './metadata-fields.tsx'
import { Moment } from './moment.tsx'
import { Pager } from './pager.tsx'
import { CommitState } from './status.tsx'

const HistoryFragment = graphql(/* GraphQL */ `
  fragment History on CommitConnection {
    nodes {
      id
      ...Commit
    }
    pageInfo {
      ...Pager
    }
  }
`)

const CommitFragment = graphql(/* GraphQL */ `
  fragment Commit on Commit {
    id
    sequence
    message
    changes
    createdAt
    status
    transactionHash
    explorerUrl
    user {
      id
      username
    }
  }
`)

/** Every change of an asset, newest first. What a subscription tells of a commit appears here by itself. */
export function History({ commits }: { commits: FragmentType<typeof HistoryFragment> }) {
  const { nodes, pageInfo } = readFragment(HistoryFragment, commits)
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <ol className="history" aria-live="polite">
        {nodes.map((commit) => (
          <Commit key={commit.id} commit={commit} />
        ))}
      </ol>
      <Pager page={pageInfo} label="Pages of the history" />
    </section>
  )
}

function Commit({ commit }: { commit: FragmentType<typeof CommitFragment> }) {
  const { sequence, message, changes, createdAt, status, transactionHash, explorerUrl, user } = readFragment(
    CommitFragment,
    commit,
  )
  return (
    <li>
      <p>
        <strong>{sequence === 1 ? 'Registered' : 'Changed'}</strong> by {user.username}, <Moment at={createdAt} />
      </p>
      {message && <p>“{message}”</p>}
      {sequence > 1 && <Changes changes={changes} />}
      <CommitState status={status} />
      {transactionHash && (
        <p className="hint identifier">{explorerUrl ? <a href={explorerUrl}>{transactionHash}</a> : transactionHash}</p>
      )}
    </li>
  )
}

/** By field, what is there since and what was there before. */
function Changes({ changes }: { changes: Record<string, unknown> }) {
  const labels: Record<string, string> = metadataLabels
  return (
    <ul className="changes">
      {Object.entries(changes as Record<string, [unknown, unknown]>).map(([field, [before, after]]) => (
        <li key={field}>
          {labels[field] ?? field}: {showValue(after)} <span className="hint">before: {showValue(before)}</span>
        </li>
      ))}
    </ul>
  )
}
