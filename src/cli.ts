#!/usr/bin/env node
/** The operator's commands, as a process. Data goes to stdout, talk to stderr; exits with 0, 1 when something is wrong, 2 on wrong usage. */
import manifest from '../package.json' with { type: 'json' }
import { FAILURE, red, say } from './cli/output.ts'
import { run } from './cli/run.ts'
import { terminal } from './cli/terminal.ts'
import { systemReason } from './shared/operator-errors.ts'

const own = terminal()

own.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (own.ifUnread !== undefined) say(red(own.ifUnread))
  // Whoever reads may have read enough: `annal users find a | head -1`.
  else if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  say(red(`What was asked for cannot be printed: ${systemReason(error)}.`))
  process.exit(FAILURE)
})
// What nobody hears changes nothing.
process.stderr.on('error', () => {})

const code = await run(process.argv.slice(2), manifest.version, own)
process.exitCode = code
// A part that came up before another one failed must not keep an operator waiting.
if (code !== 0) process.exit()
