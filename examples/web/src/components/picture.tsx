import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'

const PictureFragment = graphql(/* GraphQL */ `
  fragment Picture on Asset {
    altText
    assetFileMimeType
    assetFileName
    assetFileUrl
    thumbnailUrl
  }
`)

/** An asset as one sees it; of what is no picture, the end of its name. A thumbnail is made a moment after the upload. */
export function Picture({ asset }: { asset: FragmentType<typeof PictureFragment> }) {
  const { altText, assetFileMimeType, assetFileName, assetFileUrl, thumbnailUrl } = readFragment(PictureFragment, asset)
  const isPicture = assetFileMimeType.startsWith('image/')
  const source = thumbnailUrl ?? (isPicture ? assetFileUrl : null)
  return (
    <div className="picture">
      {source ? (
        <img src={source} alt={altText} loading="lazy" decoding="async" />
      ) : (
        <span aria-hidden="true">{assetFileName.split('.').pop()}</span>
      )}
    </div>
  )
}
