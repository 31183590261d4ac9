/** Commands `serve`, `config`, `migrate` and `gc`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, printRows, printTable, red, report, terminal } from './terminal.ts'
import { withApp, withDatabaseUrl } from './with-infrastructure.ts'

export function addServerCommands(program: Command): void {
  command(program, 'serve', {
    description: 'Runs the service until Ctrl-C or SIGTERM. Its data is in ANNAL_DIR (default: ./.annal).',
    examples: ['PORT=8080 annal serve', 'PORT=8081 annal serve --roles relay,jobs,deliveries'],
  })
    .option('--roles <roles>', 'roles of this process, some of http, relay, jobs, deliveries; default: ROLES')
    .action(async ({ roles }: { roles?: string }) => {
      const { serve } = await import('../main.ts')
      await serve({ ...(roles !== undefined && { ROLES: roles }) })
    })

  command(program, 'config', {
    description:
      'Prints all environment variables with their effective values, without secrets. Exits with 2 if a server cannot start with them.',
    examples: ['annal config', `annal config --json | jq -r '.[] | select(.value != null) | .name'`],
    json: 'a list of {"name", "value", "doc"}',
  }).action(async ({ json }) => {
    const { effectiveConfig, readConfig } = await import('../config.ts')
    const variables = effectiveConfig(terminal().env)
    if (json) printJson(variables.map((variable) => ({ ...variable, value: variable.value ?? null })))
    else printRows(variables.map(({ name, value, doc }) => [name, value === undefined ? '-' : String(value), doc]))
    // Throws if individually valid variables contradict each other.
    readConfig(terminal().env)
  })

  const upToDate = 'The database is up to date.'
  const migrate = command(program, 'migrate', {
    description: 'Migrates the database, as the server does when it starts.',
    examples: ['annal migrate', 'annal migrate status'],
    notes: 'Only one migration runs at a time. Other processes wait for it.',
    json: '{"applied"}',
  }).action(async ({ json }) => {
    const { prepareDatabase } = await import('../db/migrations.ts')
    const { assertDatabaseNotLost } = await import('../keys/vault-identity.ts')
    const applied = await withDatabaseUrl(async (url, { config }) => {
      await assertDatabaseNotLost(url, config.dir)
      return prepareDatabase(url)
    })
    if (json) return printJson({ applied })
    for (const name of applied) print(name)
    report(green(applied.length === 0 ? 'No migrations to apply.' : upToDate))
  })

  command(migrate, 'status', {
    description: 'Lists applied and pending migrations. Exits with 1 if some are pending.',
    examples: ['annal migrate status', 'annal migrate status --json'],
    json: '{"applied": [{"name", "appliedAt"}], "pending": [name]}',
  }).action(async (_flags, self: Command) => {
    const { readMigrationStatus } = await import('../db/migrations.ts')
    const { applied, pending } = await withDatabaseUrl((url) => readMigrationStatus(url))
    if (pending.length) fail()
    // The parent command also has --json and consumes it first.
    if (self.optsWithGlobals().json) return printJson({ applied, pending })
    printTable([...applied, ...pending.map((name) => ({ name, appliedAt: 'no' }))], 'name', 'appliedAt')
    if (pending.length === 0) return report(green(upToDate))
    report(
      red(`${counted(pending.length, 'migration')} to apply. Back up, then start the server or run \`annal migrate\`.`),
    )
  })

  command(program, 'gc', {
    description: 'Deletes expired data and unused file blocks.',
    examples: ['annal gc'],
    json: '{"removedBlocks"}',
  }).action(async ({ json }) => {
    const { cleanUpDeletedAccounts } = await import('../modules/accounts/delete-account.ts')
    const { eraseOrderArguments } = await import('../modules/store/expire-orders.ts')
    const removedBlocks = await withApp(async ({ maintenance, context }) => {
      await cleanUpDeletedAccounts(context)
      await eraseOrderArguments(context)
      await maintenance.run()
      return maintenance.collectGarbage()
    })
    if (json) return printJson({ removedBlocks })
    print(`${counted(removedBlocks, 'block')} deleted`)
  })
}
