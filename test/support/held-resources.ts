/** Lists the open resources of this process by readable names. */
import { mkdirSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'

const KINDS = ['ProcessWrap', 'FSEventWrap', 'Timeout'] as const
const SPARE = { Timeout: 2 }
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Each process has its own folder for temporary files, so each file has a known owner. */
export function ownTemporaryFolder(): string {
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
export function heldNow(folder: string): string[] {
  const resources = process.getActiveResourcesInfo()
  return [
    ...descriptors(folder),
    ...readdirSync(folder).map((name) => `temporary file ${name}`),
    ...connections(),
    ...KINDS.flatMap((kind) => resources.filter((name) => name === kind)),
    ...SIGNALS.flatMap((signal) => process.listeners(signal).map(() => `listener for ${signal}`)),
  ]
}

export function growth(before: string[], now: string[], spare: Record<string, number> = SPARE): string[] {
  const allowed = new Map(Object.entries(spare))
  for (const name of before) allowed.set(name, (allowed.get(name) ?? 0) + 1)
  return now.filter((name) => {
    const left = allowed.get(name) ?? 0
    allowed.set(name, left - 1)
    return left <= 0
  })
}
