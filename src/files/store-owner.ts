import { CID } from 'multiformats/cid'

/** Name of the file or the object that names the installation which a store belongs to. */
export const OWNER_NAME = 'installation'

/** Returns CIDs of files that the database has. Empty when it has none. */
export type FindFiles = () => Promise<readonly string[]>

/** The store is not the one of this installation. */
export class WrongStoreError extends Error {
  override readonly name = 'WrongStoreError'
  readonly finding: string
  readonly fix: string

  constructor(finding: string, fix: string) {
    super(`${finding} ${fix}`)
    this.finding = finding
    this.fix = fix
  }
}

/** A folder or a bucket, which belongs to one installation. */
export interface OwnedStore {
  /** For people: `The folder /var/lib/annal/blocks`. */
  readonly title: string
  /** For people, what names the owner: `the file /var/lib/annal/blocks/installation`. */
  readonly mark: string
  /** Instruction for the operator: how to use the right folder or bucket. */
  readonly fix: string
  /** Undefined where nobody owns it yet. */
  readOwner(): Promise<string | undefined>
  writeOwner(owner: string): Promise<void>
  has(cid: CID): Promise<boolean>
}

/** Returns why a store is not the one of this installation. Undefined when it is, or may be claimed. */
export async function judgeStore(
  { title, mark, fix, readOwner, has }: OwnedStore,
  owner: string,
  findFiles: FindFiles,
): Promise<WrongStoreError | undefined> {
  const found = await readOwner()
  if (found === owner) return undefined
  if (found !== undefined) {
    return new WrongStoreError(
      `${title} belongs to another installation: ${mark} names ${found}, and this database belongs to ${owner}.`,
      `${fix} If the other installation is gone for good, write ${owner} there: then the files that only it needs are removed.`,
    )
  }
  const files = await findFiles()
  for (const file of files) if (await has(CID.parse(file))) return undefined
  if (files.length === 0) return undefined
  return new WrongStoreError(
    `${title} is empty or belongs to another installation: it has none of the files that the database knows.`,
    `${fix} To go on without the files, write ${owner} into ${mark}.`,
  )
}

/**
 * Gives a store to this installation unless it belongs to another one. An unmarked store is taken when the database has no files, or when the
 * store has some of them. Raises WrongStoreError.
 */
export async function claimStore(store: OwnedStore, owner: string, findFiles: FindFiles): Promise<void> {
  if ((await store.readOwner()) === owner) return
  const problem = await judgeStore(store, owner, findFiles)
  if (problem) throw problem
  await store.writeOwner(owner)
  // Another installation may have been faster.
  const late = await judgeStore(store, owner, findFiles)
  if (late) throw late
}
