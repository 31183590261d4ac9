/** Reads the migrations of this version: plain SQL in Prisma's folder layout. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the migrations. */
export const migrationsFolder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

export interface Migration {
  /** Name of its folder: `<time>_<verb>_<noun>`. */
  name: string
  script: string
  /** SHA-256 of the script in hexadecimal. Prisma and Annal use it to detect an edited migration. */
  checksum: string
}

/** Returns the migrations in the order in which they are applied. */
export const readMigrations = async (folder: string): Promise<Migration[]> => {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const reading = names.sort().map(async (name) => {
    const script = await readFile(join(folder, name, 'migration.sql'), 'utf8')
    return { name, script, checksum: createHash('sha256').update(script).digest('hex') }
  })
  return await Promise.all(reading)
}
