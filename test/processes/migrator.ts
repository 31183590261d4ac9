/** Applies the migrations of a folder, and prints the result. */
import { applyMigrations } from '../../src/db/migrations.ts'

const [url = '', folder = '', silence = ''] = process.argv.slice(2)
const outcome = await applyMigrations(url, folder, Number(silence)).then(
  (names) => `applied ${names.join(', ')}`,
  (error: Error) => error.message,
)
process.stdout.write(`${outcome}\n`)
