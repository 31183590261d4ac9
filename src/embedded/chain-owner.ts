/** The folder of the embedded chain belongs to one installation: on another chain every commit of the database is missing. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FixableError, ifMissing } from '../shared/operator-errors.ts'
import { createFile } from '../shared/private-files.ts'
import { anvilFiles } from './anvil-process.ts'

const ownerFile = (dir: string) => join(dir, 'chain', 'installation')

const readOwner = async (dir: string) => (await readFile(ownerFile(dir), 'utf8').catch(ifMissing))?.trim()

/** Returns whether a chain was saved in the installation's folder `dir`, or is still running there. */
export function hasSavedChain(dir: string): boolean {
  const { state, record } = anvilFiles(dir)
  return existsSync(state) || existsSync(record)
}

/** Returns whether the chain in the installation's folder `dir` is that of this installation. */
export const isOwnChain = async (dir: string, owner: string): Promise<boolean> => (await readOwner(dir)) === owner

/** Returns why the chain in `dir` is not that of this installation. Undefined when it is, or when nobody owns it yet. */
export async function judgeChain(dir: string, owner: string): Promise<FixableError | undefined> {
  const found = await readOwner(dir)
  if (found === undefined || found === owner) return undefined
  return new FixableError(
    `The folder ${join(dir, 'chain')} belongs to another installation: ${ownerFile(dir)} names ${found}, and this database belongs to ${owner}.`,
    `Mount or restore the folder of this installation as ${join(dir, 'chain')}.`,
  )
}

/** The chain in `dir` does not have the commits that the database knows of. */
export const lostChain = (dir: string, owner: string): FixableError =>
  new FixableError(
    `The folder ${join(dir, 'chain')} is empty or belongs to another installation: it does not have the chain of this database's commits.`,
    `Mount or restore the folder of this installation. If the chain is lost for good, write ${owner} into ${ownerFile(dir)}: then every commit is sent again.`,
  )

/** Marks the chain in `dir` as that of this installation. */
export const claimChain = async (dir: string, owner: string): Promise<void> => {
  await createFile(ownerFile(dir), `${owner}\n`)
}
