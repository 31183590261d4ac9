#!/usr/bin/env node
/** The package's command line, on Node 24: the one that runs this, or else the one that the package `node` brought. Must itself run on Node 20. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const NEEDED_MAJOR = 24
/** Milliseconds. */
const LOOK_EVERY_MS = 250
/** Of the service, as in `npm start`: where there is much memory, V8 takes twice as much of it, and wins little by it. */
const HEAP = ['--max-semi-space-size=32', '--heap-growing-percent=50']
// Where `npm start` keeps it; a folder that cannot be written to is done without.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/annal', import.meta.url))

/** The Node that the package `node` brought; undefined where its install script was not run, as by pnpm, which asks first. */
function findOwnNode() {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node')
  } catch {
    return undefined
  }
}

/** Runs this file in a process of the other Node, passes signals on to it, and ends as it does. */
function runOnOwnNode() {
  const node = findOwnNode()
  if (node === undefined) {
    const { node: version } = process.versions
    process.stderr.write(
      `Annal needs Node ${NEEDED_MAJOR}, and this is ${version}. The package \`node\`, which brings it, was installed without its script: allow the scripts of packages (pnpm approve-builds) and install again, or start Annal by Node ${NEEDED_MAJOR}.\n`,
    )
    process.exit(1)
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** npx runs a shell between itself and this process. Told to end, both end and tell nobody: then this process tells itself. */
function endWithNpx() {
  if (process.env.npm_lifecycle_event !== 'npx' || !/^'?annal'?$/.test(process.env.npm_lifecycle_script)) return
  const shell = process.ppid
  const look = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(look)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_EVERY_MS)
  look.unref()
}

/** What V8 is told when a process begins: this one begins again, where the system can. */
function beginWithHeap() {
  if (
    process.argv[2] !== 'serve' ||
    process.platform === 'win32' ||
    HEAP.every((flag) => process.execArgv.includes(flag))
  )
    return
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...HEAP, ...process.argv.slice(1)],
    process.env,
  )
}

if (Number.parseInt(process.versions.node, 10) < NEEDED_MAJOR) {
  runOnOwnNode()
  endWithNpx()
} else {
  beginWithHeap()
  endWithNpx()
  const { enableCompileCache, setSourceMapsSupport } = await import('node:module')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
  setSourceMapsSupport(true, { nodeModules: true })
  await import('../dist/src/cli.js')
}
