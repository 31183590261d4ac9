/** Whose the folders of an installation are: commands are often typed by root, and the service is mostly somebody else. */
import { lchownSync, lstatSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FixableError } from './fixable-error.ts'

const isRoot = () => process.geteuid?.() === 0

/** As root: gives what was made to whom its folder belongs, who could neither read nor replace it. Nothing happens for anybody else. */
export function giveToOwner(path: string): void {
  if (!isRoot()) return
  const { uid, gid } = statSync(dirname(path))
  if (lstatSync(path).uid !== uid) lchownSync(path, uid, gid)
}

/**
 * Raises a FixableError where root is about to run embedded parts on the folder of somebody else: their data would be root's or PostgreSQL's
 * afterwards, and the service would not start any more.
 */
export function assertNotOfAnother(dir: string): void {
  if (!isRoot()) return
  const owners = [dir, join(dir, 'keys')].map((path) => statSync(path, { throwIfNoEntry: false })?.uid ?? 0)
  // A folder that root has made is root's to use, wherever it came from.
  if (owners.includes(0)) return
  throw new FixableError(
    `What is embedded in ${dir} is run by user ${owners[0]}, and not by root.`,
    `Do this as that user, such as by sudo -u '#${owners[0]}'; or give root the folder for good, while nothing runs: chown -R root ${dir}`,
  )
}
