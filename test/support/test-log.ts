import type { Log } from '../../src/domain/ports/log.ts'

export interface LogLine {
  level: 'warn' | 'error'
  message: string
  fields: object
}

/** Keeps what was logged at `warn` and above, of all its children, too. */
export interface TestLog extends Log {
  lines: LogLine[]
}

export function createTestLog(lines: LogLine[] = []): TestLog {
  const keep = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, message, fields })
  }
  return { lines, debug() {}, info() {}, warn: keep('warn'), error: keep('error'), child: () => createTestLog(lines) }
}
