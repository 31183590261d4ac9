/** Checks for every test file that all resources are closed after its last hook. A leak fails the file that caused it. */
import { mkdirSync, readdirSync, readlinkSync, realpathSync, rmdirSync } from 'node:fs'
import { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, inject } from 'vitest'
import { runEndings } from './at-end.ts'

const KINDS = ['ProcessWrap', 'FSEventWrap', 'Timeout'] as const
const SPARE = { Timeout: 2 }
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Each process has its own folder for temporary files, so each file has a known owner. */
function ownTemporaryFolder(): string {
  process.env.TMPDIR_OF_RUN ??= realpathSync(tmpdir())
  const folder = join(process.env.TMPDIR_OF_RUN, `annal-tests-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.env.TMPDIR = folder
  return folder
}

const handles = () => (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles()

const chainPort = () => Number(new URL(inject('rpcUrl')).port)

function isLocal(socket: Socket): boolean {
  const { _handle: handle } = socket as unknown as { _handle?: { fd: number } | null }
  return handle?.constructor.name === 'Pipe' && handle.fd > 2
}

const connections = () =>
  handles().flatMap((handle) => {
    if (handle instanceof Server) return [`server on ${JSON.stringify(handle.address())}`]
    if (!(handle instanceof Socket)) return []
    // Node does not report the remote path of a Unix socket.
    if (isLocal(handle)) return ['connection by a Unix socket']
    if (handle.remotePort === undefined || handle.remotePort === chainPort()) return []
    return [`connection from port ${handle.localPort} to ${handle.remotePort}`]
  })

function descriptors(folder: string): string[] {
  let open: string[] = []
  try {
    open = readdirSync('/proc/self/fd')
  } catch {
    return []
  }
  return open.flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [`descriptor of ${path}`] : []
    } catch {
      // The descriptor of this directory read itself.
      return []
    }
  })
}

/** The names of all open resources. Names may repeat. */
function heldNow(folder: string): string[] {
  const resources = process.getActiveResourcesInfo()
  return [
    ...descriptors(folder),
    ...readdirSync(folder).map((name) => `temporary file ${name}`),
    ...connections(),
    ...KINDS.flatMap((kind) => resources.filter((name) => name === kind)),
    ...SIGNALS.flatMap((signal) => process.listeners(signal).map(() => `listener for ${signal}`)),
  ]
}

function growth(before: string[], now: string[]): string[] {
  const allowed = new Map<string, number>(Object.entries(SPARE))
  for (const name of before) allowed.set(name, (allowed.get(name) ?? 0) + 1)
  return now.filter((name) => {
    const left = allowed.get(name) ?? 0
    allowed.set(name, left - 1)
    return left <= 0
  })
}

const PATIENCE = 10_000
const POLL = 25

const folder = ownTemporaryFolder()
const before = heldNow(folder)

// Registered before all hooks of the file, so it runs after them.
afterAll(async () => {
  await runEndings()
  const deadline = performance.now() + PATIENCE
  let left = growth(before, heldNow(folder))
  while (left.length > 0 && performance.now() < deadline) {
    await delay(POLL)
    left = growth(before, heldNow(folder))
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  expect(left, 'The tests of this file left something open').toEqual([])
}, PATIENCE + 60_000)
