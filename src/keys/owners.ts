/** Whose key shares the vault holds, against the accounts of the database: for `annal check`. */

import type { Database } from '../db/database-types.ts'
import { type Finding, findingOf, MOST_ROWS } from '../db/invariants/finding.ts'
import { arrayOf, boolean, statement, uuid } from '../db/sql.ts'
import { chunk } from '../shared/async.ts'
import { toId } from '../shared/ids.ts'
import type { KeyVault } from './key-types.ts'

/** What each of these accounts is here. */
const findStanding = statement(
  'check_owners',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, deleted: boolean } },
  'select id, deleted_at is not null as deleted from users where id = any ($users)',
)

const PAGE = 500

interface Dependencies {
  database: Database
  vault: Pick<KeyVault, 'owners' | 'deletedOwners'>
}

/**
 * The findings S2 (deletions that one side lacks) and S3 (key shares of nobody). Raises what the vault raises when it
 * cannot be asked.
 */
export async function checkOwners({ database, vault }: Dependencies): Promise<Finding[]> {
  const undone: object[] = []
  const unknown: object[] = []
  const standing = async (users: string[]) =>
    new Map((await database.query(findStanding, { users })).map(({ id, deleted }) => [id, deleted]))
  const isFull = (rows: object[]) => rows.length > MOST_ROWS
  for await (const owners of chunk(vault.owners(), PAGE)) {
    const known = await standing(owners)
    for (const owner of owners) {
      const subject = toId('user', owner)
      if (known.get(owner) === true) undone.push({ subject, problem: 'deleted, and its key share is there' })
      if (!known.has(owner)) unknown.push({ subject, problem: 'the database has no such account' })
    }
    if (isFull(undone) && isFull(unknown)) break
  }
  for await (const owners of chunk(vault.deletedOwners(), PAGE)) {
    for (const [owner, isDeleted] of await standing(owners))
      if (!isDeleted) undone.push({ subject: toId('user', owner), problem: 'the vault says that it was deleted' })
    if (isFull(undone)) break
  }
  return [
    findingOf(
      'S2',
      'What was deleted is deleted: in the database, and in the key vault. A running server sees to it.',
      undone,
    ),
    findingOf(
      'S3',
      'Every key share in the key vault is that of an account. After a restore: accounts made since the backup of the database.',
      unknown,
      true,
    ),
  ]
}
