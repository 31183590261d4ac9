import { readFile } from 'node:fs/promises'

/** Returns a name that differs from that of a later process with the same ID. Undefined if the process does not exist. Linux only. */
export async function identify(pid: number): Promise<string | undefined> {
  const fields = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses, the state, 18 more fields, then the start time.
  const [state, ...rest] = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' ? undefined : `${pid}-${rest[18]}`
}
