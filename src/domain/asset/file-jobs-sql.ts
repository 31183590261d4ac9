/** What is made of the files of assets, by jobs: thumbnails of pictures, and a look at the manifests of whatever may hold one. */
import { enqueueSql } from '../enqueue-sql.ts'

/** A file may be a picture, by its type; callers who know no better call everything a stream of octets. */
const mayBePictureSql = (mimeType: string) => `${mimeType} ~* '^(image/(?!svg)|application/octet-stream)'`

/** A file may hold a manifest, by its type. */
const mayHoldManifestSql = (mimeType: string) =>
  `${mimeType} ~* '^(image/(?!svg)|video/|audio/mp4|application/(octet-stream|mp4))'`

/**
 * The part `enqueued_jobs`: has thumbnails made of the assets of the part `from` that may be pictures. `mimeType` is an SQL
 * expression.
 */
export const thumbnailJobsSql = (from: string, mimeType: string) =>
  enqueueSql('enqueued_jobs', {
    queue: 'thumbnail',
    from: `${from} where ${mayBePictureSql(mimeType)}`,
    data: { assetId: 'id' },
  })

/** The same, and has manifests read of the files that may hold one: for files that were just registered. */
export const fileJobsSql = (from: string, mimeType: string) =>
  enqueueSql(
    'enqueued_jobs',
    { queue: 'thumbnail', from: `${from} where ${mayBePictureSql(mimeType)}`, data: { assetId: 'id' } },
    { queue: 'manifest', from: `${from} where ${mayHoldManifestSql(mimeType)}`, data: { assetId: 'id' } },
  )
