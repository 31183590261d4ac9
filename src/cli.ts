#!/usr/bin/env node
/** The operator's commands, as a process. Data goes to stdout, talk to stderr; exits with 0, 1 when something is wrong, 2 on wrong usage. */
import manifest from '../package.json' with { type: 'json' }
import { run } from './cli/run.ts'
import { terminal } from './cli/terminal.ts'

// Whoever reads may have read enough: `annal users find a | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(process.exitCode ?? 0)
})

const code = await run(process.argv.slice(2), manifest.version, terminal())
process.exitCode = code
// A part that came up before another one failed must not keep an operator waiting.
if (code !== 0) process.exit()
