/** `annal migrate`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { fail, green, print, printJson, red, say, table } from './output.ts'
import { withDatabaseUrl } from './with-installation.ts'

/** Adds `annal migrate` and `annal migrate status`. */
export function addMigrateCommands(program: Command): void {
  const migrate = command(
    program,
    'migrate',
    'Makes or updates the tables, as the server does when it starts; one at a time, while others wait.',
    ['annal migrate', 'annal migrate status'],
  )
    .option('--json', 'prints {"applied"}')
    .action(async ({ json }) => {
      const { prepareDatabase } = await import('../db/prepare-database.ts')
      const { assertDatabaseNotLost } = await import('../keys/lost-database.ts')
      const applied = await withDatabaseUrl(async (url, dir) => {
        await assertDatabaseNotLost(url, dir)
        return prepareDatabase(url)
      })
      if (json) return printJson({ applied })
      for (const name of applied) print(name)
      say(green(applied.length === 0 ? 'Nothing to apply.' : 'The tables are those of this version.'))
    })

  command(migrate, 'status', 'Shows which migrations the database has and lacks; exits with 1 when it lacks some.', [
    'annal migrate status',
    'annal migrate status --json',
  ])
    .option('--json', 'prints {"applied": [{"name", "appliedAt"}], "pending": [name]}')
    .action(async (_flags, self: Command) => {
      const { readMigrationStatus } = await import('../db/migrations.ts')
      const status = await withDatabaseUrl((url) => readMigrationStatus(url))
      if (status.pending.length) fail()
      // The flag is the parent's, too, which takes it first.
      if (self.optsWithGlobals().json) return printJson(status)
      print(
        table([
          ['migration', 'applied'],
          ...status.applied.map(({ name, appliedAt }) => [name, appliedAt.toISOString()]),
          ...status.pending.map((name) => [name, 'no']),
        ]),
      )
      if (status.pending.length === 0) return say(green('The tables are those of this version.'))
      say(red(`${status.pending.length} to apply: back up, then start the server or run \`annal migrate\`.`))
    })
}
