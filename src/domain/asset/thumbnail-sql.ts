/** Which assets get a thumbnail. */
import { enqueueSql } from '../enqueue-sql.ts'

/** A file may be a picture, by its type; callers who know no better call everything a stream of octets. */
const mayBePictureSql = (mimeType: string) => `${mimeType} ~* '^(image/(?!svg)|application/octet-stream)'`

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
