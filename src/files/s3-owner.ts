/** Whose bucket it is: what an installation does not need there is removed, and another one may need it. */
import { DomainError } from '../domain/errors.ts'
import type { S3Bucket } from './s3-bucket.ts'

/** The object that names the installation whose blocks these are. */
const OWNER_KEY = 'installation'

const read = async (bucket: S3Bucket): Promise<string | undefined> => {
  try {
    return Buffer.from(await bucket.get(OWNER_KEY)).toString()
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/**
 * Holds a bucket to the installation that used it first. `owner`: what tells installations apart. Raises an Error for the bucket of another
 * one, UNAVAILABLE while nobody can tell.
 */
export async function claimBucket(bucket: S3Bucket, owner: string): Promise<void> {
  let found = await read(bucket)
  if (found === undefined) {
    await bucket.readClock()
    await bucket.put(OWNER_KEY, Buffer.from(owner))
    found = await read(bucket)
  }
  if (found === owner) return
  throw new Error(
    `The bucket belongs to another installation, whose files would be removed: its object ${OWNER_KEY} names ${found}, and this one is ${owner}. ` +
      'Set another S3_BUCKET or S3_PREFIX. If that installation is gone and its files are to be kept by this one, remove the object.',
  )
}
