/** `annal serve`. */
import type { Command } from 'commander'
import { command } from './command.ts'

/** Adds `annal serve`. */
export function addServeCommand(program: Command): void {
  command(
    program,
    'serve',
    'Runs the service until Ctrl-C or SIGTERM; its data lies in ANNAL_DIR, here ./.annal by default.',
    ['PORT=8080 annal serve', 'PORT=8081 annal serve --roles relay,jobs,deliveries'],
  )
    .option('--roles <roles>', 'what this process does, instead of ROLES: some of http, relay, jobs, deliveries')
    .action(async ({ roles }: { roles?: string }) => {
      const { serve } = await import('../main.ts')
      await serve({ ...(roles !== undefined && { ROLES: roles }) })
    })
}
