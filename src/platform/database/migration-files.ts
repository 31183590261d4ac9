/** The migrations of this version: plain SQL, in Prisma's folders. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the migrations lie. */
export const migrationsFolder = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** A migration as it lies there. */
export interface Migration {
  /** That of its folder: `<time>_<verb>_<noun>`. */
  name: string
  script: string
  /** SHA-256 of the script in hexadecimal, by which Prisma and we notice that it was edited. */
  checksum: string
  /** The checksum that it had before it was rewritten, if it was. */
  earlierChecksum?: string | undefined
  /**
   * A query that is sent before the script, again and again, each time a transaction of its own, while it answers `has_more`: what takes
   * long is done so in batches, beside who reads and writes, and goes on where it was interrupted. The table `migration_progress` tells
   * how far it is. Prisma's engine does not know of it, so the script does what is left.
   */
  preparation?: string | undefined
}

/**
 * Migrations that were rewritten before a release had them, with the checksums that they had. What comes after them leads databases that
 * ran the earlier script to the same tables.
 */
const rewritten: Record<string, string> = {
  '20261122130500_say_which_commit_set_each_field': '7371d6b808e5bec629c781182d0a641aec930be5e774813a86fc1fb8c15cc701',
}

const readIfThere = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** In the order in which they are applied. */
export const readMigrations = async (folder: string): Promise<Migration[]> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const reading = names.sort().map(async (name) => {
    const script = await readFile(join(folder, name, 'migration.sql'), 'utf8')
    const preparation = await readIfThere(join(folder, name, 'prepare.sql'))
    const checksum = createHash('sha256').update(script).digest('hex')
    return { name, script, checksum, earlierChecksum: rewritten[name], preparation }
  })
  return await Promise.all(reading)
}
