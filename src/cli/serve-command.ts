/** `annal serve`. */
import type { Command } from 'commander'
import { command } from './command.ts'

/** Adds `annal serve`. */
export function addServeCommand(program: Command): void {
  command(
    program,
    'serve',
    'Runs the service until Ctrl-C or SIGTERM; its data lies in ANNAL_DIR, here ./.annal by default.',
    ['PORT=8080 annal serve'],
  ).action(async () => {
    const { serve } = await import('../main.ts')
    await serve()
  })
}
