/** `npm run migrate` makes or updates the tables, as the server does when it starts. */
import { runOnDatabase } from './configured-database.ts'
import { prepareDatabase } from './prepare-database.ts'

await runOnDatabase(async (databaseUrl) => {
  const applied = await prepareDatabase(databaseUrl)
  return applied.length === 0 ? 'Nothing to apply.' : `Applied ${applied.join(', ')}.`
})
