/** Service processes that own an embedded part, to be stopped or killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

export interface Holder {
  process: ChildProcess
  url: string
}

const holders: ChildProcess[] = []

/** Starts a process that will own the part of the installation in `dir`. */
export const beginToHold = (part: 'postgres' | 'anvil', dir: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'embedded-holder.ts'), part, dir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  holders.push(child)
  return child
}

/** Starts a process that owns the part, and waits until the part is ready. */
export const hold = async (part: 'postgres' | 'anvil', dir: string): Promise<Holder> => {
  const child = beginToHold(part, dir)
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, ...(JSON.parse(line) as { url: string }) }
}

export const end = async ({ process: child }: Holder, signal?: NodeJS.Signals) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (signal) child.kill(signal)
  else child.stdin?.end()
  await exited
}

export const killHolders = () => {
  for (const child of holders.splice(0)) child.kill('SIGKILL')
}
