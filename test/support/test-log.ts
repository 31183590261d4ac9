import type { Log } from '../../src/shared/log.ts'

export type LogLine = { level: 'warn' | 'error'; message: string; fields: object }

export const reasonOf = (fields: object): string => ('reason' in fields ? String(fields.reason) : '')

/** A log that stores its lines and those of all its children. */
export interface TestLog extends Log {
  lines: LogLine[]
  requests: Record<string, unknown>[]
}

export function createTestLog(
  lines: LogLine[] = [],
  requests: Record<string, unknown>[] = [],
  bindings: object = {},
): TestLog {
  const keep = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...bindings, ...fields } })
  }
  return {
    lines,
    requests,
    debug() {},
    info(fields, message) {
      if (message.startsWith('Request ')) requests.push({ ...fields })
    },
    warn: keep('warn'),
    error: keep('error'),
    child: (more) => createTestLog(lines, requests, { ...bindings, ...more }),
  }
}
