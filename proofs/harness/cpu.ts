/** How much of a processor another process has taken. */
import { readFileSync } from 'node:fs'

/** Of a clock tick, in milliseconds: the kernel tells times to programs in hundredths of a second on every platform. */
const TICK = 10

/** Milliseconds of all threads since the process began, in steps of 10. */
export function cpuTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in brackets may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}

export interface Turns {
  /** Milliseconds in which the thread ran. */
  ran: number
  /** Milliseconds in which it could have run, and others had the processors. */
  waited: number
}

/** Of a process's main thread, since it began. */
export function turnsOf(pid: number): Turns {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 }
}

/** What part of the time in which a thread had something to do it also ran: 1 on a quiet machine. */
export const shareOfTurns = (before: Turns, after: Turns): number =>
  (after.ran - before.ran) / (after.ran - before.ran + after.waited - before.waited)
