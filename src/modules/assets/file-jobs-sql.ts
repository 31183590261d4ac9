/** Enqueues the jobs that make thumbnails and read manifests. */
import { enqueueSql } from '../../jobs/enqueue-sql.ts'
import { typePatterns } from './file-types.ts'

/** Excludes files by their registered type. The job looks at the content. */
const matchesSql = (mimeType: string, pattern: keyof typeof typePatterns) => `${mimeType} ~* '${typePatterns[pattern]}'`

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
  ({
    queue: 'thumbnail',
    from: `${files.from} where ${matchesSql(files.mimeType, 'thumbnail')}`,
    ...jobsOf(files),
  }) as const

/** The part `enqueued_jobs`: has thumbnails made of the assets that may be pictures. */
export const thumbnailJobsSql = (files: Files) => enqueueSql('enqueued_jobs', thumbnailsOf(files))

/** The same, and has manifests read of the files that may hold one: for files that were just registered. */
export const fileJobsSql = (files: Files) =>
  enqueueSql('enqueued_jobs', thumbnailsOf(files), {
    queue: 'manifest',
    from: `${files.from} where ${matchesSql(files.mimeType, 'signed')}`,
    ...jobsOf(files),
  })
