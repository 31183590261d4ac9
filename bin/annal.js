#!/usr/bin/env node
/** The package's command line, on Node 24: the one that runs this, or else the one that the package `node` brought. Must itself run on Node 20. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const NEEDED_MAJOR = 24
// Where `npm start` keeps it; a folder that cannot be written to is done without.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/annal', import.meta.url))

/** Runs this file in a process of the other Node, passes signals on to it, and ends as it does. */
function runOnOwnNode() {
  const node = createRequire(import.meta.url).resolve('node/bin/node')
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

if (Number.parseInt(process.versions.node, 10) < NEEDED_MAJOR) runOnOwnNode()
else {
  const { enableCompileCache, setSourceMapsSupport } = await import('node:module')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
  setSourceMapsSupport(true, { nodeModules: true })
  await import('../dist/src/cli.js')
}
