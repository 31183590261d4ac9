/** CPU time of another process. */
import { readFileSync } from 'node:fs'

/** Length of a clock tick, in milliseconds. Linux reports CPU times in hundredths of a second on every platform. */
const TICK = 10

/** Returns the CPU time of all threads since the start of the process, in milliseconds. The resolution is 10 milliseconds. */
export function cpuTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The process name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

export interface Turns {
  /** Time for which the thread ran, in milliseconds. */
  ran: number
  /** Time for which the thread was ready but waited for a CPU, in milliseconds. */
  waited: number
}

/** Returns the scheduling times of a process's main thread since its start. */
export function turnsOf(pid: number): Turns {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 }
}

/** Returns the fraction of ready time in which the thread ran: 1 on an idle machine. */
export const shareOfTurns = (before: Turns, after: Turns): number =>
  (after.ran - before.ran) / (after.ran - before.ran + after.waited - before.waited)
