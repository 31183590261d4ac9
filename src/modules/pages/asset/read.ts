/** What an asset's page reads. */
import type { Context, Services } from '../../../services-context.ts'
import type { AssetPageQuery } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import type { Run } from '../run.ts'

const AssetPage = graphql(/* GraphQL */ `
  query AssetPage($id: ID!, $first: Int!, $after: String) {
    asset(id: $id) {
      nid
      assetFileName
      assetFileMimeType
      assetFileSize
      assetFileUrl
      thumbnailUrl
      proofHash
      caption
      headline
      altText
      publicAccess
      nitCommitCustom
      uploadedAt
      updatedAt
      commitCount
      owner {
        displayName
        address
      }
      creator {
        displayName
        address
      }
      contentCredentials {
        state
        trustList
        signer
        issuer
        signedAt
        generator
        creators
        actions
        digitalSourceType
        mining
        problems
        notChecked
        remoteManifestUrl
        manifestCount
        checkedAt
      }
      registration {
        status
      }
      commits(first: $first, after: $after) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          sequence
          message
          changes
          createdAt
          treeCid
          status
          transactionHash
          explorerUrl
          blockNumber
          user {
            displayName
          }
        }
      }
    }
  }
`)

/** An asset as its page shows it. */
export type ShownAsset = NonNullable<AssetPageQuery['asset']>
/** A commit as the page shows it. */
export type ShownCommit = ShownAsset['commits']['nodes'][number]
/** What a verifier found. */
export type Checked = Awaited<ReturnType<Services['histories']['verify']>>

const COMMITS_ON_A_PAGE = 50

/** The asset, with the newest commits or those after a cursor. Raises what the operation is refused for. */
export async function readAsset(run: Run, id: string, after: string | null, context: Context): Promise<ShownAsset> {
  const { asset } = await run(AssetPage, { id, first: COMMITS_ON_A_PAGE, after }, context)
  return asset!
}
