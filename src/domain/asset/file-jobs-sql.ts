/** What is made of the files of assets, by jobs: thumbnails of pictures, and a look at the manifests of whatever may hold one. */
import { enqueueSql } from '../enqueue-sql.ts'

/** A file may be a picture, by its type; callers who know no better call everything a stream of octets. */
const mayBePictureSql = (mimeType: string) => `${mimeType} ~* '^(image/(?!svg)|application/octet-stream)'`

/** A file may hold a manifest, by its type. */
const mayHoldManifestSql = (mimeType: string) =>
  `${mimeType} ~* '^(image/(?!svg)|video/|audio/mp4|application/(octet-stream|mp4))'`

/** Where these jobs come from. */
interface Files {
  /** The part of a statement that has the assets, with their `id`. */
  from: string
  /** SQL expressions. */
  mimeType: string
  owner: string
}

/** Some files take all the time that they may: those of one account are not made before everybody else's. */
const jobsOf = ({ owner }: Files) => ({ data: { assetId: 'id' }, group: owner, fairly: true }) as const

const thumbnailsOf = (files: Files) =>
  ({ queue: 'thumbnail', from: `${files.from} where ${mayBePictureSql(files.mimeType)}`, ...jobsOf(files) }) as const

/** The part `enqueued_jobs`: has thumbnails made of the assets that may be pictures. */
export const thumbnailJobsSql = (files: Files) => enqueueSql('enqueued_jobs', thumbnailsOf(files))

/** The same, and has manifests read of the files that may hold one: for files that were just registered. */
export const fileJobsSql = (files: Files) =>
  enqueueSql('enqueued_jobs', thumbnailsOf(files), {
    queue: 'manifest',
    from: `${files.from} where ${mayHoldManifestSql(files.mimeType)}`,
    ...jobsOf(files),
  })
