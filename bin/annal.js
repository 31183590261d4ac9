#!/usr/bin/env node
/** The package's command line, on Node 24: the one that runs this, or else the one that the package `node` brought. Must itself run on Node 20. */
import { spawn } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const NEEDED_MAJOR = 24
/** Interval between two checks of the launchers, in milliseconds. */
const CHECK_INTERVAL_MS = 250
/** V8 options of the service, as in `npm start`. On a machine with much memory, V8 would use twice as much and gain little. */
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

/** Runs this file in a child process on the other Node, forwards signals to it, and exits as it does. */
function runOnOwnNode() {
  const node = findOwnNode()
  if (node === undefined) {
    const { node: version } = process.versions
    process.stderr.write(
      `Annal needs Node ${NEEDED_MAJOR}, and this is ${version}. The package \`node\`, which brings it, was installed without its script: allow the scripts of packages (pnpm approve-builds) and install again, or start Annal by Node ${NEEDED_MAJOR}.\n`,
    )
    process.exit(1)
  }
  process.env.LAUNCHER_PIDS = [process.pid, ...findNpxPids()].join()
  const child = spawn(node, [...findHeapOptions(), ...process.argv.slice(1)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** Returns the process IDs of npx and of the shell that it runs Annal in. Neither passes its end on to this process. */
function findNpxPids() {
  if (process.env.npm_lifecycle_event !== 'npx' || !/^'?annal'?$/.test(process.env.npm_lifecycle_script)) return []
  const parent = process.ppid
  try {
    // Some shells replace themselves by the command. The parent is npx itself then.
    const isNpx = readlinkSync(`/proc/${parent}/exe`) === realpathSync(process.env.npm_node_execpath)
    if (isNpx) return [parent]
    const [, npx] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${parent}/status`, 'utf8'))
    return [parent, Number(npx)]
  } catch {
    return [parent]
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Sends SIGTERM to this process when a process that launched it ends. A launcher that is killed passes no signal on. */
function endWithLaunchers() {
  const launchers = process.env.LAUNCHER_PIDS?.split(',').map(Number) ?? findNpxPids()
  delete process.env.LAUNCHER_PIDS
  if (launchers.length === 0) return
  const parent = process.ppid
  const check = setInterval(() => {
    if (process.ppid === parent && launchers.every(isAlive)) return
    clearInterval(check)
    process.kill(process.pid, 'SIGTERM')
  }, CHECK_INTERVAL_MS)
  check.unref()
}

const findHeapOptions = () => (process.argv[2] === 'serve' ? HEAP : [])

/** Starts this process again with the V8 options that it lacks, where the system can replace a process. */
function beginWithHeap() {
  const options = findHeapOptions()
  if (process.platform === 'win32' || options.every((option) => process.execArgv.includes(option))) return
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...options, ...process.argv.slice(1)],
    process.env,
  )
}

if (Number.parseInt(process.versions.node, 10) < NEEDED_MAJOR) {
  runOnOwnNode()
} else {
  beginWithHeap()
  endWithLaunchers()
  const { enableCompileCache, setSourceMapsSupport } = await import('node:module')
  enableCompileCache(process.env.NODE_COMPILE_CACHE)
  setSourceMapsSupport(true, { nodeModules: true })
  await import('../dist/src/cli.js')
}
