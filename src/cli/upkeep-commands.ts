/** `annal config` and `annal gc`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { counted, print, printJson, table } from './output.ts'
import { terminal } from './terminal.ts'
import { withServices } from './with-installation.ts'

/** Adds `annal config`. */
export function addConfigCommand(program: Command): void {
  command(
    program,
    'config',
    'Prints every variable with its effective value; secrets are not shown. Exits with 2 when a server would not start with them.',
    ['annal config', `annal config --json | jq -r '.[] | select(.value != null) | .name'`],
  )
    .option('--json', 'prints a list of {"name", "value", "doc"}')
    .action(async ({ json }) => {
      const { effectiveConfig, readConfig } = await import('../config.ts')
      const variables = effectiveConfig(terminal().env)
      if (json) printJson(variables.map((variable) => ({ ...variable, value: variable.value ?? null })))
      else print(table(variables.map(({ name, value, doc }) => [name, value === undefined ? '-' : String(value), doc])))
      // What each variable allows, and all together do not.
      readConfig(terminal().env)
    })
}

/** Adds `annal gc`. */
export function addGcCommand(program: Command): void {
  command(program, 'gc', 'Forgets what has expired and removes the blocks that no asset needs.', ['annal gc'])
    .option('--json', 'prints {"removedBlocks"}')
    .action(async ({ json }) => {
      const removedBlocks = await withServices(async ({ maintenance, context, services: { deletions } }) => {
        await deletions.sweep()
        const { eraseOrderArguments } = await import('../modules/store/expire-orders.ts')
        await eraseOrderArguments(context)
        await maintenance.sweep()
        return maintenance.collectGarbage()
      })
      if (json) return printJson({ removedBlocks })
      print(`${counted(removedBlocks, 'block')} removed`)
    })
}
