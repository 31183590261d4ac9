#!/usr/bin/env node
/** Runs a command of the command line as a process. */
import manifest from '../package.json' with { type: 'json' }
import { run } from './cli/program.ts'
import { FAILURE, red, report, terminal } from './cli/terminal.ts'
import { systemReason } from './shared/operator-errors.ts'

const current = terminal()

current.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (current.messageIfUnread !== undefined) report(red(current.messageIfUnread))
  // The reader has closed the pipe: `annal users find a | head -1`.
  else if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  report(red(`Cannot write the output: ${systemReason(error)}.`))
  process.exit(FAILURE)
})
// Messages that cannot be written to stderr are dropped.
process.stderr.on('error', () => {})

const code = await run(process.argv.slice(2), manifest.version, current)
process.exitCode = code
// After an error, parts that are still open must not keep the process alive.
if (code !== 0) process.exit()
