/** The bucket belongs to one installation: what that one does not need is removed, and another one may need it. */
import { DomainError } from '../shared/errors.ts'
import { blockPlace } from './block-name.ts'
import type { S3Bucket } from './s3-bucket.ts'
import { claimStore, type FindFiles, OWNER_NAME, type OwnedStore } from './store-owner.ts'

/** The bucket as a store with an owner. `within`: milliseconds for reading who it is. */
export const ownedBucket = (bucket: S3Bucket, within?: number): OwnedStore => ({
  title: 'The bucket',
  mark: `its object ${OWNER_NAME}`,
  fix: 'Set S3_BUCKET and S3_PREFIX to those of this installation, or copy its blocks there, see "Files past one disk" in docs/scaling.md.',
  async readOwner() {
    try {
      return Buffer.from(await bucket.get(OWNER_NAME, within))
        .toString()
        .trim()
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  },
  async writeOwner(owner) {
    await bucket.readClock()
    await bucket.put(OWNER_NAME, Buffer.from(owner))
  },
  async has(cid) {
    const { dir, file } = blockPlace(cid)
    return (await bucket.look(`${dir}/${file}`)) !== undefined
  },
})

/**
 * Gives a bucket to the installation `owner` unless it belongs to another one. Raises WrongStoreError, and UNAVAILABLE while the storage does
 * not answer.
 */
export const claimBucket = (bucket: S3Bucket, owner: string, findFiles: FindFiles = async () => []): Promise<void> =>
  claimStore(ownedBucket(bucket), owner, findFiles)
