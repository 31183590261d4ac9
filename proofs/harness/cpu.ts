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
