import { getSystemErrorMap } from 'node:util'

/** What the system says of a failure, in its words and by its code: `permission denied (EACCES)`. Names no path and no address. */
export function systemReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException
  const words = getSystemErrorMap().get(errno ?? 0)?.[1]
  return words === undefined ? message || String(code) : `${words} (${code})`
}
